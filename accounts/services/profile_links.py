"""Verifies the links in the tables of profiles, in the background."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.db import transaction

from accounts.events import ProfileLinksChanged
from accounts.models import Account
from accounts.policies.profile_links import link_to_verify, links_back
from accounts.services.changing import change_account
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.http.client import fetch

_SECONDS: Final = 8.0


def links_to_verify(fields: Iterable[Mapping[str, Any]]) -> list[str]:
    """The addresses in these fields that are not verified yet and may be."""
    found = (link_to_verify(item["value"]) for item in fields if item.get("verified_at") is None)
    return list(dict.fromkeys(link for link in found if link is not None))


def verify_profile_links(events: Sequence[ProfileLinksChanged]) -> None:
    """Ask the pages that local accounts link to whether they link back, and remember when they did.

    A page is asked over https at exactly the address that is shown: a redirect is no answer (security row 3). A page that
    does not answer stays unverified until the fields change again.
    """
    for account_id in {event.account_id for event in events}:
        account = Account.objects.filter(id=account_id, domain=None, suspended_at=None).first()
        if account is None:
            continue
        addresses = (account.page_url, account.uri)
        verified = {link for link in links_to_verify(account.fields) if _page_links_back(link, addresses)}
        if verified:
            _remember(account_id, verified)


def _page_links_back(link: str, addresses: Sequence[str]) -> bool:
    try:
        response = fetch(link, accept=("text/html", "application/xhtml+xml"), deadline=_SECONDS, redirects=0)
    except Unavailable:
        return False
    return response.status == 200 and links_back(response.body.decode("utf-8", "replace"), addresses)


def _remember(account_id: int, verified: set[str]) -> None:
    moment = clock.iso(clock.now())
    with transaction.atomic():
        # The fields may have changed while the pages were asked.
        account = Account.objects.select_for_update(no_key=True).get(id=account_id)
        fields = [
            {**item, "verified_at": moment}
            if item.get("verified_at") is None and link_to_verify(item["value"]) in verified
            else item
            for item in account.fields
        ]
        if fields != account.fields:
            change_account(account_id, fields=fields)
