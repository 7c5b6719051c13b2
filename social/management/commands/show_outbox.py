"""`manage.py show_outbox`: shows the outbox, and retries or discards its dead letters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from social.kernel import outbox
from social.kernel.clock import iso, iso_or_none, now
from social.kernel.errors import Conflict
from social.kernel.outbox import OutboxRow
from social.queues import QUEUES

_COLUMNS = ("id", "queue", "key", "event", "subscriber", "attempts", "state", "due_at", "last_error")


def _state(row: OutboxRow) -> str:
    if row.dead_at is not None:
        return "dead"
    if row.claimed_until is not None and row.claimed_until > now():
        return "running"
    if row.attempts:
        return "failing"
    return "due" if row.due_at <= now() else "scheduled"


def _as_dict(row: OutboxRow) -> dict[str, Any]:
    return {
        "id": row.pk,
        "queue": row.queue,
        "key": row.key,
        "event": row.event,
        "payload": row.payload,
        "subscriber": row.subscriber,
        "state": _state(row),
        "attempts": row.attempts,
        "created_at": iso(row.created_at),
        "due_at": iso(row.due_at),
        "claimed_until": iso_or_none(row.claimed_until),
        "dead_at": iso_or_none(row.dead_at),
        "last_error": row.last_error,
    }


class Command(BaseCommand):
    help = "Show the rows of the outbox and the figures of each queue; try dead rows again or drop a row."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--queue", help="only this queue")
        parser.add_argument("--dead", action="store_true", help="only dead letters")
        parser.add_argument("--limit", type=int, default=100, help="at most so many rows, oldest first (100)")
        parser.add_argument("--json", action="store_true", help="machine-readable")
        parser.add_argument("--retry", metavar="ID|all", help="give a row, or all dead rows, another set of attempts")
        parser.add_argument("--discard", metavar="ID", type=int, help="delete a row without running its reaction")

    def handle(self, *args: Any, **options: Any) -> None:
        """Retry or discard rows, or show the table if neither option was given."""
        if options["limit"] < 1:
            raise CommandError(_("--limit wants a whole number above 0."))
        if options["queue"] and options["queue"] not in QUEUES:
            named = {"name": options["queue"], "known": ", ".join(QUEUES)}
            raise CommandError(_("There is no queue %(name)s. Queues are %(known)s.") % named)
        if options["retry"] is not None:
            self._retry(options["retry"], options["json"])
        elif options["discard"] is not None:
            self._discard(options["discard"], options["json"])
        else:
            self._show(options)

    def _retry(self, which: str, as_json: bool) -> None:
        if which != "all" and not which.isdigit():
            raise CommandError(_("--retry wants the id of a row or the word all."))
        count = outbox.retry(None if which == "all" else [int(which)], by=None)
        if which != "all" and not count:
            raise CommandError(_("There is no such row, or it is being run just now."))
        self.stdout.write(json.dumps({"retried": count}) if as_json else _("%(count)d retried.") % {"count": count})

    def _discard(self, row_id: int, as_json: bool) -> None:
        try:
            found = outbox.discard(row_id, by=None)
        except Conflict:
            raise CommandError(_("The row is being run just now: try again in a minute.")) from None
        if not found:
            raise CommandError(_("There is no such row."))
        self.stdout.write(json.dumps({"discarded": row_id}) if as_json else _("Dropped."))

    def _show(self, options: dict[str, Any]) -> None:
        rows = OutboxRow.objects.order_by("id")
        if options["queue"]:
            rows = rows.filter(queue=options["queue"])
        if options["dead"]:
            rows = rows.filter(dead_at__isnull=False)
        found = [_as_dict(row) for row in rows[: options["limit"]]]
        figures = [f for f in outbox.measure() if not options["queue"] or f.queue == options["queue"]]
        if options["json"]:
            self.stdout.write(json.dumps({"queues": [f.as_dict() for f in figures], "rows": found}, indent=1))
            return
        if not figures:
            self.stdout.write(_("The outbox is empty."))
            return
        self._table(
            [("queue", "due", "dead", "oldest", "p99")]
            + [(f.queue, str(f.depth), str(f.dead), f"{f.oldest:.1f} s", f"{f.p99:.1f} s") for f in figures]
        )
        if found:
            self.stdout.write("")
            self._table([_COLUMNS] + [tuple(self._cell(row[column]) for column in _COLUMNS) for row in found])

    @staticmethod
    def _cell(value: Any) -> str:
        lines = str(value).splitlines() or [""]
        return lines[0] if len(lines[0]) <= 60 else lines[0][:59] + "…"

    def _table(self, rows: Sequence[tuple[str, ...]]) -> None:
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
