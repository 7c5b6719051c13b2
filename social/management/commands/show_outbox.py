import json
from dataclasses import asdict
from typing import Annotated, Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from social.kernel import outbox
from social.kernel.clock import iso, iso_or_none, now
from social.kernel.errors import Conflict
from social.kernel.outbox import OutboxRow
from social.management.base import Limit, OperatorCommand, table
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


class Command(OperatorCommand):
    """List the rows of the outbox and the figures of each queue; retry dead letters or discard a row.

    queue: only this queue
    dead: only dead letters
    limit: at most this many rows, oldest first (%(default)s)
    retry: try a row, or all dead letters, again with the full number of attempts
    discard: delete a row without running its reaction
    """

    def run(
        self, *, queue: str | None = None, dead: bool, limit: Limit = 100, json_: bool,
        retry: Annotated[str | None, ("metavar", "ID|all")] = None, discard: Annotated[int | None, ("metavar", "ID")] = None,
    ) -> None:  # fmt: skip
        if queue and queue not in QUEUES:
            values = {"name": queue, "known": ", ".join(QUEUES)}
            raise CommandError(_("There is no queue %(name)s. Queues are %(known)s.") % values)
        if retry is not None:
            self._retry(retry, json_)
        elif discard is not None:
            self._discard(discard, json_)
        else:
            self._list(queue, dead, limit, json_)

    def _retry(self, which: str, as_json: bool) -> None:
        if which != "all" and not which.isdigit():
            raise CommandError(_('--retry takes the id of a row, or "all".'))
        count = outbox.retry(None if which == "all" else [int(which)], by=None)
        if which != "all" and not count:
            raise CommandError(_("There is no such row, or it is being processed now."))
        self.stdout.write(json.dumps({"retried": count}) if as_json else _("%(count)d retried.") % {"count": count})

    def _discard(self, row_id: int, as_json: bool) -> None:
        try:
            found = outbox.discard(row_id, by=None)
        except Conflict:
            raise CommandError(_("The row is being processed now: try again in a minute.")) from None
        if not found:
            raise CommandError(_("There is no such row."))
        self.stdout.write(json.dumps({"discarded": row_id}) if as_json else _("Dropped."))

    def _list(self, queue: str | None, dead: bool, limit: int, as_json: bool) -> None:
        rows = OutboxRow.objects.order_by("id")
        if queue:
            rows = rows.filter(queue=queue)
        if dead:
            rows = rows.filter(dead_at__isnull=False)
        found = [_as_dict(row) for row in rows[:limit]]
        figures = [figure for figure in outbox.measure() if not queue or figure.queue == queue]
        if as_json:
            self.stdout.write(json.dumps({"queues": [asdict(figure) for figure in figures], "rows": found}, indent=1))
            return
        if not figures:
            self.stdout.write(_("The outbox is empty."))
            return
        seconds = [{"oldest": f"{figure.oldest:.1f} s", "p99": f"{figure.p99:.1f} s"} for figure in figures]
        queues = [{"queue": figure.queue, "due": figure.depth, "dead": figure.dead} for figure in figures]
        table(self.stdout, [one | other for one, other in zip(queues, seconds, strict=True)])
        if found:
            self.stdout.write("")
            table(self.stdout, [{column: row[column] for column in _COLUMNS} for row in found])
