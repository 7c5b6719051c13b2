from accounts.management.names import LocalUser
from accounts.transfers.services.archives import next_archive_at, request_archive
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Request an archive of posts, files and lists for a user, at most one a week. The user gets an e-mail when the worker
    has built it, and downloads it under /settings/export.

    user: the owner of the archive
    dry_run: only say whether an archive may be requested now
    """

    def run(self, user: LocalUser, *, dry_run: bool) -> None:
        moment = next_archive_at(user.account)
        if dry_run:
            self.stdout.write("yes" if moment is None else f"not before {moment:%Y-%m-%d %H:%M} UTC")
            return
        archive = request_archive(account=user.account)
        self.stdout.write(f"archive {archive.pk} of @{user.account.acct} is being built")
