"""`manage.py manage_relays`: lists the relays that this server is subscribed to, subscribes to one, or unsubscribes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from federation.models import Relay
from federation.outbound.relaying import add_relay, remove_relay
from social.kernel.clock import iso
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """A relay passes public posts on between the servers that are subscribed to it."""

    help = "Show the relays to which this server is subscribed, subscribe to one by its inbox, or end a subscription."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--add", metavar="INBOX", help="subscribe; its operator may have to agree")
        parser.add_argument("--remove", metavar="INBOX", help="end the subscription")
        parser.add_argument("--dry-run", action="store_true", help="show what there would be, and change nothing")
        parser.add_argument("--json", action="store_true", help="machine-readable")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                before = _described()
                if options["add"]:
                    add_relay(by=OPERATOR, inbox_url=options["add"])
                if options["remove"]:
                    remove_relay(by=OPERATOR, inbox_url=options["remove"])
                after = _described()
                transaction.set_rollback(options["dry_run"])
        except KernelError as error:
            raise CommandError(error.message) from None
        if options["dry_run"]:
            removed = {
                inbox: row | {"state": "would be removed"} for inbox, row in before.items() if inbox not in after
            }
            added = {inbox: row | {"state": "would be added"} for inbox, row in after.items() if inbox not in before}
            after = before | removed | added
        relays = list(after.values())
        if options["json"]:
            self.stdout.write(json.dumps(relays, indent=1))
            return
        for relay in relays:
            self.stdout.write("  ".join(relay.values()))
        if not relays:
            self.stdout.write(_("There are no relays."))


def _described() -> dict[str, dict[str, str]]:
    return {
        relay.inbox_url: {"inbox": relay.inbox_url, "state": relay.state, "since": iso(relay.created_at)}
        for relay in Relay.objects.order_by("id")
    }
