"""What a page shows of a person: `pages/person.html`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts.models import Account
from accounts.serializers.account import picture_url
from social.kernel.text.names import unambiguous_domain, visible_text
from social.pages.frame import url_of


@dataclass(frozen=True)
class Person:
    """An account on a page. `name` is what they call themselves, `address` who they are."""

    name: str
    address: str
    url: str
    avatar: str


def shown_person(account: Account) -> Person:
    """The names cannot be taken for those of somebody else (security row 62)."""
    domain = account.domain or settings.LOCAL_DOMAIN
    # Paths, not addresses: the page may be read by another name of this server, and shows pictures of its own only.
    own = url_of("profile", username=account.username) if account.local else ""
    return Person(
        name=visible_text(account.display_name) or account.username,
        address=f"@{account.username}@{unambiguous_domain(domain)}",
        url=own or account.page_url,
        avatar=picture_url(account, "avatar").removeprefix(settings.BASE_URL),
    )


def person(account: Account) -> dict[str, Any]:
    """The context of `pages/person.html`."""
    return {"account": account, "person": shown_person(account)}
