"""Reads the items of a long list in a JSON document one after another; the memory used does not grow with the list."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from accounts.transfers.past import LIST_SIZE_LIMIT, Reason, UnreadableArchive

ITEM_LIMIT: Final = 4 * 1024 * 1024
"""Maximum number of characters in an item, and in the text before the list."""
_CHUNK: Final = 256 * 1024
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def list_items(file: IO[bytes], *names: str) -> Iterator[Any]:
    """Yield the items of the list in a document. The list is the first member that has one of these names and is a list, or the
    document itself if the document is a list. Text before the first bracket, as in `window.YTD.tweets.part0 = [`, is skipped.

    Raises UnreadableArchive at the first error in the JSON, and for an item or a list that is too large.
    """
    reader = _Reader(file)
    if reader.skip_to("{["):
        has_list = reader.take() == "[" or reader.find_list(names)
        if has_list:
            yield from reader.items()


class _Reader:
    """A parser of JSON that holds only a part of the text in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._size = 0
        self._ended = False

    def skip_to(self, characters: str) -> bool:
        """Advance to the first of these characters; return False if there is none within ITEM_LIMIT."""
        skipped = 0
        while True:
            places = [place for sign in characters if (place := self._text.find(sign, self._at)) >= 0]
            if places:
                self._at = min(places)
                return True
            skipped += len(self._text) - self._at
            self._at = len(self._text)
            if skipped > ITEM_LIMIT or not self._fill():
                return False

    def take(self) -> str:
        """Return the next non-space character and advance past it. Raises UnreadableArchive at the end."""
        sign = self._peek()
        self._at += 1
        return sign

    def find_list(self, names: tuple[str, ...]) -> bool:
        """Advance past the opening bracket of the first list that has one of these names; return False if there is none."""
        if self._peek() == "}":
            return False
        while True:
            name = self._value()
            if self.take() != ":":
                raise UnreadableArchive(Reason.NO_JSON)
            if name in names and self._peek() == "[":
                self._at += 1
                return True
            self._value()
            if self.take() != ",":
                return False

    def items(self) -> Iterator[Any]:
        """Yield the items of the list after its opening bracket."""
        if self._peek() == "]":
            return
        while True:
            yield self._value()
            sign = self.take()
            if sign == "]":
                return
            if sign != ",":
                raise UnreadableArchive(Reason.NO_JSON)

    def _peek(self) -> str:
        skipped = 0
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None  # the pattern matches even without any white space
            skipped += match.end() - self._at
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if skipped > ITEM_LIMIT or not self._fill():
                raise UnreadableArchive(Reason.NO_JSON)

    def _value(self) -> Any:
        """Parse and return the next value. A value at the window's end may be incomplete, for example a part of a number."""
        self._peek()
        read_size = _CHUNK
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError:
                raise UnreadableArchive(Reason.NO_JSON) from None
            except ValueError:
                pass
            else:
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            if self._ended or len(self._text) - self._at > ITEM_LIMIT:
                raise UnreadableArchive(Reason.NO_JSON)
            # The window doubles each time, so that a large item is not parsed again for every chunk.
            self._fill(read_size)
            read_size *= 2

    def _fill(self, size: int = _CHUNK) -> bool:
        """Read more of the file into the window; return False at the end of the file."""
        if self._ended:
            return False
        data = self._file.read(size)
        self._ended = not data
        self._size += len(data)
        if self._size > LIST_SIZE_LIMIT:
            raise UnreadableArchive(Reason.TOO_LARGE)
        self._text = self._text[self._at :] + self._decode(data, self._ended)
        self._at = 0
        return not self._ended
