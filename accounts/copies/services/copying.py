"""Copies remote files when a client requests them (docs/adr/0021)."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import IO, Any, Final, TypeVar, cast

from django.conf import settings
from django.db import transaction

from accounts.copies import policies
from accounts.copies.models import CopyFailure, CopyFetch, CopyPurpose, CopyState, QuarantineSource, RemoteCopy
from accounts.copies.policies import FileReason
from accounts.copies.queries import ListMatch, find_match, needs_perceptual_hash
from accounts.copies.services.quarantine import Origin, is_quarantined, is_watching, known_result, quarantine_file
from accounts.events import RemoteCopyStored
from accounts.services.profile_pictures import SHAPES
from social.kernel import clock
from social.kernel.errors import Invalid, Unavailable
from social.kernel.events import publish
from social.kernel.http import client as http
from social.kernel.http.errors import FetchReason
from social.kernel.media import images, recordings, scanning, storage, types
from social.kernel.media.hashing import perceptual_hash
from social.kernel.media.images import Rendition, Shape
from social.kernel.media.scanning import ScanResult
from social.kernel.media.types import TYPES
from social.kernel.reasons import Reason
from social.kernel.refusals import count_refusals
from social.kernel.runner import Job, Steps, Work, enqueue, is_paused

logger = logging.getLogger("social.media")
T = TypeVar("T")

FOLDER: Final = "cache"
EXACTNESS: Final = timedelta(hours=1)
"""Precision of the time at which a copy was last served."""
_MEMORY_BYTES: Final = 1024 * 1024
_threads: Final = ThreadPoolExecutor(6, thread_name_prefix="copies")
# An animated GIF stays animated, within the limits on animations.
_PREVIEW_SHAPE: Final = Shape(3840, 2160, cropped=False)
_SHAPES: Final = {**SHAPES, CopyPurpose.EMOJI: Shape(256, 256, cropped=False)}
_EXTENSIONS: Final = {
    **{kind: extension.removeprefix(".") for extension, kind in reversed(TYPES.items())},
    "audio/m4a": "m4a",
}


def request_copy(*, purpose: CopyPurpose, url: str) -> RemoteCopy:
    """Return a file's copy. If the file is to be fetched and its server has been responding, queue one fetch."""
    with transaction.atomic():
        digest = policies.digest_of(purpose, url)
        RemoteCopy.objects.bulk_create(
            [
                RemoteCopy(
                    digest=digest, purpose=purpose, url=url, host=policies.host_of(url)[:255], state=CopyState.FAILED
                )
            ],
            ignore_conflicts=True,
            batch_size=1,
        )
        copy = RemoteCopy.objects.select_for_update().get(digest=digest)
        if policies.is_due(copy, clock.now()) and not is_quarantined(digest):
            copy.state, copy.failure, copy.requested_at = CopyState.WAITING, CopyFailure.NONE, clock.now()
            copy.save(update_fields=["state", "failure", "requested_at"])
            row = CopyFetch(copy=copy, host=copy.host)
            if is_paused(row.queue, row.host) or not enqueue(row):
                _fail(copy, CopyFailure.UNREACHABLE)
                copy.refresh_from_db()
    return copy


def record_served(copy: RemoteCopy) -> None:
    """Record that a copy was just served, because the least recently served copies are removed first."""
    now = clock.now()
    if copy.served_at < now - EXACTNESS:
        RemoteCopy.objects.filter(id=copy.id, served_at__lt=now - EXACTNESS).update(served_at=now)


@dataclass(frozen=True)
class _Stored:
    file: str
    file_size: int
    preview: str = ""
    preview_size: int = 0
    measured: dict[str, Any] = field(default_factory=dict)


