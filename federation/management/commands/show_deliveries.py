"""`manage.py show_deliveries`: lists the deliveries to other servers, retries them or drops them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from federation.models import Delivery
from federation.outbound.queueing import deliveries_to, drop, retry_all
from social.kernel.clock import iso
from social.kernel.text.names import normalise_domain
from social.management.tables import table


class Command(BaseCommand):
    """Bodies are not shown: they may hold private posts."""

    help = "Show activities on their way to other servers and those that were given up; try them again or drop them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", help="only those for this server")
        parser.add_argument("--given-up", action="store_true", help="only those that were given up")
        parser.add_argument("--limit", type=int, default=100, help="show at most so many, oldest first (100)")
        parser.add_argument("--json", action="store_true", help="machine-readable")
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--retry", metavar="ID|all", help="another set of attempts from now on")
        chosen.add_argument("--drop", metavar="ID|all", help="never send it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Retry or drop deliveries; list them when neither is requested."""
        if options["limit"] < 1:
            raise CommandError(_("--limit wants a whole number above 0."))
        rows = Delivery.objects.all()
        if options["host"]:
            host = normalise_domain(options["host"])
            if host is None:
                raise CommandError(_("%(domain)s is no domain.") % {"domain": options["host"]})
            rows = deliveries_to(host)
        if options["given_up"]:
            rows = rows.filter(dead_at__isnull=False)
        if options["retry"]:
            count = retry_all(by=OPERATOR, rows=_chosen(rows, options["retry"]))
            self.stdout.write(_("%(count)d retried.") % {"count": count})
        elif options["drop"]:
            count = drop(by=OPERATOR, rows=_chosen(rows, options["drop"]))
            self.stdout.write(_("%(count)d dropped.") % {"count": count})
        else:
            self._show(
                [_described(row) for row in rows.select_related("activity").order_by("id")[: options["limit"]]],
                options["json"],
            )

    def _show(self, rows: list[dict[str, Any]], as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(rows, indent=1))
        elif rows:
            table(self.stdout, rows)
        else:
            self.stdout.write(_("Nothing is on its way."))


def _chosen(rows: QuerySet[Delivery], which: str) -> QuerySet[Delivery]:
    if which == "all":
        return rows
    found = rows.filter(id=int(which)) if which.isdecimal() else None
    if found is None or not found.exists():
        raise CommandError(_("There is no such delivery."))
    return found


def _described(row: Delivery) -> dict[str, Any]:
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
