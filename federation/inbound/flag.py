"""Handles a Flag: a report about local accounts (contract, federation section 7)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from federation.documents.reading import many, text_member, uris_of
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import host_of
from federation.reasons import Reason, Rejected
from federation.remote.references import (
    find_account_by_uri,
    find_owner_of_collection,
    find_post_by_uri,
    own_collection_id,
)
from moderation.models.report import REMOTE_COMMENT_LIMIT
from moderation.queries.blocks import rule_for
from moderation.services.reports import receive_report
from social.api.admission import is_exceeded
from social.api.limits import REPORTS_OF_HOST
from social.kernel.links import is_own_domain, profile_url, web_url
from statuses.models import Status

# The reason for the report is its content or, from Lemmy, its summary.
_REASONS: Final = ("content", "summary")
# URL of a local profile with the domain in its path, as clients build it for remote profiles.
_PERSON_WITH_DOMAIN: Final = re.compile(r"(/@[A-Za-z0-9_.-]+)@[^/]+")
OBJECTS_LIMIT: Final = 100
"""Maximum number of accounts and posts that are read from one report; the rest are ignored."""


def handle(incoming: Incoming) -> None:
    """Store a report about each local account that the Flag names or, if it names none, about the owners of the named posts and
    collections.

    A report contains the account's posts and collections that the Flag names, if the reporting server may know them. Reports
    beyond REPORTS_OF_HOST are rejected, so that a hostile server cannot bury the reports of others.
    """
    rule = rule_for(incoming.actor.domain or "")
    if rule is not None and rule.reject_reports:
        raise Rejected(Reason.REPORTS_NOT_TAKEN)
    uri = incoming.needed_or_made_uri()
    uris = list(dict.fromkeys(_reported_uris(incoming.document.get("object"))))[:OBJECTS_LIMIT]
    posts: list[Status] = [status for name in uris if (status := find_post_by_uri(name)) is not None and status.local]
    reported_accounts = [account for name in uris if (account := find_account_by_uri(name)) is not None]
    owners = reported_accounts or [status.account for status in posts] + [
        one for one in map(find_owner_of_collection, uris) if one
    ]
    accounts = {one.id: one for one in owners}
    # The instance actor cannot be reported, because it has no user.
    targets = [one for one in accounts.values() if one.local and not one.suspended and hasattr(one, "user")]
    if not targets:
        raise Rejected(Reason.NOBODY_REPORTED)
    if is_exceeded(REPORTS_OF_HOST, subject=host_of(incoming.actor.uri)):
        raise Rejected(Reason.TOO_MANY_REPORTS)
    texts = (text_member(incoming.document, name, REMOTE_COMMENT_LIMIT) for name in _REASONS)
    comment = next(filter(None, texts), "")
    for target in targets:
        receive_report(
            account=incoming.actor,
            target=target,
            comment=comment,
            status_ids=[status.id for status in posts],
            collection_ids=[number for name in uris if (number := own_collection_id(name, target)) is not None],
            uri=uri,
        )


def _reported_uris(value: Any) -> Iterator[str]:
    """Yield the ids of the reported objects, which may be ids, pages, `acct:` addresses or embedded objects, even inside a
    Create or a collection.
    """
    for item in many(value)[:OBJECTS_LIMIT]:
        members = item if isinstance(item, Mapping) else {}
        pages = [page.get("href") if isinstance(page, Mapping) else page for page in many(members.get("url"))]
        names = (
            item,
            members.get("object"),
            members.get("href"),
            pages,
            members.get("items"),
            members.get("orderedItems"),
        )
        yield from (_own_address(uri) for name in names for uri in uris_of(name, OBJECTS_LIMIT))


def _own_address(uri: str) -> str:
    """Return the address of an object of this server in its usual form (such as `/@ada` for `acct:ada@here`); any other address
    unchanged.
    """
    username, _at, domain = uri.removeprefix("acct:").removeprefix("@").partition("@")
    if "/" not in uri and is_own_domain(domain):
        return profile_url(username)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = _PERSON_WITH_DOMAIN.sub(r"\1", parts.path)
    return web_url(path) if is_own_domain(parts.netloc) else uri
