"""Checks of a request's head (RFC 9112), the same for the web server and the streaming server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


def refusal_of(
    target: bytes, version: str, headers: Iterable[tuple[bytes, bytes]], *, size_limit: int, count_limit: int
) -> int | None:
    """Return the status with which a malformed head is refused, None for a valid one. Names of `headers` are in lower case.

    Two servers that parse a request differently can be attacked with it (request smuggling). Heads that the parser
    (llhttp) refuses are not checked again: bare line feeds, folded lines, a length beside a transfer coding. The parser
    takes several spaces between the parts of the first line as one, as RFC 9112 section 3 allows: a target holds no
    space, so this is unambiguous.
    """
    size, count = len(target), 0
    hosts: list[bytes] = []
    codings: list[bytes] = []
    for name, value in headers:
        size += len(name) + len(value)
        count += 1
        if name == b"host":
            hosts.append(value)
        elif name == b"transfer-encoding":
            codings.append(value.lower())
    if size > size_limit or count > count_limit:
        return 431
    if version not in ("1.1", "1.0") or (version == "1.0" and codings) or b"#" in target:
        return 400
    if len(hosts) != 1 and (hosts or version == "1.1"):
        return 400
    if hosts and not _HOST.fullmatch(hosts[0]):
        return 400
    return 501 if codings and codings != [b"chunked"] else None
