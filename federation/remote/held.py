"""Reads posts of other servers that are held for review, and stores those that staff have approved."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

import orjson
from django.db import IntegrityError, transaction

from accounts.models import Account
from federation.documents.reading import Rejected
from federation.documents.received_notes import read_note
from federation.remote.posts import keep_note, revise_note, shows_pictures
from federation.remote.references import check_id
from social.kernel.errors import Forbidden
from social.kernel.locks import lock
from statuses.events import HeldPostApproved
from statuses.models import HeldPost, MediaAttachment, Status
from statuses.policies.visibility import boost_visibility
from statuses.queries.statuses import list_statuses
from statuses.services.interactions import reblog_status
from statuses.services.receiving import media_of

logger = logging.getLogger(__name__)


class HeldDocuments:
    """The answerer of `statuses.ports.remote_documents`."""

    def read_files(self, author: Account, document: str) -> Sequence[MediaAttachment]:
        """The files that the post would have, without rows; none of a server whose pictures are not taken in."""
        note = read_note(orjson.loads(document))
        return [media_of(author, file) for file in note.files] if shows_pictures(author) else []


def publish_approved(events: Sequence[HeldPostApproved]) -> None:
    """The reaction to HeldPostApproved: the post is stored as it came, with the time at which it was written.

    One that its author has deleted meanwhile, or whose author is suspended now, is dropped.
    """
    for event in events:
        held = HeldPost.objects.select_related("account", "recipient", "status").filter(id=event.held_id).first()
        if held is not None and held.document is not None and held.approved_at is not None:
            _publish(held, held.document)


def _publish(held: HeldPost, document: str) -> None:
    note = read_note(orjson.loads(document))
    with transaction.atomic():
        # A boost that comes now waits, and finds the post.
        HeldPost.objects.select_for_update().filter(id=held.id).first()
        try:
            with transaction.atomic():
                if held.status is not None:
                    revise_note(held.status, note, held.recipient, reviewed=True, sent=True)
                else:
                    status = keep_note(
                        note, held.account, publish_event=held.announced, recipient=held.recipient, reviewed=True
                    )
                    if status is not None:
                        _boost(held, status)
        except Rejected as reason:
            logger.info("The approved post %s is dropped: %s", held.uri, reason)
        HeldPost.objects.filter(id=held.id).delete()


def _boost(held: HeldPost, status: Status) -> None:
    """Store the boosts that came while the post was held; those that may not be, or whose id was taken, are dropped."""
    for boost in held.boosts.select_related("account").order_by("id"):
        if not list_statuses(boost.account_id).filter(id=status.id).exists() or boost.account.suspended:
            continue
        with suppress(Forbidden, IntegrityError, Rejected), transaction.atomic():
            lock(f"object:{boost.uri}")
            check_id(boost.uri, boost.account.uri, Status)
            reblog_status(
                account=boost.account,
                status=status,
                visibility=boost_visibility(status.visibility, boost.visibility),
                uri=boost.uri,
                created_at=boost.created_at,
            )
