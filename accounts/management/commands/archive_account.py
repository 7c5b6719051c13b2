"""`manage.py archive_account`: has an archive of a user's posts, files and lists built, for its owner to download."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from accounts.management.names import find_user_named
from accounts.transfers.services.archives import next_archive_at, request_archive
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Request an archive. The worker builds it; its owner gets a mail and finds it under /settings/export."""

    help = (
        "Have an archive built for somebody who cannot ask for it: posts, files, lists. Once a week for each account."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="whose archive")
        parser.add_argument("--dry-run", action="store_true", help="only say whether one may be built")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_user_named(options["username"])
        moment = next_archive_at(user.account)
        if options["dry_run"]:
            self.stdout.write("yes" if moment is None else f"not before {moment:%Y-%m-%d %H:%M} UTC")
            return
        archive = request_archive(account=user.account)
        self.stdout.write(f"archive {archive.pk} of @{user.account.acct} is being built")
