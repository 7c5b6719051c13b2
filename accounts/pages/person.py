"""Pages about a person: the data of `pages/person.html`, and the collections of an account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.models import Account
from accounts.queries.collections import find_shown, load_members
from accounts.serializers.account import picture_url
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from social.kernel.text.names import unambiguous_domain, visible_text
from social.pages.frame import show


@dataclass(frozen=True)
class Person:
    """An account on a page. `name` is what they call themselves, `address` who they are."""

    name: str
    address: str
    url: str
    avatar: str


def shown_person(account: Account) -> Person:
    """The names cannot be taken for those of somebody else (security row 62)."""
    return shown_author(
        {
            "username": account.username,
            "acct": account.acct,
            "display_name": account.display_name,
            "url": account.page_url,
            "avatar": picture_url(account, "avatar"),
        }
    )


def shown_author(account: Mapping[str, Any]) -> Person:
    """The same of the entity "Account"."""
    username, domain = account["username"], account["acct"].partition("@")[2]
    return Person(
        name=visible_text(account["display_name"]) or username,
        address=f"@{username}@{unambiguous_domain(domain or settings.LOCAL_DOMAIN)}",
        url=path_of(account["url"]),
        avatar=path_of(account["avatar"]),
    )


def path_of(url: str | None) -> str:
    """The path of an address of this server, which may be read by another name of it; others as they are, none as ""."""
    return (url or "").removeprefix(settings.BASE_URL)


def person(account: Account) -> dict[str, Any]:
    """The context of `pages/person.html`."""
    return {"account": account, "person": shown_person(account)}


@require_safe
def collection(request: HttpRequest, id: str) -> HttpResponse:
    """`/collections/:id`, as anybody may see it. Raises NotFound."""
    number = require_found(parse_id(id))
    shown = find_shown(number, None)
    owner, *members = load_members(shown)
    context = {
        "name": visible_text(shown.collection.name),
        "description": visible_text(shown.collection.description or ""),
        "sensitive": shown.collection.sensitive,
        "owner": shown_person(owner),
        "members": [shown_person(member) for member in members],
    }
    return show(request, "accounts/collection.html", context)
