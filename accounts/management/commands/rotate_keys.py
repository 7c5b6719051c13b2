from django.utils.translation import gettext as _

from accounts.management.names import AnyAccounts, for_each, named_or_all
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.key_pairs import rotate_keys
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Give accounts of this server new signing keys, for example after a copy of the database has leaked. The servers of
    followers get the new keys, and activities that are being delivered are not lost.

    accounts: ada
    all: every account of this server that has keys, including the server's own
    """

    def run(self, accounts: AnyAccounts = (), *, all: bool, dry_run: bool) -> None:
        everybody = Account.objects.filter(domain=None, deleted_at=None, key_pair__isnull=False).order_by("id")
        chosen, count = named_or_all(accounts, everybody if all else None, _("Name the accounts, or use --all."))

        def rotate(account: Account) -> str:
            return "" if rotate_keys(by=OPERATOR, account=account) else _(" (has no keys yet: nothing was done)")

        for_each(self, chosen, count, rotate, dry_run=dry_run)
