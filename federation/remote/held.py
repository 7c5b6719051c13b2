"""Stores posts of other servers that were held for review and that staff have approved."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import orjson
from django.db import transaction

from federation.documents.reading import Rejected
from federation.documents.received_notes import read_note
from federation.remote.posts import keep_note
from statuses.events import HeldPostApproved
from statuses.models import HeldPost

logger = logging.getLogger(__name__)


def publish_approved(events: Sequence[HeldPostApproved]) -> None:
    """The reaction to HeldPostApproved: the post is stored as it came, with the time at which it was written.

    One that its author has deleted meanwhile, or whose author is suspended now, is dropped.
    """
    for event in events:
        held = HeldPost.objects.select_related("account", "recipient").filter(id=event.held_id).first()
        if held is not None and held.document is not None and held.approved_at is not None:
            _publish(held, held.document)


def _publish(held: HeldPost, document: str) -> None:
    note = read_note(orjson.loads(document))
    with transaction.atomic():
        try:
            with transaction.atomic():
                keep_note(note, held.account, publish_event=held.announced, recipient=held.recipient, reviewed=True)
        except Rejected as reason:
            logger.info("The approved post %s is dropped: %s", held.uri, reason)
        HeldPost.objects.filter(id=held.id).delete()
