"""`manage.py self_destruct`: closes this server, and notifies all other servers that its accounts are deleted."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.events import AccountDeleted
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.erasing import close_server, refusal_to_close
from federation.documents.reading import origin_of
from federation.models import Delivery
from federation.outbound.audience import known_inboxes
from social.kernel.errors import KernelError
from social.kernel.outbox import OutboxRow


class Command(BaseCommand):
    """Deletes every account; the worker sends the Delete activities. Run again, the command shows how many are still to be
    sent.
    """

    help = (
        "Delete every account of this server for good, and notify every known server. Keep the server running afterwards "
        "until this command says that it can be switched off."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count the accounts and servers")
        parser.add_argument(
            "--confirm",
            metavar="DOMAIN",
            help="needed without --dry-run: the domain of this server; there is no way back",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        left = User.objects.filter(account__deleted_at=None).count()
        if options["confirm"] not in (None, settings.LOCAL_DOMAIN):
            raise CommandError(_("That is not the domain of this server. Nothing was deleted."))
        # Once all accounts are deleted there is nothing to confirm: only deliveries are left.
        if left and (options["dry_run"] or options["confirm"] is None):
            servers = {origin_of(inbox) for inbox in known_inboxes()}
            values = {"accounts": left, "servers": len(servers), "domain": settings.LOCAL_DOMAIN}
            plan = _(
                "%(accounts)d accounts would be deleted for good, and %(servers)d servers notified. "
                "To begin, say --confirm %(domain)s."
            )
            plan = f"{plan % values} {refusal_to_close()}".strip()
            if not options["dry_run"]:
                raise CommandError(plan)
            self.stdout.write(plan)
            return
        try:
            for number, name in enumerate(close_server(by=OPERATOR) if left else (), start=1):
                self.stdout.write(f"{number}/{left} {name}")
        except KernelError as error:
            raise CommandError(error.message) from None
        self.stdout.write(_progress())


def _progress() -> str:
    waiting = Delivery.objects.filter(dead_at=None).count()
    # The worker writes the deliveries some time after the account was deleted: until then only the outbox shows them.
    if waiting or OutboxRow.objects.filter(event=AccountDeleted.__name__, dead_at=None).exists():
        return _(
            "Not every server is notified yet. Deliveries on their way: %(count)d. "
            "Keep this server running, and say this command again later."
        ) % {"count": waiting}
    return _("Nothing is on its way any more: this server can be switched off.")
