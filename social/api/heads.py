"""Form of the head of a request (RFC 9112): what neither the web server nor the streaming server takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


def refusal_of(
    target: bytes, version: str, headers: Iterable[tuple[bytes, bytes]], *, size_limit: int, count_limit: int
) -> int | None:
    """Return the status that refuses a head, None for one of proper form. The names of `headers` are in lower case.

    Two servers that read a request differently can be used against each other. What the parser (llhttp) itself refuses is
    not looked at again: bare line feeds, folded lines, a length beside a coding. It takes several spaces for one between
    the parts of the first line, as RFC 9112 section 3 allows: no target holds a space, so there is no second way to read it.
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
