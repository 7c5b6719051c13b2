"""Knows what a page shows of a person: `pages/person.html`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.templatetags.static import static

from accounts.models import Account


def person(account: Account) -> dict[str, Any]:
    """What `pages/person.html` shows of an account."""
    # A path, not an address: the page may be read by another name of this server, and shows pictures of its own only.
    avatar = f"{settings.MEDIA_URL}{account.avatar}" if account.avatar else static("avatar.png")
    return {"account": account, "avatar": avatar}
