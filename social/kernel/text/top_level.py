"""The top-level domains that exist, from the list of IANA beside this file; no network is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import idna

_LIST: Final = Path(__file__).with_name("tlds-alpha-by-domain.txt")


def _known() -> frozenset[str]:
    lines = _LIST.read_text(encoding="ascii").lower().split("\n")
    # RFC 7686: never delegated, used all the same.
    return frozenset(line for line in lines if line and not line.startswith("#")) | {"onion"}


_KNOWN: Final = _known()


def is_top_level_domain(label: str) -> bool:
    """Whether the last label of a host name, in Unicode or Punycode and any case, is a top-level domain.

    True for `onion`; false for names of one network (`localhost`, `local`, `internal`) and those that stand for nothing
    (`test`, `example`, `invalid`; RFC 2606). Source: contract, behaviours section 8.
    """
    if label.isascii():
        return label.lower() in _KNOWN
    try:
        return idna.encode(label, uts46=True).decode("ascii") in _KNOWN
    except (idna.IDNAError, UnicodeError):
        return False
