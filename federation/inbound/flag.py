"""Acts upon a Flag: a report about people of this server (contract, federation section 7)."""

from __future__ import annotations

from typing import Final

from federation.documents.reading import Rejected, text_of, uris_of
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import host_of
from federation.remote.references import find_account_by_uri, find_post_by_uri, own_collection_id
from moderation.models.report import REMOTE_COMMENT_LIMIT
from moderation.queries.blocks import rule_for
from moderation.services.reports import receive_report
from social.api.admission import count
from social.api.limits import REPORTS_OF_HOST
from statuses.models import Status

OBJECTS_LIMIT: Final = 100
"""Accounts and posts that one report may name; more are passed over."""


def handle(incoming: Incoming) -> None:
    """A report about each account of ours that is named, with its collections and those of its posts that the server may
    have. Staff could find nothing among what one hostile server may send: more than REPORTS_OF_HOST are refused.
    """
    rule = rule_for(incoming.actor.domain or "")
    if rule is not None and rule.reject_reports:
        raise Rejected("reports of this server are not taken")
    uri = incoming.needed_uri()
    uris = uris_of(incoming.document.get("object"), OBJECTS_LIMIT)
    accounts = {account.id: account for name in uris if (account := find_account_by_uri(name)) is not None}
    # The actor of this server itself is nobody.
    targets = [one for one in accounts.values() if one.local and not one.suspended and hasattr(one, "user")]
    if not targets:
        raise Rejected("nobody of this server is reported")
    counted = count(REPORTS_OF_HOST, subject=host_of(incoming.actor.uri))
    if counted is not None and counted.exceeded:
        raise Rejected("too many reports of one server in a day")
    posts: list[Status] = [status for name in uris if (status := find_post_by_uri(name)) is not None and status.local]
    for target in targets:
        receive_report(
            account=incoming.actor,
            target=target,
            comment=text_of(incoming.document.get("content"), REMOTE_COMMENT_LIMIT),
            status_ids=[status.id for status in posts if status.account_id == target.id],
            collection_ids=[number for name in uris if (number := own_collection_id(name, target)) is not None],
            uri=uri,
        )
