"""`manage.py export_evidence`: writes the data of a held or reported account into a zip, for a court or an authority."""

from __future__ import annotations

import hashlib
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.management.names import find_account_named
from accounts.policies.staff import OPERATOR
from moderation.services.evidence import export_evidence
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """The export and its reason are logged in the audit log. Only the file's owner can read it."""

    help = (
        "Write profile, addresses, reports with their posts, strikes and files of a held or reported account into a zip "
        "with the SHA-256 of each part. Posts that nobody has reported are in it only while the account is held."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="ada, or ada@there.example")
        parser.add_argument("--reason", required=True, help="who asks for it and why")
        parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="a zip that is not there yet")

    def handle(self, *args: Any, **options: Any) -> None:
        account, path = find_account_named(options["address"]), options["output"]
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(
                _("%(path)s cannot be written: %(error)s") % {"path": path, "error": error.strerror}
            ) from None
        try:
            with os.fdopen(descriptor, "wb") as file:
                done = export_evidence(by=OPERATOR, account=account, reason=options["reason"], to=file)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.stdout.write(f"{digest}  {path}")
        self.stderr.write(_("%(posts)d posts, %(files)d files.") % {"posts": done.posts, "files": len(done.members)})
