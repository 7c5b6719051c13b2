"""`manage.py self_destruct`: ends this server, and notifies all others that its accounts are gone."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.erasing import close_server
from federation.documents.reading import origin_of
from federation.models import Delivery
from federation.outbound.audience import known_inboxes
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Deletes every account; the worker sends what says so. Run again, it shows what still waits to be sent."""

    help = (
        "Delete every account of this server for good, and notify every known server. Keep the server running afterwards "
        "until nothing is on its way any more; then it can be switched off."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--confirm", metavar="DOMAIN", help="the domain of this server: begin; there is no way back"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        left = User.objects.filter(account__deleted_at=None).count()
        if options["confirm"] is None:
            servers = {origin_of(inbox) for inbox in known_inboxes()}
            values = {"accounts": left, "servers": len(servers), "domain": settings.LOCAL_DOMAIN}
            self.stdout.write(
                _(
                    "%(accounts)d accounts would be deleted for good, and %(servers)d servers notified. "
                    "To begin, say --confirm %(domain)s."
                )
                % values
            )
        elif options["confirm"] != settings.LOCAL_DOMAIN:
            raise CommandError(_("That is not the domain of this server. Nothing was deleted."))
        else:
            try:
                for number, name in enumerate(close_server(by=OPERATOR), start=1):
                    self.stdout.write(f"{number}/{left} {name}")
            except KernelError as error:
                raise CommandError(error.message) from None
        waiting = Delivery.objects.filter(dead_at=None).count()
        self.stdout.write(_("%(count)d deliveries are on their way.") % {"count": waiting})
