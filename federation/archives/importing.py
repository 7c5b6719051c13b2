"""Imports the posts of an archive one after another; the position is stored with each post, so that an import can be
interrupted and continued.
"""

import os
import tempfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import DatabaseError, IntegrityError, OperationalError, transaction
from django.utils.text import Truncator

from accounts.models import Account, User
from accounts.transfers.models import PastImport, PastLine, PastState
from accounts.transfers.past import PARTS, Reason, UnreadableArchive
from accounts.transfers.services.past import ARCHIVE, remove_files
from federation.archives.containers import Container, opened
from federation.archives.notes import NotImported, PastNote, name_of, read_past_note
from federation.archives.own_links import with_own_links
from federation.archives.scanning import ORDER, PLACE_BYTES, POSTS
from social.kernel import clock
from social.kernel.errors import Invalid, KernelError, Unavailable
from social.kernel.text.markup import plain
from statuses.models import ImportedPost, Status
from statuses.models.attachments import DESCRIPTION_LIMIT
from statuses.policies.interactions import default_policy
from statuses.policies.media import VIDEO_SIZE_LIMIT
from statuses.policies.polls import RemotePoll
from statuses.policies.quotes import local_policy
from statuses.policies.visibility import lowered_visibility
from statuses.services.media import MediaUpload, SentFile, upload_media
from statuses.services.quotas import NoRoom
from statuses.services.storing import Composed, RemoteFile, store_status

_CHUNK: Final = 256 * 1024
_MEMORY_LIMIT: Final = 1 << 20


class _Stopped(Exception):
    """Raised when the import was stopped, or when another process has continued it."""


def import_some(batch: PastImport, folder: Path, *, seconds: float) -> bool:
    """Import posts for `seconds`; return whether there may be more posts to import. The caller has loaded the account and user
    of `batch`.
    """
    end = time.monotonic() + seconds
    author = batch.account
    if author.suspended or not author.user.is_active:
        _finish(batch)
        return False
    try:
        with opened(folder / ARCHIVE, folder) as container, (folder / POSTS).open("rb") as posts:
            order = (folder / ORDER).read_bytes() if batch.total else b""
            for position in range(batch.position, batch.total):
                place = order[position * PLACE_BYTES : (position + 1) * PLACE_BYTES]
                posts.seek(int.from_bytes(place, "little"))
                _Post(batch, author, container, position, orjson.loads(posts.readline())).handle()
                if time.monotonic() >= end:
                    return True
    except _Stopped:
        return False
    except (UnreadableArchive, FileNotFoundError):
        # The archive was removed or has changed since it was read; the posts imported so far remain.
        if not PastImport.objects.filter(id=batch.id, state=PastState.RUNNING).exists():
            return False
        PastImport.objects.filter(id=batch.id).update(problem=Reason.NO_ARCHIVE)
    _finish(batch)
    return False


def _finish(batch: PastImport) -> None:
    running = PastImport.objects.filter(id=batch.id, state=PastState.RUNNING)
    running.update(state=PastState.FINISHED, finished_at=clock.now())
    remove_files(batch.id)


