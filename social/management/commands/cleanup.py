import re
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Annotated

from django.conf import settings
from django.core.management.base import CommandError

from social.management.base import OperatorCommand
from social.schedule import installed_schedule


class Command(OperatorCommand):
    """List the scheduled tasks with their intervals (removing old data, refreshing, counting), or run some of them now.

    A task may run twice, or at the same time as the scheduler runs it. The settings define how long data is kept.
    """

    def list_(self, *, json: bool) -> None:
        """List all tasks with their intervals."""
        schedule = sorted(installed_schedule(settings.INSTALLED_APPS).items())
        rows = [
            {"name": name, "every": str(entry["schedule"]), "what": _described(entry["task"])}
            for name, entry in schedule
        ]
        self.print_rows(rows, as_json=json, empty="")

    def run(self, names: Annotated[Sequence[str], ("metavar", "NAME")], *, dry_run: bool) -> None:
        """Run some tasks now, one after the other.

        names: as `list` shows them
        """
        schedule = installed_schedule(settings.INSTALLED_APPS)
        if unknown := [name for name in names if name not in schedule]:
            raise CommandError(f"There is no {', '.join(unknown)}. Names are {', '.join(sorted(schedule))}.")
        for name in names:
            task = schedule[name]["task"]
            result = _described(task) if dry_run else resolve_name(task)()
            self.stdout.write(f"{name}: {'done' if result is None else result}")


def _described(task: str) -> str:
    text = (resolve_name(task).__doc__ or task).strip()
    sentence = " ".join(text.split("\n\n")[0].split()).partition(". ")[0]
    # The part about the return value is left out, because it only concerns calling code.
    return re.split(r"; |,? and return ", sentence)[0].rstrip(".") + "."
