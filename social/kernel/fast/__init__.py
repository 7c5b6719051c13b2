"""Faster ways through libraries, each beside a plain one with the same results: see docs/adr/0027-shorter-ways.md.

`PLAIN=yes` in the environment takes the plain ways everywhere, `PLAIN=plans,redis` those of the named modules.
"""

from __future__ import annotations

import os
from typing import Final

_PLAIN: Final = os.environ.get("PLAIN", "").split(",")


def is_plain(name: str) -> bool:
    """Tell whether the plain way is to be taken instead of the faster one of this name."""
    return "yes" in _PLAIN or name in _PLAIN
