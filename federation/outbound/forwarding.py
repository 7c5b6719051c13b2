"""Forwards activities of remote actors about posts that concern local accounts (contract, federation section 11)."""

from collections.abc import Sequence

from federation.documents.reading import origin_of
from federation.events import ForwardingDue
from federation.models import OutboundActivity
from federation.outbound.audience import followers_inboxes
from federation.outbound.queueing import drop_waiting, forget_delivered, send
from federation.remote.sharing import sharers_of
from statuses.models import Status


def send_forwarded(events: Sequence[ForwardingDue]) -> None:
    """Send each activity unchanged to the servers of the followers of the accounts that `sharers_of` finds, except to the
    server of the post's author.

    An Update replaces waiting Updates of the post. Once the post is deleted, the activity replaces all waiting activities about
    the post.
    """
    activities = OutboundActivity.objects.filter(id__one_of=[event.activity_id for event in events]).in_bulk()
    statuses = Status.objects.select_related("account").filter(id__one_of=[event.status_id for event in events])
    posts = statuses.in_bulk()
    for event in events:
        activity, status = activities.get(event.activity_id), posts.get(event.status_id)
        if activity is None or status is None:
            continue
        home, key = origin_of(status.account.uri), f"status:{status.id}"
        inboxes = {inbox for inbox in followers_inboxes(*sharers_of(status)) if origin_of(inbox) != home}
        if status.is_deleted or activity.type == "Update":
            drop_waiting(key, inboxes, None if status.is_deleted else activity.type)
        if not send(activity, inboxes=inboxes, key=key):
            forget_delivered([activity.id])
