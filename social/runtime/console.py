"""Merges the output of several processes into one readable stream, without blocking any of them."""

import json
import os
import select
import time
from collections import defaultdict
from itertools import cycle

from social.kernel.logs import redact

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92)
_WIDTH = 9
_PENDING_LIMIT = 1 << 20
# A pipe that is reported writable takes at least PIPE_BUF bytes without blocking (POSIX: 512, Linux: 4096).
_CHUNK = select.PIPE_BUF


class Console:
    """Output of all processes: takes lines, redacts them, prefixes the process's name, and writes them to `fd` as fast as
    its reader takes them.

    `colour=None` means colours only in a terminal. With `as_json` every line is one JSON object with a `process` member,
    for log collectors. If the reader stops reading, lines are dropped, and their number is printed; the server is not
    blocked.
    """

    def __init__(self, fd: int = 1, *, colour: bool | None = None, as_json: bool = False) -> None:
        self.fd = fd
        self._colour = os.isatty(fd) and "NO_COLOR" not in os.environ if colour is None else colour
        self._json = as_json
        self._pending = bytearray()
        self._dropped = 0
        self._closed = False
        self._colours: defaultdict[str, int] = defaultdict(cycle(_COLOURS).__next__)

    @property
    def pending(self) -> bool:
        return bool(self._pending)

    def line(self, name: str, text: str) -> None:
        """Add one line of the process `name`."""
        self._add(self._shape(name, redact(text)))

    def say(self, text: str) -> None:
        """Add a line from the supervisor itself, for the operator."""
        if self._json:
            self.line("run", text)
        else:
            self._add(f"\033[1m{text}\033[0m\n" if self._colour and text else f"{text}\n")

    def _shape(self, name: str, text: str) -> str:
        if self._json:
            if text.startswith("{") and text.endswith("}"):
                return f'{{"process":{json.dumps(name)},{text[1:]}\n' if text != "{}" else ""
            return json.dumps({"process": name, "event": text}, ensure_ascii=False) + "\n"
        prefix = f"{name:<{_WIDTH}} | "
        if self._colour:
            prefix = f"\033[{self._colours[name]}m{prefix}\033[0m"
        return f"{prefix}{text}\n"

    def _add(self, text: str) -> None:
        if self._closed or not text:
            return
        data = text.encode(errors="replace")
        if len(self._pending) + len(data) > _PENDING_LIMIT:
            self._dropped += 1
            return
        if self._dropped:
            self._pending += self._shape("run", f"{self._dropped} lines were dropped: nobody read them.").encode()
            self._dropped = 0
        self._pending += data

    def write_some(self) -> None:
        """Write as much as `fd` takes without blocking; call this when `select` reports that `fd` is writable."""
        while self._pending:
            try:
                if not select.select([], [self.fd], [], 0)[1]:
                    return
                del self._pending[: os.write(self.fd, self._pending[:_CHUNK])]
            except BlockingIOError:
                return
            except OSError:  # the reader is gone: the server continues without output
                self._closed = True
                self._pending.clear()

    def finish(self, seconds: float = 1.0) -> None:
        """Write the remaining lines, waiting at most `seconds` for the reader; lines that it does not take by then are lost."""
        deadline = time.monotonic() + seconds
        while self._pending and (left := deadline - time.monotonic()) > 0:
            select.select([], [self.fd], [], left)
            self.write_some()
