from django.utils.translation import gettext as _

from accounts.management.names import AnyAccount
from accounts.policies.staff import OPERATOR
from accounts.transfers.services.merging import load_extent, merge_accounts
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Merge two accounts that are one person on another server whose address or id has changed: posts, follows and blocks
    of the first become those of the second, and the first is deleted. After an interruption, the same command continues.

    source: the account that is deleted: ada@old.example
    target: the account that stays: ada@new.example
    dry_run: only count the rows of the first account
    """

    def run(self, source: AnyAccount, target: AnyAccount, *, dry_run: bool) -> None:
        steps = load_extent(source) if dry_run else merge_accounts(by=OPERATOR, source=source, target=target)
        for name, count in steps:
            self.stdout.write(f"{name}: {count}")
        if not dry_run:
            self.stdout.write(
                _("@%(source)s was merged into @%(target)s. The worker removes what remains of it.")
                % {"source": source.acct, "target": target.acct}
            )
