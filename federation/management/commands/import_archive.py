import time
from pathlib import Path

from accounts.management.names import LocalUser
from accounts.models import User
from accounts.transfers.models import PastImport, PastState
from accounts.transfers.past import SENTENCES, Reason
from accounts.transfers.services.past import start_past, take_archive, undo_past
from federation.archives.working import process_import
from social.kernel.errors import Unavailable, require_found
from social.management.base import OperatorCommand

_BUSY = (PastState.READING, PastState.RUNNING, PastState.UNDOING)
_REPORT_SECONDS = 5.0


class Command(OperatorCommand):
    """Import a user's own posts from an archive, or undo such an import. After an interruption, run the command again; the
    worker continues too.
    """

    def add(self, user: LocalUser, file: Path, *, visibility: str = "", dry_run: bool) -> None:
        """Import an archive of Mastodon, of this server, of X, or a list of posts. If an import is already running, it is
        continued and the file is not read. The limits of the user's role do not apply.

        user: the author of the posts
        file: the archive, .zip or .tar.gz
        visibility: lowers the visibility of all posts, to unlisted or private
        dry_run: only say what would be imported and what not
        """
        found = PastImport.objects.filter(account=user.account, state=PastState.RUNNING).first()
        if found is None:
            with file.open("rb") as archive:
                found = take_archive(account=user.account, file=archive, file_name=file.name, unlimited=True)
            self._run_to_end(found)
            self._describe(found)
            if dry_run or found.state != PastState.READY:
                return
            start_past(account=user.account, import_id=found.id, visibility=visibility)
        self._run_to_end(found)
        self._describe(found)

    def undo(self, user: LocalUser, *, dry_run: bool) -> None:
        """Remove all posts of a user's last import, up to 30 days after it.

        user: the owner of the import
        dry_run: only say which import would be undone
        """
        found = self._last_import(user)
        if dry_run:
            self._describe(found)
            return
        undo_past(account=user.account, import_id=found.id)
        self._run_to_end(found)
        self.stdout.write(f"import {found.pk}: {found.state}")

    def show(self, user: LocalUser) -> None:
        """Show the last import of a user.

        user: the owner of the import
        """
        self._describe(self._last_import(user))

    def _last_import(self, user: User) -> PastImport:
        return require_found(PastImport.objects.filter(account=user.account).order_by("-id").first())

    def _run_to_end(self, found: PastImport) -> None:
        found.refresh_from_db()
        while found.state in _BUSY:
            try:
                process_import(found.id, seconds=_REPORT_SECONDS)
            except Unavailable:
                # Wait, because the worker is processing this import.
                time.sleep(1)
            found.refresh_from_db()
            if found.state == PastState.RUNNING:
                self.stdout.write(f"{found.position} of {found.total}")

    def _describe(self, found: PastImport) -> None:
        numbers = found.numbers
        self.stdout.write(
            f"import {found.pk}: {found.state}, {found.total} posts of {found.named_source or '?'}, {found.done} imported, "
            f"{numbers.get('files', 0)} files with {numbers.get('bytes', 0)} bytes"
        )
        if found.problem:
            self.stdout.write(str(SENTENCES[Reason(found.problem)]))
        for reason, number in sorted(found.reasons.items()):
            self.stdout.write(f"{number} x {SENTENCES[Reason(reason)]}")