class _Failed(Exception):
    def __init__(self, failure: CopyFailure, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.failure, self.reason = failure, reason


class _NotShown(http.FetchError):
    reason = FileReason.FILE_NOT_SHOWN


class _Download(tempfile.SpooledTemporaryFile[bytes]):
    """File that is being downloaded. Raises _NotShown as soon as its first bytes show a type that is not accepted; the
    `Content-Type` header, which many servers get wrong, is ignored (contract, federation section 17).
    """

    def __init__(self, purpose: CopyPurpose) -> None:
        super().__init__(max_size=_MEMORY_BYTES, dir=str(settings.DATA_DIR))
        self._purpose = purpose
        self._head = b""

    def write(self, data: Any) -> int:
        if len(self._head) < types.HEAD:
            self._head += bytes(data[: types.HEAD - len(self._head)])
            if len(self._head) == types.HEAD and not _is_accepted(self._purpose, types.media_type(self._head)):
                raise _NotShown(f"it is {types.media_type(self._head) or 'nothing that is known'}")
        return super().write(data)


def _is_accepted(purpose: CopyPurpose, found: str | None) -> bool:
    if found in recordings.READABLE:
        return found in _EXTENSIONS and purpose == CopyPurpose.ATTACHMENT
    return found in (policies.EMOJI_TYPES if purpose == CopyPurpose.EMOJI else images.ACCEPTED)


def _begin(jobs: Sequence[Job[CopyFetch]]) -> Iterator[Steps]:
    copies = RemoteCopy.objects.filter(id__one_of=[job.row.copy_id for job in jobs]).in_bulk()
    for job in jobs:
        yield _fetch(job, copies.get(job.row.copy_id))


def _fetch(job: Job[CopyFetch], copy: RemoteCopy | None) -> Steps:
    """Fetch and store a file, or mark its copy as failed. Raises OSError.

    Publishes RemoteCopyStored for an attachment that was measured or cannot be shown. A file is stored only if it can
    be decoded: pictures are re-encoded, videos and sounds are stored unchanged.
    """
    if copy is None or copy.state != CopyState.WAITING:
        return
    try:
        with _Download(CopyPurpose(copy.purpose)) as spooled:
            file = cast("IO[bytes]", spooled)
            yield from _download(job, copy, file)
            if is_watching():
                yield from _check(copy, file)
            stored = yield _in_thread(_store, copy, file)
    except _Failed as failed:
        logger.info("%s was not copied: %s", copy.url[:500], failed)
        with transaction.atomic():
            _fail(copy, failed.failure)
            if failed.failure == CopyFailure.REFUSED and copy.purpose == CopyPurpose.ATTACHMENT:
                publish(RemoteCopyStored(copy_id=copy.id))
        # Failures to reach a server are not counted, because the server has sent nothing that could be refused.
        if failed.failure != CopyFailure.UNREACHABLE:
            count_refusals(copy.host, {failed.reason: 1})
        return
    is_stored = False
    try:
        with transaction.atomic():
            is_stored = bool(
                RemoteCopy.objects.filter(id=copy.id, state=CopyState.WAITING).update(
                    state=CopyState.READY, attempts=0, retry_at=None, served_at=clock.now(), **stored.__dict__
                )
            )
            if is_stored and stored.measured:
                publish(RemoteCopyStored(copy_id=copy.id))
    finally:
        if not is_stored:
            storage.remove(stored.file, stored.preview)


def _check(copy: RemoteCopy, file: IO[bytes]) -> Steps:
    """Check a file before it is stored; a refused file is put into quarantine, and its copy fails for good."""
    origin = Origin(QuarantineSource.COPY, url=copy.url, copy_digest=copy.digest)
    sha256: str = yield _in_thread(scanning.digest_of, file)
    result = known_result(sha256)
    match: ListMatch | None = None
    try:
        if result is None:
            perceptual = (yield _in_thread(perceptual_hash, file)) if needs_perceptual_hash() else None
            match = find_match(sha256, perceptual)
            result = ScanResult(match is None)
            if match is None and scanning.is_on():
                result = yield _in_thread(scanning.scan, file, "", sha256)
    except Unavailable as error:
        raise _Failed(CopyFailure.UNREACHABLE, FileReason.FILE_NOT_SCANNED, error.message) from None
    except Invalid as error:
        raise _Failed(CopyFailure.REFUSED, FileReason.FILE_UNREADABLE, error.message) from None
    if not result.clean:
        file.seek(0)
        kind = types.media_type(file.read(types.HEAD)) or ""
        quarantine_file(file, sha256=sha256, content_type=kind, result=result, origin=origin, match=match)
        if match is not None:
            raise _Failed(CopyFailure.REFUSED, FileReason.FILE_LISTED, "it is on a hash list")
        raise _Failed(CopyFailure.REFUSED, FileReason.FILE_QUARANTINED, "it is in quarantine")
    # Seek to the end, because `_store` uses the position as the size.
    file.seek(0, os.SEEK_END)


async def _in_thread(function: Callable[..., T], *values: Any) -> T:
    # Files are checked in separate threads, because the event loop's default threads are needed to resolve host names.
    return await asyncio.get_running_loop().run_in_executor(_threads, function, *values)


def _download(job: Job[CopyFetch], copy: RemoteCopy, file: IO[bytes]) -> Steps:
    terms = policies.TERMS[CopyPurpose(copy.purpose)]
    try:
        response: http.Response = yield http.fetch_async(
            http.Request(
                copy.url,
                headers={"Accept": ", ".join(policies.ACCEPTED)},
                max_bytes=terms.max_bytes,
                deadline=terms.seconds,
                schemes=("https", "http"),
                file=file,
            )
        )
    except (http.Refused, http.TooLarge, http.WrongType, http.TooManyRedirects, _NotShown) as error:
        raise _Failed(CopyFailure.REFUSED, error.reason, str(error)) from None
    except http.FetchError as error:
        job.answers[copy.host] = str(error)
        raise _Failed(CopyFailure.UNREACHABLE, error.reason, str(error)) from None
    job.answers[copy.host] = ""
    if response.status >= 500 or response.status in (408, 425, 429):
        raise _Failed(CopyFailure.UNREACHABLE, FetchReason.NO_ANSWER, f"status {response.status}")
    if response.status != 200:
        raise _Failed(CopyFailure.MISSING, FileReason.FILE_MISSING, f"status {response.status}")


def _fail(copy: RemoteCopy, failure: CopyFailure) -> None:
    attempts = copy.attempts + 1
    RemoteCopy.objects.filter(id=copy.id, state=CopyState.WAITING).update(
        state=CopyState.FAILED,
        failure=failure,
        attempts=min(attempts, 1000),
        retry_at=clock.now() + policies.pause_after(failure, attempts),
    )


def _store(copy: RemoteCopy, file: IO[bytes]) -> _Stored:
    purpose = CopyPurpose(copy.purpose)
    size = file.tell()
    file.seek(0)
    media_type = types.media_type(file.read(types.HEAD)) or "nothing that is known"
    file.seek(0)
    try:
        if _is_accepted(purpose, media_type) and media_type in recordings.READABLE:
            return _store_recording(purpose, file, media_type, size)
        if _is_accepted(purpose, media_type) and size <= policies.PICTURE_BYTES:
            return _store_picture(purpose, file)
    except Invalid as error:
        raise _Failed(CopyFailure.REFUSED, FileReason.FILE_UNREADABLE, error.message) from None
    raise _Failed(CopyFailure.REFUSED, FileReason.FILE_NOT_SHOWN, f"{size} bytes of {media_type}")


def _store_recording(purpose: CopyPurpose, file: IO[bytes], content_type: str, size: int) -> _Stored:
    with recordings.examine(file, content_type) as examined:
        cover = examined.cover.preview if examined.cover is not None else None
        with _stored_until_error(purpose, cover) as preview:
            file.seek(0)
            path = storage.store(file, folder=f"{FOLDER}/{purpose}", extension=_EXTENSIONS[content_type])
        blurhash = examined.cover.blurhash if examined.cover is not None else None
        measured = _measured_value(examined.kind, examined.meta, cover, blurhash)
        return _Stored(path, size, preview, cover.byte_count if cover is not None else 0, measured)


def _store_picture(purpose: CopyPurpose, file: IO[bytes]) -> _Stored:
    try:
        return _store_drawn(purpose, file, still=False)
    except images.TooLong:
        # The animation has too many frames, so only the first frame is stored.
        file.seek(0)
        return _store_drawn(purpose, file, still=True)


def _store_drawn(purpose: CopyPurpose, file: IO[bytes], *, still: bool) -> _Stored:
    if purpose == CopyPurpose.COVER:
        with recordings.draw_cover(file) as cover:
            return _store_renditions(purpose, cover.preview)
    if purpose == CopyPurpose.ATTACHMENT:
        try:
            with images.process(file, still=still) as picture:
                measured = _measured_value(
                    "image", {"original": picture.original.size}, picture.preview, picture.blurhash
                )
                return _store_renditions(purpose, picture.original, picture.preview, measured)
        except images.Moving:
            file.seek(0)
    with images.draw(file, _SHAPES.get(purpose, _PREVIEW_SHAPE), still=still) as drawing:
        measured = {}
        if purpose == CopyPurpose.ATTACHMENT:
            measured = _measured_value("image", {"original": drawing.shown.size}, drawing.still)
        return _store_renditions(purpose, drawing.shown, drawing.still, measured)


def _measured_value(
    kind: str, meta: dict[str, Any], small: Rendition | None, blurhash: str | None = None
) -> dict[str, Any]:
    return {"type": kind, "meta": meta if small is None else {**meta, "small": small.size}, "blurhash": blurhash}


def _store_renditions(
    purpose: CopyPurpose, shown: Rendition, small: Rendition | None = None, measured: dict[str, Any] | None = None
) -> _Stored:
    with _stored_until_error(purpose, shown) as file, _stored_until_error(purpose, small) as preview:
        return _Stored(file, shown.byte_count, preview, small.byte_count if small is not None else 0, measured or {})


@contextmanager
def _stored_until_error(purpose: CopyPurpose, rendition: Rendition | None) -> Iterator[str]:
    """Store a picture and yield its path, or "" if there is none. If the block raises an exception, the file is removed."""
    path = ""
    try:
        if rendition is not None:
            path = storage.store(rendition.file, folder=f"{FOLDER}/{purpose}", extension=rendition.extension)
        yield path
    except BaseException:
        storage.remove(path)
        raise


COPIES: Final = Work(CopyFetch, _begin)
