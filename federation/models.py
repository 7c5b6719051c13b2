"""Tables of federation: received activities, fetches, sent activities with their deliveries, relays and tombstones."""

from enum import StrEnum

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from federation.events import DeliveriesDue, FetchesDue, LookupsDue, ThreadsDue
from social.kernel import clock
from social.kernel.lengths import (
    ADDRESS_LIMIT,
    DOCUMENT_LIMIT,
    HOST_LIMIT,
    MESSAGE_LIMIT,
    NAME_LIMIT,
    URI_LIMIT,
    WORD_LIMIT,
    lengths,
)
from social.kernel.runner import WaitingRow, WantedRow
from statuses.models import Status


class InboundActivity(models.Model):
    """A signed activity that was received.

    `body` is the JSON as it was sent (`size` bytes), and is emptied after processing. `host` is the actor's host. `fingerprint`
    is a hash of the key's id and the signature: its unique constraint refuses a replay (security row 11). `outcome` is shown to
    staff. `recipient` is None for the shared inbox.
    """

    fingerprint = models.TextField(unique=True)
    actor = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    recipient = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    type = models.TextField()
    uri = models.TextField(default="")
    body = models.TextField()
    host = models.TextField(default="")
    size = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    outcome = models.TextField(default="")
    received_at = models.DateTimeField(default=clock.now)
    processed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("inbound activity")
        verbose_name_plural = _("inbound activities")
        constraints = [
            lengths(
                "federation_inboundactivity_lengths",
                fingerprint=NAME_LIMIT,
                type=NAME_LIMIT,
                uri=URI_LIMIT,
                body=DOCUMENT_LIMIT,
                host=HOST_LIMIT,
                outcome=MESSAGE_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["actor", "id"], name="federation_inbound_actor"),
            models.Index(
                fields=["host", "actor"], name="federation_inbound_waiting", condition=Q(processed_at__isnull=True)
            ),
            models.Index(
                fields=["recipient"], name="federation_inbound_recipient", condition=Q(recipient__isnull=False)
            ),
            models.Index(
                fields=["processed_at"], name="federation_inbound_processed", condition=Q(processed_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uri}"


class FetchKind(StrEnum):
    """Kinds of fetches, by their purpose."""

    ACTIVITY = "activity"
    POST = "post"
    ACTOR = "actor"
    QUOTE = "quote"
    EDIT = "edit"
    FOLLOWERS = "followers"
    PINS = "pins"
    PROFILE = "profile"
    LINKS = "links"
    OUTBOX = "outbox"
    COLLECTIONS = "collections"
    FEATURED = "featured"
    COLLECTION = "collection"
    SOFTWARE = "software"
    PERSON = "person"


class Fetch(WantedRow):
    """A document to be fetched from `host`. Several posts or activities that need the document share one row.

    The meaning of `uri` depends on `kind`. `uri` is the id of a post (for QUOTE, of the quoting post), a collection or an item;
    the id of an actor, even if only a part of the profile is fetched; or the number of an activity. For FOLLOWERS, `uri` is the
    address of the collection with the digest as fragment; for SOFTWARE, the address of the NodeInfo with the server's domain as
    fragment. `remaining` is the number of parent posts that may still be fetched.
    """

    queue = "fetches"
    due = FetchesDue

    kind = models.TextField()
    uri = models.TextField()
    activity = models.ForeignKey(InboundActivity, null=True, on_delete=models.CASCADE, related_name="+")
    remaining = models.PositiveSmallIntegerField(default=0)

    class Meta(WantedRow.Meta):
        constraints = [
            lengths(
                "federation_fetch_lengths",
                last_error=MESSAGE_LIMIT,
                kind=WORD_LIMIT,
                uri=ADDRESS_LIMIT,
                host=HOST_LIMIT,
                wanted_by=HOST_LIMIT,
            ),
            models.UniqueConstraint(fields=["kind", "uri"], name="federation_fetch_once"),
        ]


class ThreadWalk(models.Model):
    """Crawl of the thread around a remote post, started by a viewer who opened the post.

    `found` counts the new posts, `actors` the fetched authors. `posts` and `pages` are hashes of the fetched addresses: they
    count against the limits, and prevent loops.
    """

    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="+")
    begun_at = models.DateTimeField(default=clock.now, db_index=True)
    found = models.PositiveIntegerField(default=0)
    actors = models.PositiveIntegerField(default=0, db_default=0)
    posts = ArrayField(models.BigIntegerField(), default=list)
    pages = ArrayField(models.BigIntegerField(), default=list)

    def __str__(self) -> str:
        return f"thread of {self.status_id}"


class StepKind(StrEnum):
    """Steps of a crawl: a post with the replies that it lists, a page of replies, a parent post."""

    POST = "post"
    PAGE = "page"
    ABOVE = "above"


class ThreadStep(WaitingRow):
    """A document to be fetched for a thread; for a page, `remaining` is the number of posts that may still be fetched."""

    queue = "threads"
    due = ThreadsDue

    walk = models.ForeignKey(ThreadWalk, on_delete=models.CASCADE, related_name="steps", db_index=False)
    kind = models.TextField()
    uri = models.TextField()
    remaining = models.PositiveSmallIntegerField(default=0)

    class Meta(WaitingRow.Meta):
        constraints = [
            lengths(
                "federation_threadstep_lengths",
                last_error=MESSAGE_LIMIT,
                kind=WORD_LIMIT,
                uri=ADDRESS_LIMIT,
                host=HOST_LIMIT,
            ),
            models.UniqueConstraint(fields=["walk", "uri"], name="federation_threadstep_once"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uri}"


class Lookup(WantedRow):
    """An account to be looked up by its address (lower case, Punycode). A dead row means that the account was not found."""

    queue = "lookups"
    due = LookupsDue

    address = models.TextField(unique=True)

    class Meta(WantedRow.Meta):
        constraints = [
            lengths(
                "federation_lookup_lengths",
                last_error=MESSAGE_LIMIT,
                address=ADDRESS_LIMIT,
                host=HOST_LIMIT,
                wanted_by=HOST_LIMIT,
            )
        ]


class OutboundActivity(models.Model):
    """An activity that `account` sends and signs. The row is removed with its last delivery. With `synchronizes`, a header lets
    each server compare its own list of the account's followers on that server (FEP-8fcf).
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    type = models.TextField()
    uri = models.TextField()
    body = models.TextField()
    synchronizes = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("outbound activity")
        verbose_name_plural = _("outbound activities")
        constraints = [
            lengths("federation_outboundactivity_lengths", type=WORD_LIMIT, uri=URI_LIMIT, body=DOCUMENT_LIMIT)
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uri}"


class Delivery(WaitingRow):
    """An activity that is to be sent to an inbox.

    Deliveries with the same `key` (their subject, such as `status:12`) to the same inbox are sent in the order of their ids. A
    delivery is dead after a permanent refusal, or after the last attempt.
    """

    queue = "deliveries"
    due = DeliveriesDue
    ordering_key = ("key", "inbox_url")

    activity = models.ForeignKey(OutboundActivity, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    inbox_url = models.TextField()
    key = models.TextField()

    class Meta(WaitingRow.Meta):
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [
            lengths(
                "federation_delivery_lengths",
                last_error=MESSAGE_LIMIT,
                inbox_url=URI_LIMIT,
                host=HOST_LIMIT,
                key=NAME_LIMIT,
            ),
            models.UniqueConstraint(fields=["activity", "inbox_url"], name="federation_delivery_once"),
        ]
        indexes = [
            WaitingRow.Meta.indexes[0],
            models.Index(
                fields=["key", "inbox_url", "id"],
                name="federation_delivery_lane",
                condition=Q(dead_at__isnull=True),
            ),
            models.Index(fields=["dead_at"], name="federation_delivery_given_up", condition=Q(dead_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.activity_id} -> {self.inbox_url}"


class RelayState(models.TextChoices):
    """States of a subscription to a relay."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Relay(models.Model):
    """A relay that this server has subscribed to with the Follow `follow_uri`. Public posts are sent to an accepted relay, and
    the posts that it announces are fetched.
    """

    inbox_url = models.TextField(unique=True)
    follow_uri = models.TextField(unique=True)
    state = models.TextField(choices=RelayState, default=RelayState.PENDING)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("relay")
        verbose_name_plural = _("relays")
        constraints = [
            lengths("federation_relay_lengths", inbox_url=URI_LIMIT, follow_uri=URI_LIMIT, state=WORD_LIMIT),
        ]

    def __str__(self) -> str:
        return self.inbox_url


class Tombstone(models.Model):
    """The id of a remote object that was deleted, or (with `expires_at`) that was deleted or undone before it arrived.

    A late Create of the object by the same actor is refused (contract, federation sections 5 and 7); another actor of the same
    server cannot block the id (security row 8). For a deleted actor, `uri` and `actor_uri` are equal.
    """

    uri = models.TextField()
    actor_uri = models.TextField()
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            lengths("federation_tombstone_lengths", uri=URI_LIMIT, actor_uri=URI_LIMIT),
            models.UniqueConstraint(fields=["actor_uri", "uri"], name="federation_tombstone_once"),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="federation_tombstone_expiry",
                condition=models.Q(expires_at__isnull=False),
            )
        ]
