"""`manage.py cleanup`: lists the scheduled tasks, and runs some of them now."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from pkgutil import resolve_name
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from social.management.base import OperatorCommand
from social.management.tables import table
from social.schedule import installed_schedule


class Command(OperatorCommand):
    """Command that lists and runs scheduled tasks. Running a task twice, or at the same time as the scheduler, is safe."""

    help = (
        "Show what the scheduler runs at which interval (what is forgotten, removed, refreshed and counted by itself), or run "
        "some of it now. How long things are kept is said by each service and by the settings of retention."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        listing = kinds.add_parser("list", help="show everything, with its interval")
        listing.add_argument("--json", action="store_true", help="machine-readable")
        run = kinds.add_parser("run", help="run some of it now, one after the other")
        run.add_argument("names", nargs="+", metavar="NAME", help="as the list has them")
        run.add_argument("--dry-run", action="store_true", help="only say what would be run")

    def handle(self, *args: Any, **options: Any) -> None:
        schedule = installed_schedule(settings.INSTALLED_APPS)
        if options["what"] == "list":
            rows = [
                {"name": name, "every": str(entry["schedule"]), "what": _described(entry["task"])}
                for name, entry in sorted(schedule.items())
            ]
            if options["json"]:
                self.stdout.write(json.dumps(rows, indent=1))
            else:
                table(self.stdout, rows)
            return
        if unknown := [name for name in options["names"] if name not in schedule]:
            raise CommandError(f"There is no {', '.join(unknown)}. Names are {', '.join(sorted(schedule))}.")
        for name in options["names"]:
            service = resolve_name(schedule[name]["task"])
            if options["dry_run"]:
                self.stdout.write(f"{name}: {_described(schedule[name]['task'])}")
                continue
            result = service()
            self.stdout.write(f"{name}: {'done' if result is None else result}")


def _described(task: str) -> str:
    text = (resolve_name(task).__doc__ or task).strip()
    sentence = " ".join(text.split("\n\n")[0].split()).partition(". ")[0]
    # Without the part about the return value, which concerns only calling code.
    return re.split(r"; |,? and return ", sentence)[0].rstrip(".") + "."
