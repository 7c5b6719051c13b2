"""The tables of federation: what came in, what goes out, and what is known of other servers."""

from __future__ import annotations

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
    """Signed activity that was received. `body` is the JSON as it was sent, of `size` bytes, and empty once it was acted
    upon; `host` is its actor's; `fingerprint` is made of the key's id and the signature.

    The same signature a second time is a replay: the unique fingerprint refuses it (security row 11). `outcome` says
    what became of it, for people who look. `recipient` is whose inbox it came to, None for the shared one.
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
    """Kinds of documents to fetch, by what they are wanted for."""

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
    """A document to be fetched from `host`, once however many want it.

    `uri` is the id of the post (of a quote that of the quoting one), of a collection or the item of one, of the actor (of what
    hangs on a profile whose it is; a `PERSON` is unknown here and mentioned by posts), or the number of the activity; of the
    followers of an activity's actor their address, with their digest as its fragment; of a server's NodeInfo its address, with
    the server's domain as its fragment. `remaining` is how many posts above this one may still be fetched for the activity
    that began it.
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
    """Reading of the thread around a post of another server, begun for somebody who opened it.

    `found` counts posts that were unknown here, `actors` their authors; `posts` and `pages` are marks of what was asked
    for: its budget, and what keeps it from going round in circles.
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
    """Steps of reading a thread: a post and the answers that it names, a page of answers, a post above."""

    POST = "post"
    PAGE = "page"
    ABOVE = "above"


class ThreadStep(WaitingRow):
    """A document that is to be fetched for a thread; of a page, `remaining` is how many posts of its collection still count."""

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
    """An account to be found by its address (lower case, Punycode), once however many want it. One that is given up was
    not found.
    """

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
    """An activity as it will be sent, signed by `account`; deleted with the last of its deliveries.

    With `synchronizes` each server learns which of its people are known to follow the account.
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
    """Sending of one activity to one inbox.

    Deliveries of one `key` (the thing they are about, `status:12`) to one inbox go out in the order of their ids.
    It is dead when the receiver refused it for good, or after the last attempt.
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
    """Answer of a relay to the subscription."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Relay(models.Model):
    """A relay to which this server has subscribed with the Follow `follow_uri`: once it has accepted, it gets public posts,
    and what it names is fetched.
    """

    inbox_url = models.TextField(unique=True)
    follow_uri = models.TextField(unique=True)
    state = models.TextField(choices=RelayState, default=RelayState.PENDING)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("federation_relay_lengths", inbox_url=URI_LIMIT, follow_uri=URI_LIMIT, state=WORD_LIMIT),
        ]

    def __str__(self) -> str:
        return self.inbox_url


class Tombstone(models.Model):
    """The id of a remote object that was deleted, or (with `expires_at`) of what was deleted or undone before it came.

    A late Create of it by the same actor is refused (contract, federation sections 5 and 7): nobody can forbid what
    others of the same server will write (security row 8). An actor's own has its id twice.
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
