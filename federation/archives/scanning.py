"""Reads an archive before the import, and reports what the import would do. `scan` writes two files: `posts` has a line of JSON
for each post; `order` has the positions of these lines, oldest post first. Therefore the import can continue at any position,
and stores a post before its replies.
"""

import errno
from array import array
from collections import Counter
from pathlib import Path
from typing import IO, Any, Final

import orjson

from accounts.transfers.models import PastImport, PastLine, PastState
from accounts.transfers.past import LIST_SIZE_LIMIT, LISTED_LIMIT, PARTS, UNPACKED_LIMIT, Reason, UnreadableArchive
from accounts.transfers.queries import Allowance, load_allowance
from accounts.transfers.services.past import ARCHIVE, remove_files
from federation.archives.containers import Container, check_free_space, opened
from federation.archives.formats import Entry, Source, recognise
from federation.archives.notes import NotImported, PastNote, is_too_deep, name_of, read_past_note, with_own_files
from federation.documents.reading import first, uri_of
from social.kernel import clock
from social.kernel.lengths import URI_LIMIT
from statuses.models import ImportedPost

POSTS: Final = "posts"
ORDER: Final = "order"
PLACE_BYTES: Final = 8
_BATCH: Final = 200
# Each entry of `order` is one sortable number: the date of the post, with the position of its line in the lowest bits.
_PLACE_BITS: Final = 44


def scan(batch: PastImport, folder: Path) -> None:
    """Read the archive of an import, and mark the import as ready or as unreadable. Can be repeated."""
    allowance = None if batch.unlimited else load_allowance(batch.account_id)
    limit = UNPACKED_LIMIT if allowance is None else allowance.bytes + LIST_SIZE_LIMIT
    try:
        with opened(folder / ARCHIVE, folder, limit=limit) as container:
            scanned = _Scan(batch, container, recognise(container), folder, allowance)
            scanned.run()
    except UnreadableArchive as error:
        _refuse(batch, error.reason)
    except FileNotFoundError:
        # The account was removed, and the archive with it.
        _refuse(batch, Reason.NO_ARCHIVE)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _refuse(batch, Reason.NO_SPACE)


def _refuse(batch: PastImport, reason: Reason) -> None:
    unchanged = PastImport.objects.filter(id=batch.id, state=PastState.READING)
    unchanged.update(state=PastState.UNREADABLE, problem=reason, finished_at=clock.now())
    remove_files(batch.id)


class _Scan:
    def __init__(
        self, batch: PastImport, container: Container, source: Source, folder: Path, allowance: Allowance | None
    ) -> None:
        self._allowance = allowance
        self._batch, self._container, self._source, self._folder = batch, container, source, folder
        self._author = source.author
        self._reasons: Counter[Reason] = Counter()
        self._numbers: Counter[str] = Counter()
        self._lines: list[PastLine] = []
        self._listed = 0
        self._seen: set[int] = set()
        self._waiting: list[tuple[Entry, PastNote, bytes, list[Reason]]] = []
        self._order: list[int] = []

    def run(self) -> None:
        PastLine.objects.filter(batch=self._batch).delete()
        with (self._folder / POSTS).open("wb") as posts:
            for entry in self._source.read():
                try:
                    self._take_entry(entry)
                except NotImported as error:
                    self._leave_out(entry, error.reason)
                if len(self._waiting) >= _BATCH:
                    self._write(posts)
            self._write(posts)
        self._order.sort()
        with (self._folder / ORDER).open("wb") as order:
            array("Q", (number & ((1 << _PLACE_BITS) - 1) for number in self._order)).tofile(order)
        if not self._order and not self._reasons:
            raise UnreadableArchive(Reason.NO_POSTS)
        self._store()

    def _take_entry(self, entry: Entry) -> None:
        if entry.note is None or entry.reason is not None:
            raise NotImported(entry.reason or Reason.UNREADABLE)
        if is_too_deep(entry.note):
            raise NotImported(Reason.UNREADABLE)
        if not self._author:
            self._author = uri_of(first(entry.note.get("attributedTo"))) or ""
        document, parts = with_own_files(entry.note, self._container, self._source.root)
        past = read_past_note(document, self._author, self._source.followers)
        mark = hash(past.note.uri)
        if mark in self._seen:
            raise NotImported(Reason.REPEATED)
        self._seen.add(mark)
        if past.note.quoted is not None:
            parts.append(Reason.QUOTE)
        try:
            data = orjson.dumps({"line": entry.line, "followers": self._source.followers, "note": document})
        except (TypeError, RecursionError):
            # orjson refuses numbers of more than 64 bits and unpaired surrogates.
            raise NotImported(Reason.UNREADABLE) from None
        self._waiting.append((entry, past, data, parts))

    def _write(self, posts: IO[bytes]) -> None:
        check_free_space(self._folder)
        uris = [past.note.uri for _entry, past, _data, _parts in self._waiting]
        imported = ImportedPost.objects.filter(account=self._batch.account_id, uri__one_of=uris)
        already = set(imported.values_list("uri", flat=True))
        for entry, past, data, parts in self._waiting:
            if past.note.uri in already:
                self._leave_out(entry, Reason.ALREADY)
                continue
            self._order.append(int(past.published.timestamp() * 1000) << _PLACE_BITS | posts.tell())
            posts.write(data + b"\n")
            self._count(past)
            for reason in parts:
                self._leave_out(entry, reason)
        self._waiting.clear()
        self._list()

    def _count(self, past: PastNote) -> None:
        self._numbers[past.visibility] += 1
        self._numbers["polls"] += past.note.poll is not None
        for file in past.note.files:
            self._numbers["files"] += 1
            self._numbers["bytes"] += self._container.size(name_of(file)) or 0

    def _leave_out(self, entry: Entry, reason: Reason) -> None:
        self._reasons[reason] += 1
        if self._listed < LISTED_LIMIT:
            self._listed += 1
            uri = entry.uri if len(entry.uri) <= URI_LIMIT else ""
            self._lines.append(PastLine(batch=self._batch, line=entry.line, uri=uri.replace("\0", ""), reason=reason))

    def _list(self) -> None:
        # A post with two missing files yields the same row twice; the second row is ignored.
        PastLine.objects.bulk_create(self._lines, ignore_conflicts=True, batch_size=500)
        self._lines.clear()

    def _store(self) -> None:
        self._list()
        values: dict[str, Any] = {
            "state": PastState.READY,
            "software": self._source.software,
            "source": self._author,
            "total": len(self._order),
            "left_out": sum(number for reason, number in self._reasons.items() if reason not in PARTS),
            "numbers": {name: number for name, number in self._numbers.items() if number},
            "reasons": dict(self._reasons),
        }
        problem = self._exceeded_allowance()
        if problem is not None:
            values |= {"state": PastState.UNREADABLE, "problem": problem, "finished_at": clock.now()}
        PastImport.objects.filter(id=self._batch.id, state=PastState.READING).update(**values)
        if problem is not None:
            remove_files(self._batch.id)

    def _exceeded_allowance(self) -> Reason | None:
        allowance = self._allowance
        if allowance is None:
            return None
        if allowance.used_posts + len(self._order) > allowance.posts:
            return Reason.OVER_POSTS
        return Reason.OVER_BYTES if allowance.used_bytes + self._numbers["bytes"] > allowance.bytes else None
