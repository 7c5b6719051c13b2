"""Check of a request's head (RFC 9112), for the web server and the streaming server."""

import re
from typing import Final

_HOST: Final = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


def refusal_of(version: str, host: str | None, coding: str | None) -> int | None:
    """Return the status with which a head is refused; None for a valid head.

    `host` and `coding` are the values of Host and Transfer-Encoding, joined with a comma if the header occurs twice. If two
    servers parse a request differently, attackers can exploit the difference (request smuggling). Faults for which the parsers
    (llhttp and httparse) refuse a request are not checked again.
    """
    if version not in ("1.1", "1.0") or (version == "1.0" and coding is not None):
        return 400
    if not _HOST.fullmatch(host if host is not None else "" if version == "1.1" else "x"):
        return 400
    return 501 if coding is not None and coding.lower() != "chunked" else None
