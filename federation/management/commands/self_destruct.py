from typing import Annotated

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.events import AccountDeleted
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.erasing import close_server, refusal_to_close
from federation.documents.reading import origin_of
from federation.models import Delivery
from federation.outbound.audience import known_inboxes
from social.kernel.outbox import OutboxRow
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Delete every account of this server for good, and notify every known server. Keep the server running afterwards, and run
    this command again from time to time, until it says that the server can be switched off.

    dry_run: only count the accounts and servers
    confirm: the domain of this server; needed without --dry-run, because this cannot be undone
    """

    def run(self, *, dry_run: bool, confirm: Annotated[str | None, ("metavar", "DOMAIN")] = None) -> None:
        account_count = User.objects.filter(account__deleted_at=None).count()
        if confirm not in (None, settings.LOCAL_DOMAIN):
            raise CommandError(_("That is not the domain of this server. Nothing was deleted."))
        # Once all accounts are deleted, there is nothing to confirm, because only deliveries are left.
        if account_count and (dry_run or confirm is None):
            servers = {origin_of(inbox) for inbox in known_inboxes()}
            values = {"accounts": account_count, "servers": len(servers), "domain": settings.LOCAL_DOMAIN}
            plan = _(
                "%(accounts)d accounts would be deleted permanently, and %(servers)d servers notified. "
                "To start, use --confirm %(domain)s."
            )
            plan = f"{plan % values} {refusal_to_close()}".strip()
            if not dry_run:
                raise CommandError(plan)
            self.stdout.write(plan)
            return
        for number, name in enumerate(close_server(by=OPERATOR) if account_count else (), start=1):
            self.stdout.write(f"{number}/{account_count} {name}")
        self.stdout.write(_progress())


def _progress() -> str:
    waiting = Delivery.objects.filter(dead_at=None).count()
    # The worker writes the deliveries some time after the account was deleted. Until then, only the outbox shows that
    # deliveries are due.
    if waiting or OutboxRow.objects.filter(event=AccountDeleted.__name__, dead_at=None).exists():
        return _(
            "Some servers have not been notified yet: %(count)d deliveries are waiting. Keep this server "
            "running, and run this command again later."
        ) % {"count": waiting}
    return _("No more deliveries are waiting. This server can be switched off.")
