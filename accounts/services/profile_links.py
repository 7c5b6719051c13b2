"""Verifies the links in profile fields in the background."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from django.db import transaction

from accounts.events import ProfileLinksChanged
from accounts.models import Account
from accounts.policies.audience import is_present
from accounts.policies.profile_links import link_of_field, links_back
from accounts.services.changing import change_account
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.http.client import Request, Response, fetch_async, run

_CHECK_SECONDS: Final = 8.0
PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")


def links_to_verify(fields: Iterable[Mapping[str, Any]], *, local: bool = True) -> list[str]:
    """Return the links in these fields that can be verified and have not been verified yet."""
    links = (link_of_field(item, local=local) for item in fields if item.get("verified_at") is None)
    return list(dict.fromkeys(link for link in links if link is not None))


def verify_profile_links(events: Sequence[ProfileLinksChanged]) -> None:
    """Handle ProfileLinksChanged: fetch the pages that local accounts link to, and store which of them link back.

    Only the address that is shown counts, over https and without redirects (security row 3). A page that does not
    respond stays unverified until the fields change again.
    """
    account_ids = {event.account_id for event in events}
    accounts = Account.objects.filter(is_present(), id__one_of=account_ids, domain=None)
    links = [(account, link) for account in accounts for link in links_to_verify(account.fields)]
    pages = run(_fetch_all([link for _account, link in links]))
    verified: dict[int, set[str]] = {}
    for (account, link), page in zip(links, pages, strict=True):
        if page is not None and links_to(account, page):
            verified.setdefault(account.id, set()).add(link)
    for account_id, found in verified.items():
        remember_verified(account_id, found)


def links_to(account: Account, page: Response) -> bool:
    """Tell whether the page was found and links back to the account."""
    addresses = (account.page_url, account.uri)
    return page.status == 200 and links_back(page.body.decode("utf-8", "replace"), addresses)


async def _fetch_all(links: Iterable[str]) -> list[Response | None]:
    return await asyncio.gather(*map(_fetch_page, links))


async def _fetch_page(link: str) -> Response | None:
    try:
        return await fetch_async(Request(link, accept=PAGE_TYPES, deadline=_CHECK_SECONDS, redirects=0))
    except Unavailable:
        return None


def remember_verified(account_id: int, verified: Collection[str]) -> None:
    """Mark these links as verified in the fields that still show them, if the account still exists."""
    moment = clock.iso(clock.now())
    with transaction.atomic():
        # The fields may have changed while the pages were fetched.
        account = Account.objects.select_for_update(no_key=True).filter(id=account_id).first()
        if account is None:
            return
        fields = [
            {**item, "verified_at": moment}
            if item.get("verified_at") is None and link_of_field(item, local=account.local) in verified
            else item
            for item in account.fields
        ]
        if fields != account.fields:
            change_account(account_id, fields=fields)
