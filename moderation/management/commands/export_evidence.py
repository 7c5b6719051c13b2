import hashlib
import os
from pathlib import Path
from typing import Annotated

from django.utils.translation import gettext as _

from accounts.management.names import AnyAccount
from accounts.policies.staff import OPERATOR
from moderation.services.evidence import export_evidence
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Write the profile, addresses, reports with their posts, strikes and files of a held or reported account into a zip for a
    court or an authority, with the SHA-256 of each part. Posts that nobody has reported are included only while the account
    is held. Only the owner of the file can read it, and the export is written to the audit log.

    reason: who asks for it and why
    output: a new zip archive
    """

    def run(self, account: AnyAccount, *, reason: str, output: Annotated[Path, ("metavar", "FILE")]) -> None:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                done = export_evidence(by=OPERATOR, account=account, reason=reason, to=file)
        except BaseException:
            output.unlink(missing_ok=True)
            raise
        with output.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.stdout.write(f"{digest}  {output}")
        self.stderr.write(_("%(posts)d posts, %(files)d files.") % {"posts": done.posts, "files": len(done.members)})
