"""People on pages: the data of `pages/person.html`, and the signed-in reader of a page."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from accounts.emojis.pages import with_emojis
from accounts.models import Account, User
from accounts.serializers.account import picture_urls, present_accounts
from social.kernel.text.markup import plain
from social.kernel.text.names import unambiguous_domain, visible_text
from social.pages.frame import path_of, url_of

_LINK: Final = (
    '<a class="person" href="{}"><img src="{}" alt="" width="48" height="48"><span><strong><bdi>{}</bdi></strong>'
    ' <span class="address" dir="ltr">{}</span></span></a>'
)


@dataclass(frozen=True)
class Person:
    """An account on a page: display name, address, still picture; `shown` is the name with emojis as pictures."""

    name: str
    address: str
    url: str
    avatar: str
    shown: SafeString

    @property
    def link(self) -> SafeString:
        """Return the account as a link with picture, name and address, without a template, because pages show many people."""
        return format_html(_LINK, self.url, self.avatar, self.shown, self.address)


def shown_person(account: Account) -> Person:
    """Return the account as pages show it; its names cannot be mistaken for another account's (security row 62)."""
    return shown_author(
        {
            "username": account.username,
            "acct": account.acct,
            "display_name": account.display_name,
            "url": account.page_url,
            "avatar_static": picture_urls(account, "avatar")[1],
        }
    )


def shown_author(account: Mapping[str, Any], *, member: bool = False) -> Person:
    """Return `shown_person` for an Account entity; for a `member`, remote accounts link to their page on this server."""
    username, domain = account["username"], account["acct"].partition("@")[2]
    name = visible_text(account["display_name"]) or username
    return Person(
        name=name,
        address=f"@{username}@{unambiguous_domain(domain or settings.LOCAL_DOMAIN)}",
        url=(url_of("remote_profile", acct=account["acct"]) if member and domain else "") or path_of(account["url"]),
        avatar=path_of(account["avatar_static"]),
        shown=with_emojis(escape(name), account.get("emojis", ())),
    )


def load_entities(account_ids: Iterable[int], viewer_id: int | None = None) -> list[dict[str, Any]]:
    """Return the Account entities as the viewer sees them, in the order of the ids; suspended accounts are left out."""
    return [entity for entity in present_accounts(account_ids, viewer_id).values() if not entity.get("suspended")]


def shown_biography(entity: Mapping[str, Any]) -> SafeString:
    """Return the biography in an Account entity, as text."""
    return with_emojis(escape(" ".join(visible_text(plain(entity["note"])).split())), entity["emojis"])


def reader(request: HttpRequest) -> dict[str, Callable[[], Person | None]]:
    """Context processor for the reader in the header of a page; it runs a query only if the header is shown."""

    def find() -> Person | None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not isinstance(request.user, User):
            return None
        return shown_person(request.user.account)

    return {"reader": find}


def person(account: Account) -> dict[str, Any]:
    return {"account": account, "person": shown_person(account)}
