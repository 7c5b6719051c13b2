"""How recovery codes are written, and what of them is kept."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Final

CODES: Final = 10
# Crockford's alphabet: no letter that could be read as a digit.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH: Final = 16
_GROUP: Final = 4
_MISREAD: Final = str.maketrans({"o": "0", "i": "1", "l": "1", "-": None, " ": None})


def new_code() -> str:
    """A random code of 80 bits, in groups: `3f9k-x2mq-7tvd-n4ah`."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(letters[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))


def digest_of(typed: str) -> str:
    """What is kept of a code. Case, spaces and dashes do not count, nor do letters that look like digits.

    A plain hash is enough: nobody can try 2^80 codes, however fast they are hashed.
    """
    return sha256(typed.lower().translate(_MISREAD).encode()).hexdigest()
