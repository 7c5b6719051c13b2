"""Block list files at the command line: commands import and export them, whatever their length."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from accounts.queries.servers import FollowsUnder
from accounts.services.block_files import BlockFile, Planned, export_file, import_file, plan_file, read_file
from social.management.base import OperatorCommand
from social.management.progress import progress_bar


def import_lists(
    command: OperatorCommand, kind: BlockFile[Any], file: str, *, replace: bool, yes: bool, dry_run: bool
) -> None:
    """Import a file (`-` is standard input), or print what the import would do: a line for each entry, and the counts.

    Raises OSError, and CommandError if every line is refused, or if follows would end and `yes` is not set.
    """
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    planned = plan_file(kind, read_file(kind, data), replace=replace)
    for plan in planned:
        name_follows(command, plan.entry.name, plan.follows)
    ending = any(plan.follows is not None for plan in planned)
    command.confirm(_("These follows would end.") if ending else "", yes=yes, dry_run=dry_run)
    done: list[Planned[Any]] = planned
    if not dry_run:
        with progress_bar("Lines", len(planned)) as advance:
            done = []
            for plan in import_file(kind, by=OPERATOR, planned=planned):
                done.append(plan)
                advance(1)
    for plan in done:
        said = "" if plan.entry.problem else f" {kind.details(plan.entry.draft)}".rstrip()
        reason = f" ({plan.reason})" if plan.reason else ""
        command.stdout.write(f"line {plan.entry.line} {plan.entry.name}: {plan.action}{said}{reason}")
    counts = {action: sum(plan.action == action for plan in done) for action in ("add", "change", "keep", "refuse")}
    command.stdout.write(", ".join(f"{action} {count}" for action, count in counts.items()))
    if counts["refuse"] == len(done):
        raise CommandError("Every line is refused.")


def export_lists(command: BaseCommand, kind: BlockFile[Any], output: Path | None) -> None:
    """Print all blocks as a file, or write them to the new file `output`. Raises OSError if it cannot be created."""
    if output is None:
        for line in export_file(kind):
            command.stdout.write(line, ending="")
        return
    count = 0
    with output.open("x") as file:
        for count, line in enumerate(export_file(kind), start=1):  # noqa: B007  # The last number is printed.
            file.write(line)
    command.stdout.write(f"{count} lines in {output}")


def name_follows(command: BaseCommand, domain: str, follows: FollowsUnder | None) -> None:
    """Print the follows that the block of a server would end."""
    if follows is None:
        return
    command.stdout.write(f"{domain}: {follows.from_here} follows from here and {follows.to_here} to here end:")
    for follower, followed in follows.named:
        command.stdout.write(f"  {follower} -> {followed}")
    if (others := follows.from_here + follows.to_here - len(follows.named)) > 0:
        command.stdout.write(f"  and {others} more")
