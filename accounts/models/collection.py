"""Collections: lists of accounts that somebody recommends, shown to others."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models.account import Account
from accounts.models.tag import Tag
from social.kernel import clock, links
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import URI_LIMIT, WORD_LIMIT, lengths

NAME_LIMIT = 40
DESCRIPTION_LIMIT = 100
ITEMS_LIMIT = 25


class Collection(models.Model):
    """A named list of at most ITEMS_LIMIT accounts. One that is not discoverable is shown to who knows its id."""

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="collections", db_index=False)
    uri = models.TextField(null=True, unique=True)
    name = models.TextField()
    description = models.TextField(null=True)
    language = models.TextField(null=True)
    sensitive = models.BooleanField()
    discoverable = models.BooleanField()
    tag = models.ForeignKey(Tag, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_collection_lengths", uri=URI_LIMIT, language=WORD_LIMIT),
            models.CheckConstraint(
                condition=Q(name__length__lte=NAME_LIMIT) & (Q(description=None) | Q(description__length__lte=2000)),
                name="accounts_collection_length",
            ),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="accounts_collection_account")]

    def __str__(self) -> str:
        return self.name

    @property
    def page_url(self) -> str:
        """The address of its page."""
        return links.web_url(f"/collections/{self.id}")


class ItemState(models.TextChoices):
    """Agreement of an account to be in a collection."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVOKED = "revoked"


class CollectionItem(models.Model):
    """An account in a collection. One who left stays as REVOKED, so that they are not put in again."""

    id = SnowflakeField(primary_key=True)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="items", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="collection_items", db_index=False)
    state = models.TextField(choices=ItemState.choices, default=ItemState.ACCEPTED)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_collectionitem_lengths", state=WORD_LIMIT),
            models.UniqueConstraint(fields=["collection", "account"], name="accounts_collectionitem_pair"),
        ]
        indexes = [models.Index(fields=["account", "state", "-collection"], name="accounts_collectionitem_member")]
