"""What must hold of a passkey besides its signature and challenge (WebAuthn Level 2, section 7)."""

from __future__ import annotations

from typing import Final

from django.conf import settings

NAME_LIMIT: Final = 60
PASSKEYS_LIMIT: Final = 20


def relying_party() -> dict[str, str]:
    """Who a passkey is for: the host that pages are served from, never what a request says its host is."""
    host = settings.WEB_DOMAIN.rpartition(":")[0] if _has_port(settings.WEB_DOMAIN) else settings.WEB_DOMAIN
    return {"id": host, "name": settings.LOCAL_DOMAIN}


def is_own_origin(origin: str) -> bool:
    """Whether a passkey was used on a page of this server: scheme, host and port (section 7.2, step 13)."""
    return origin == settings.BASE_URL


def is_newer(count: int, last: int) -> bool:
    """Whether a signature counter shows that there is no copy of the key (section 7.2, step 21).

    Keys that are synchronised between devices do not count: theirs is always 0.
    """
    return count > last or count == last == 0


def _has_port(domain: str) -> bool:
    return domain.rpartition(":")[2].isdigit()
