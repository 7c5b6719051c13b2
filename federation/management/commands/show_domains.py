"""`manage.py show_domains`: lists the known servers, and ends the back-off of servers that failed."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from accounts.queries.servers import load_names
from federation.models import Delivery
from federation.outbound.queueing import retry_host
from federation.remote.servers import load_servers
from social.kernel.text.names import normalise_domain
from social.management.tables import table


class Command(BaseCommand):
    """Lists the accounts, follows in both directions, posts, deliveries and failures of each server."""

    help = "Show known servers with their figures: all, some, or those that do not answer; have some asked again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("domains", nargs="*", metavar="DOMAIN", help="only these")
        parser.add_argument("--failing", action="store_true", help="only those that do not answer as they should")
        parser.add_argument("--limit", type=int, default=100, help="at most so many, by name (100)")
        parser.add_argument(
            "--retry", action="store_true", help="ask the named ones again, and send them what was given up"
        )
        parser.add_argument("--json", action="store_true", help="machine-readable")

    def handle(self, *args: Any, **options: Any) -> None:
        hosts = [normalise_domain(name) or name for name in options["domains"]]
        names = list(dict.fromkeys(name for known in load_names(hosts).values() for name in known))
        if options["limit"] < 1:
            raise CommandError(_("--limit wants a whole number above 0."))
        if options["retry"]:
            if not names:
                raise CommandError(_("Name the servers that are to be asked again."))
            # A relay that does not fail is in neither table: it is known by its deliveries alone.
            waiting = Delivery.objects.filter(host__one_of=names).values_list("host", flat=True)
            _require_known(names, {server["domain"] for server in load_servers(names, limit=len(names))} | set(waiting))
            for name in names:
                values = {"name": name, "count": retry_host(by=OPERATOR, name=name)}
                self.stdout.write(_("%(name)s is asked again. Deliveries: %(count)d.") % values)
            return
        found = load_servers(names or None, limit=len(names) or options["limit"], failing=options["failing"])
        if not options["failing"]:
            _require_known(names, {server["domain"] for server in found})
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=1, default=int))
        elif found:
            table(self.stdout, found)
        elif options["failing"]:
            self.stdout.write(_("Every known server answers as it should."))
        else:
            self.stdout.write(_("No server is known yet."))


def _require_known(names: list[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise CommandError(_("%(name)s is no known server. Give its name alone: social.example.") % {"name": name})
