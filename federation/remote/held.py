"""Reads remote posts that are held for review, and publishes the posts that staff have approved."""

import logging
from collections.abc import Sequence
from contextlib import suppress

import orjson
from django.db import IntegrityError, transaction

from accounts.models import Account
from federation.documents.received_notes import read_note
from federation.reasons import Rejected
from federation.remote import permitted, posts, references
from social.kernel.errors import Forbidden
from statuses.events import HeldPostApproved
from statuses.models import HeldPost, MediaAttachment, Status
from statuses.policies.visibility import boost_visibility
from statuses.queries.statuses import list_statuses
from statuses.services import interactions, receiving

logger = logging.getLogger(__name__)


class HeldDocuments:
    """Implementation of the port `statuses.ports.remote_documents`."""

    def read_files(self, author: Account, document: str) -> Sequence[MediaAttachment]:
        """Return the files that the post would have, as unsaved rows; none if files from the author's server are rejected."""
        note = read_note(orjson.loads(document))
        return [receiving.media_of(author, file) for file in note.files] if posts.shows_pictures(author) else []


def publish_approved(events: Sequence[HeldPostApproved]) -> None:
    """React to HeldPostApproved: publish the post as it was received, with its original time. The post is dropped if its author
    has deleted the post in the meantime, or is suspended now.
    """
    for event in events:
        held_post = HeldPost.objects.select_related("account", "recipient", "status").filter(id=event.held_id).first()
        if held_post is not None and held_post.document is not None and held_post.approved_at is not None:
            _publish(held_post, held_post.document)


def _publish(held_post: HeldPost, document: str) -> None:
    note = read_note(orjson.loads(document))
    with transaction.atomic():
        # The lock makes a boost that arrives now wait until the post is stored.
        HeldPost.objects.select_for_update().filter(id=held_post.id).first()
        try:
            with transaction.atomic():
                if held_post.status is not None:
                    posts.revise_note(held_post.status, note, held_post.recipient, reviewed=True, from_author=True)
                else:
                    status = posts.store_note(
                        note,
                        held_post.account,
                        publish_event=held_post.announced,
                        recipient=held_post.recipient,
                        reviewed=True,
                        request_uri=held_post.request_uri,
                    )
                    if status is not None:
                        permitted.authorize(status, held_post.request_uri)
                        _boost(held_post, status)
        except Rejected as reason:
            logger.info("The approved post %s is dropped: %s", held_post.uri, reason)
        HeldPost.objects.filter(id=held_post.id).delete()


def _boost(held_post: HeldPost, status: Status) -> None:
    """Store the boosts that arrived while the post was held. Boosts that are forbidden, or whose id is already taken, are
    dropped.
    """
    for boost in held_post.boosts.select_related("account").order_by("id"):
        if not list_statuses(boost.account_id).filter(id=status.id).exists() or boost.account.suspended:
            continue
        with suppress(Forbidden, IntegrityError, Rejected), references.claimed_id(boost.uri, boost.account.uri, Status):
            interactions.reblog_status(
                account=boost.account,
                status=status,
                visibility=boost_visibility(status.visibility, boost.visibility),
                uri=boost.uri,
                created_at=boost.created_at,
                approved=True,
            )
