"""Stores activities that are to be forwarded to followers of local accounts that have boosted or quoted the post, or to whose
post it replies.
"""

from __future__ import annotations

from typing import Final

import orjson

from accounts.services.instance_actor import instance_actor
from federation.events import ForwardingDue
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import host_of
from federation.models import OutboundActivity
from federation.remote.sharing import sharers_of
from social.api.admission import count
from social.api.limits import FORWARDED
from social.kernel.events import publish
from statuses.models import Status

BYTES: Final = 1 << 16
"""Maximum size of a forwarded activity, which may go to very many servers."""


def forward(incoming: Incoming, status: Status) -> None:
    """Forward an activity that its own actor has sent about its own public or unlisted post. The activity is sent unchanged:
    other servers can verify it by the author's signature, if the activity contains one (contract, federation sections 10 and
    11).

    Publishes ForwardingDue in the caller's transaction. Nothing is forwarded when `sharers_of` finds no local account.
    The author's server and each of these local accounts have an hourly limit, above which only a Delete is still
    forwarded.
    """
    body = orjson.dumps(incoming.document)
    # An activity without @context was part of a collection: it cannot be read alone.
    if incoming.uri is None or "@context" not in incoming.document or len(body) > BYTES:
        return
    people = sharers_of(status)
    if not people or (incoming.kind != "Delete" and _is_too_much(host_of(incoming.actor.uri), *people)):
        return
    activity = OutboundActivity.objects.create(
        # Signed by the instance actor, never by a user: another server may interpret the document differently, at the expense
        # of the signer (security row 9). A user's signature would also reveal who has boosted the post.
        account=instance_actor(),
        type=incoming.kind,
        uri=incoming.uri,
        body=body.decode(),
    )
    publish(ForwardingDue(activity_id=activity.id, status_id=status.id))


def _is_too_much(*subjects: str | int) -> bool:
    counts = [count(FORWARDED, subject=str(subject)) for subject in subjects]
    return any(total is not None and total.exceeded for total in counts)
