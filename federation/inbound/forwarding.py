"""Stores activities that are to be forwarded to followers of local accounts."""

from typing import Final

import orjson

from accounts.services.instance_actor import instance_actor
from federation.events import ForwardingDue
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import host_of
from federation.models import OutboundActivity
from federation.remote.sharing import sharers_of
from social.api.admission import is_exceeded
from social.api.limits import FORWARDED
from social.kernel.events import publish
from statuses.models import Status

BODY_LIMIT: Final = 1 << 16
"""Maximum size of a forwarded activity, which may be sent to very many servers."""


def forward(incoming: Incoming, status: Status) -> None:
    """Forward an activity that its actor has sent about its own public or unlisted post. The activity is forwarded unchanged,
    so that other servers can verify the author's signature in it (contract, federation sections 10 and 11).

    Publishes ForwardingDue in the caller's transaction, unless `sharers_of` finds no local account. If the hourly limit of the
    author's server or of a local account is exceeded, only a Delete is forwarded.
    """
    body = orjson.dumps(incoming.document)
    # An activity without @context was part of a collection, and cannot be read outside of that collection.
    if incoming.uri is None or "@context" not in incoming.document or len(body) > BODY_LIMIT:
        return
    people = sharers_of(status)
    if not people:
        return
    counted = (host_of(incoming.actor.uri), *people) if incoming.kind != "Delete" else ()
    exceeded = [is_exceeded(FORWARDED, subject=str(subject)) for subject in counted]
    if any(exceeded):
        return
    activity = OutboundActivity.objects.create(
        # The instance actor signs the request, never a user, because another server may read the document differently from this
        # server and hold the signer responsible (security row 9). A user's signature would also reveal who has boosted the
        # post.
        account=instance_actor(),
        type=incoming.kind,
        uri=incoming.uri,
        body=body.decode(),
    )
    publish(ForwardingDue(activity_id=activity.id, status_id=status.id))
