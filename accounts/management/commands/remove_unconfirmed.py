from datetime import timedelta

from django.utils.translation import gettext as _

from accounts.identity.services.confirmations import UNCONFIRMED_RETENTION, list_unconfirmed, remove_unconfirmed
from social.kernel import clock
from social.management.base import Days, OperatorCommand


class Command(OperatorCommand):
    """Remove people who signed up and never confirmed their e-mail address; their usernames are free again. The scheduler
    does this every hour for people who signed up more than seven days ago.

    days: people who signed up more than this number of days ago (%(default)s)
    """

    def run(self, *, days: Days = UNCONFIRMED_RETENTION.days, dry_run: bool) -> None:
        age = timedelta(days=days)
        if dry_run:
            addresses = list_unconfirmed(before=clock.now() - age)
            for address in addresses.iterator():
                self.stdout.write(f"@{address.user.account.username} {address.user.created_at.date()}")
            if not addresses.exists():
                self.stdout.write("nobody")
            return
        self.stdout.write(_("%(count)d removed.") % {"count": remove_unconfirmed(kept=age)})
