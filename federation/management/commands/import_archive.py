import time
from pathlib import Path
from typing import Annotated

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
_Owner = Annotated[LocalUser, ("help", "the owner of the import")]


class Command(OperatorCommand):
    """Import a user's own posts from an archive, or undo such an import.

    After an interruption you can run the command again; if you do not, the worker continues the import.
    """

    def add(self, user: LocalUser, file: Path, *, visibility: str = "", dry_run: bool) -> None:
        """Import an archive of Mastodon, of this server, of X, or a list of posts. If an import is already running, it is
        continued and the file is not read. The limits of the user's role do not apply.

        user: the author of the posts
        file: the archive, .zip or .tar.gz
        visibility: lowers the visibility of all posts, to unlisted or private
        dry_run: only say what would be imported and what not
        """
        past = PastImport.objects.filter(account=user.account, state=PastState.RUNNING).first()
        if past is None:
            with file.open("rb") as archive:
                past = take_archive(account=user.account, file=archive, file_name=file.name, unlimited=True)
            self._run_to_end(past)
            self._describe(past)
            if dry_run or past.state != PastState.READY:
                return
            start_past(account=user.account, import_id=past.id, visibility=visibility)
        self._run_to_end(past)
        self._describe(past)

    def undo(self, user: _Owner, *, dry_run: bool) -> None:
        """Remove all posts of a user's last import, up to 30 days after it.

        dry_run: only say which import would be undone
        """
        past = self._last_import(user)
        if dry_run:
            self._describe(past)
            return
        undo_past(account=user.account, import_id=past.id)
        self._run_to_end(past)
        self.stdout.write(f"import {past.pk}: {past.state}")

    def show(self, user: _Owner) -> None:
        """Show the last import of a user."""
        self._describe(self._last_import(user))

    def _last_import(self, user: User) -> PastImport:
        return require_found(PastImport.objects.filter(account=user.account).order_by("-id").first())

    def _run_to_end(self, past: PastImport) -> None:
        past.refresh_from_db()
        while past.state in _BUSY:
            try:
                process_import(past.id, seconds=_REPORT_SECONDS)
            except Unavailable:
                # Wait, because the worker is processing this import.
                time.sleep(1)
            past.refresh_from_db()
            if past.state == PastState.RUNNING:
                self.stdout.write(f"{past.position} of {past.total}")

    def _describe(self, past: PastImport) -> None:
        numbers = past.numbers
        self.stdout.write(
            f"import {past.pk}: {past.state}, {past.total} posts of {past.named_source or '?'}, {past.done} imported, "
            f"{numbers.get('files', 0)} files with {numbers.get('bytes', 0)} bytes"
        )
        if past.problem:
            self.stdout.write(str(SENTENCES[Reason(past.problem)]))
        for reason, number in sorted(past.reasons.items()):
            self.stdout.write(f"{number} x {SENTENCES[Reason(reason)]}")
