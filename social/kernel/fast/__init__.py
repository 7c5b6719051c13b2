"""Faster replacements for library code, each with a plain alternative that has the same results
(docs/adr/0027-shorter-ways.md).

`PLAIN=yes` in the environment selects the plain alternatives of all modules; `PLAIN=plans,redis` selects the plain alternatives
of the named modules.
"""

import os
from typing import Final

_PLAIN: Final = os.environ.get("PLAIN", "").split(",")


def is_plain(name: str) -> bool:
    """Tell whether the environment selects the plain alternative for the module `name`."""
    return "yes" in _PLAIN or name in _PLAIN
