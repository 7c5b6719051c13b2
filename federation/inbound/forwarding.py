"""Has activities about posts that are known through people here passed on to the followers of those people."""

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
"""Larger activities are not passed on: each goes to as many servers as somebody has followers on."""


def forward(incoming: Incoming, status: Status) -> None:
    """Pass on an activity that its own actor has sent about a public post of its own, as it came: with the signature of its
    author in it if there is one, which others may believe (contract, federation sections 10 and 11).

    In the caller's transaction, announces ForwardingDue. Nothing happens when nobody here has made the post known, and when
    there were too many of one server or for one account within an hour; deletions always go on.
    """
    body = orjson.dumps(incoming.document)
    # Without a context it stood in a collection: nobody could read it alone.
    if incoming.uri is None or "@context" not in incoming.document or len(body) > BYTES:
        return
    people = sharers_of(status)
    if not people or (incoming.kind != "Delete" and _is_too_much(host_of(incoming.actor.uri), *people)):
        return
    activity = OutboundActivity.objects.create(
        # Never somebody's own key: to who reads the document otherwise than this server does it may say something else of
        # whoever signs it (security row 9). Nor is it for everybody to know who has boosted a post.
        account=instance_actor(),
        type=incoming.kind,
        uri=incoming.uri,
        body=body.decode(),
    )
    publish(ForwardingDue(activity_id=activity.id, status_id=status.id))


def _is_too_much(*subjects: str | int) -> bool:
    counts = [count(FORWARDED, subject=str(subject)) for subject in subjects]
    return any(counted is not None and counted.exceeded for counted in counts)
