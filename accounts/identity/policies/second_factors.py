"""Checks of passkeys beyond their signatures (WebAuthn Level 2, section 7); format and digest of recovery codes."""

import secrets
from hashlib import sha256
from typing import Final

from django.conf import settings

NAME_LIMIT: Final = 60
PASSKEYS_LIMIT: Final = 20


def relying_party() -> dict[str, str]:
    """Return the relying party of passkeys: the host that serves the pages, never the Host header of a request."""
    host = settings.WEB_DOMAIN.rpartition(":")[0] if _has_port(settings.WEB_DOMAIN) else settings.WEB_DOMAIN
    return {"id": host, "name": settings.LOCAL_DOMAIN}


def is_own_origin(origin: str) -> bool:
    """Tell whether a passkey was used on a page of this server: scheme, host and port (section 7.2, step 13)."""
    return origin == settings.BASE_URL


def is_newer(count: int, last: int) -> bool:
    """Return False if a signature counter suggests a copied key (section 7.2, step 21). Synchronised keys always send 0."""
    return count > last or count == last == 0


def _has_port(domain: str) -> bool:
    return domain.rpartition(":")[2].isdigit()


CODES: Final = 10

# Crockford's alphabet, which has no letter that could be read as a digit.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH: Final = 16
_GROUP: Final = 4
_MISREAD: Final = str.maketrans({"o": "0", "i": "1", "l": "1", "-": None, " ": None})


def new_code() -> str:
    """Return a random code of 80 bits, in groups: `3f9k-x2mq-7tvd-n4ah`."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(letters[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))


def digest_of(typed: str) -> str:
    """Return the digest of a code. Case, spaces and dashes are ignored; letters that look like digits count as digits."""
    return sha256(typed.lower().translate(_MISREAD).encode()).hexdigest()
