"""Handles a Flag: a report about local accounts (contract, federation section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from federation.documents.reading import Rejected, many, text_member, uris_of
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import host_of
from federation.reasons import Reason
from federation.remote.references import (
    find_account_by_uri,
    find_owner_of_collection,
    find_post_by_uri,
    own_collection_id,
)
from moderation.models.report import REMOTE_COMMENT_LIMIT
from moderation.queries.blocks import rule_for
from moderation.services.reports import receive_report
from social.api.admission import count
from social.api.limits import REPORTS_OF_HOST
from social.kernel.links import is_own_domain, profile_url, web_url
from statuses.models import Status

_REASONS: Final = ("content", "summary")
# A page of a person here with the domain in its path, as clients show pages of people elsewhere.
_PERSON_WITH_DOMAIN: Final = re.compile(r"(/@[A-Za-z0-9_.-]+)@[^/]+")
OBJECTS_LIMIT: Final = 100
"""Maximum number of accounts and posts that are read from one report; further ones are ignored."""


def handle(incoming: Incoming) -> None:
    """Store a report about each local account that the Flag names or, if it names none, about the owners of the posts and
    collections that it names.

    Each report contains those of the named posts and collections that belong to its account and that the reporting
    server may know. Reports beyond REPORTS_OF_HOST are rejected: if a hostile server sent very many, staff could not
    find the others.
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
    # The instance actor cannot be reported: it has no user.
    targets = [one for one in accounts.values() if one.local and not one.suspended and hasattr(one, "user")]
    if not targets:
        raise Rejected(Reason.NOBODY_REPORTED)
    report_count = count(REPORTS_OF_HOST, subject=host_of(incoming.actor.uri))
    if report_count is not None and report_count.exceeded:
        raise Rejected(Reason.TOO_MANY_REPORTS)
    comment = _reason(incoming.document)
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
    """Yield the ids of the reported objects: each may be given by its id, embedded, by the address of its page or the
    `acct:` address of a person, as the object of a Create, or in a collection.
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
    """Return an address of something on this server in the form that this server gives it; any other address unchanged."""
    username, _at, domain = uri.removeprefix("acct:").removeprefix("@").partition("@")
    if "/" not in uri and is_own_domain(domain):
        return profile_url(username)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = _PERSON_WITH_DOMAIN.sub(r"\1", parts.path)
    return web_url(path) if is_own_domain(parts.netloc) else uri


def _reason(document: Mapping[str, Any]) -> str:
    """Return the reporter's comment: the content, or else the summary, as Lemmy sends it; the first of several translations."""
    return next((text for name in _REASONS if (text := text_member(document, name, REMOTE_COMMENT_LIMIT))), "")
