from typing import Annotated, Any

from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from federation.management.selection import domain_named
from federation.models import Delivery
from federation.outbound.queueing import deliveries_to, drop, retry_all
from social.kernel.clock import iso
from social.management.base import Limit, OperatorCommand

_Which = Annotated[str | None, ("metavar", "ID|all")]


# Bodies are not shown: they may hold private posts.
class Command(OperatorCommand):
    """List the activities that are waiting for delivery to other servers or were given up; retry or drop them.

    host: only deliveries to this server
    given_up: only deliveries that were given up
    limit: at most this many, oldest first (%(default)s)
    retry: try again from now on, with the full number of attempts
    drop: never deliver
    """

    exclusive = ("retry", "drop")

    def run(
        self, *, host: Annotated[str | None, domain_named] = None, given_up: bool, limit: Limit = 100, json: bool,
        retry: _Which = None, drop_: _Which = None,
    ) -> None:  # fmt: skip
        rows = deliveries_to(host) if host else Delivery.objects.all()
        if given_up:
            rows = rows.filter(dead_at__isnull=False)
        if retry:
            count = retry_all(by=OPERATOR, rows=_chosen_rows(rows, retry))
            self.stdout.write(_("%(count)d retried.") % {"count": count})
        elif drop_:
            count = drop(by=OPERATOR, rows=_chosen_rows(rows, drop_))
            self.stdout.write(_("%(count)d dropped.") % {"count": count})
        else:
            shown = [_described_delivery(row) for row in rows.select_related("activity").order_by("id")[:limit]]
            self.print_rows(shown, as_json=json, empty=_("No deliveries are waiting."))


def _chosen_rows(rows: QuerySet[Delivery], which: str) -> QuerySet[Delivery]:
    if which == "all":
        return rows
    chosen = rows.filter(id=int(which)) if which.isdecimal() else None
    if chosen is None or not chosen.exists():
        raise CommandError(_("There is no such delivery."))
    return chosen


def _described_delivery(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.pk,
        "host": row.host,
        "type": row.activity.type,
        "about": row.key,
        "attempts": row.attempts,
        "state": "given up" if row.dead_at is not None else "waiting",
        "due": iso(row.due_at),
        "last_error": row.last_error,
    }