class _Post:
    def __init__(
        self, batch: PastImport, author: Account, container: Container, position: int, entry: dict[str, Any]
    ) -> None:
        self._batch, self._author, self._container, self._position = batch, author, container, position
        self._line: int = entry["line"]
        self._document: dict[str, Any] = entry["note"]
        self._followers: str = entry["followers"]

    def handle(self) -> None:
        """Store the post, or the reason why it is not imported. Raises _Stopped."""
        try:
            past = read_past_note(self._document, self._batch.source, self._followers)
            if ImportedPost.objects.filter(account=self._author, uri=past.note.uri).exists():
                raise NotImported(Reason.ALREADY)
            self._import(past)
        except NotImported as error:
            self._leave_out(error.reason)
        except Unavailable:
            raise
        except (KernelError, IntegrityError):
            self._leave_out(Reason.UNREADABLE)
        except OperationalError:
            raise
        except DatabaseError:
            self._leave_out(Reason.UNREADABLE)

    def _import(self, past: PastNote) -> None:
        media_ids, parts = self._upload(past.note.files)
        note, visibility = past.note, lowered_visibility(past.visibility, self._batch.visibility)
        parent = self._find_parent(note.in_reply_to)
        if note.in_reply_to is not None and parent is None:
            parts.append(Reason.REPLY_OF_OTHERS)
        user: User = self._author.user
        content = with_own_links(note.content, uri=note.uri, author=self._author)
        new = Composed(
            **note.author_columns | {"text": plain(content)},
            author=self._author,
            content=content,
            visibility=visibility,
            sensitive=note.sensitive,
            language=note.language,
            parent=parent,
            in_reply_to_uri=note.in_reply_to if parent is None else None,
            tags=note.tags,
            media_ids=media_ids,
            poll=_closed_poll(note.poll),
            quote_policy=local_policy(visibility, user.default_quote_policy),
            interaction_policy=default_policy(user.preferences, visibility),
            created_at=past.published,
            edited_at=(
                min(note.updated, clock.now()) if note.updated is not None and note.updated > past.published else None
            ),
            imported=True,
        )
        with transaction.atomic():
            status = store_status(new)
            url = note.url if note.url != note.uri else ""
            ImportedPost.objects.create(status=status, batch=self._batch, account=self._author, uri=note.uri, url=url)
            self._advance(parts, done=1)

    def _find_parent(self, uri: str | None) -> Status | None:
        if uri is None:
            return None
        return Status.objects.filter(imported__account=self._author, imported__uri=uri, deleted_at=None).first()

    def _upload(self, files: Sequence[RemoteFile]) -> tuple[list[int], list[Reason]]:
        ids: list[int] = []
        reasons: list[Reason] = []
        for file in files:
            try:
                ids.append(self._upload_one(file))
            except KeyError:
                reasons.append(Reason.FILE_MISSING)
            except NoRoom:
                reasons.append(Reason.FILE_NO_ROOM)
            # zipfile raises NotImplementedError for a compression or an encryption that it does not know.
            except (Invalid, UnreadableArchive, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
                reasons.append(Reason.FILE_REFUSED)
        return ids, reasons

    def _upload_one(self, file: RemoteFile) -> int:
        focus = file.meta.get("focus") or {}
        place = f"{focus['x']},{focus['y']}" if {"x", "y"} <= focus.keys() else None
        described = Truncator(file.description).chars(DESCRIPTION_LIMIT) if file.description else None
        with self._container.open(name_of(file)) as source, tempfile.SpooledTemporaryFile(_MEMORY_LIMIT) as copy:
            while data := source.read(_CHUNK):
                copy.write(data)
                if copy.tell() > VIDEO_SIZE_LIMIT:
                    raise UnreadableArchive(Reason.TOO_LARGE)
            copy.seek(0, os.SEEK_SET)
            upload = MediaUpload(SentFile(copy), description=described, focus=place)
            return upload_media(account_id=self._author.id, upload=upload).id

    def _leave_out(self, reason: Reason) -> None:
        with transaction.atomic():
            self._advance([reason], done=0)

    def _advance(self, reasons: Sequence[Reason], *, done: int) -> None:
        """Count the post as handled. Raises _Stopped if the import was stopped or another process has continued it."""
        running = PastImport.objects.select_for_update(of=("self",)).filter(id=self._batch.id, state=PastState.RUNNING)
        row = running.filter(position=self._position).first()
        if row is None:
            raise _Stopped
        row.position += 1
        row.done += done
        row.left_out += sum(reason not in PARTS for reason in reasons)
        for reason in reasons:
            row.reasons[reason] = row.reasons.get(reason, 0) + 1
        row.save(update_fields=["position", "done", "left_out", "reasons"])
        uri = str(self._document.get("id", ""))[:1000]
        lines = (PastLine(batch=row, line=self._line, uri=uri, reason=reason) for reason in reasons)
        PastLine.objects.bulk_create(lines, ignore_conflicts=True, batch_size=10)


def _closed_poll(poll: RemotePoll | None) -> RemotePoll | None:
    if poll is None:
        return None
    now = clock.now()
    end = poll.expires_at if poll.expires_at is not None and poll.expires_at < now else now
    return RemotePoll(poll.options, poll.tallies, poll.voters_count, poll.multiple, False, end)
