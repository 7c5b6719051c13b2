"""Collections: lists of accounts that their owner recommends to others."""

from django.db import models
from django.db.models import Q

from accounts.models.account import Account
from accounts.models.tag import Tag
from social.kernel import clock, links
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HTML_LIMIT, URI_LIMIT, WORD_LIMIT, lengths

NAME_LIMIT = 40
DESCRIPTION_LIMIT = 100
ITEMS_LIMIT = 25
# Limits on the texts and items of a remote collection (contract, federation section 16), and on an account's collections.
REMOTE_NAME_LIMIT = 256
REMOTE_DESCRIPTION_LIMIT = 2048
REMOTE_ITEMS_LIMIT = 150
REMOTE_COLLECTIONS_LIMIT = 25


class Collection(models.Model):
    """A named list of at most ITEMS_LIMIT accounts; unless it is discoverable, only people who know its id see it.

    A remote collection has an ActivityPub id (`uri`), the `url` of its page on its server, and a description in HTML.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="collections", db_index=False)
    uri = models.TextField(null=True, unique=True)
    url = models.TextField(default="", db_default="")
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
            lengths("accounts_collection_text_lengths", name=REMOTE_NAME_LIMIT, description=HTML_LIMIT, url=URI_LIMIT),
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="accounts_collection_account"),
            models.Index(fields=["url"], name="accounts_collection_page", condition=~Q(url="")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def object_uri(self) -> str:
        """The ActivityPub id of a local or remote collection."""
        return self.uri or links.collection_uri(self.account_id, self.id)

    @property
    def page_url(self) -> str:
        """The address of the collection's page on its own server."""
        return links.web_url(f"/collections/{self.id}") if self.uri is None else self.url or self.uri

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the page and of the ActivityPub object, including those that earlier releases used."""
        known = (self.page_url, self.object_uri)
        if self.uri is not None:
            return known
        return (*known, f"{links.actor_uri(self.account.username)}/collections/{self.id}")


class ItemState(models.TextChoices):
    """State of an account's consent to be in a collection."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVOKED = "revoked"


class CollectionItem(models.Model):
    """An account in a collection. Only ACCEPTED items are shown; when the account leaves, its item stays as REVOKED.

    In a remote collection `uri` is the item's ActivityPub id and `object_uri` the account's; `account` is NULL if this server
    does not know the account. An item of a local account has no `uri` until the collection lists the account. `approval_uri` is
    the id of a remote account's consent, which was verified at `checked_at`; `request_uri` is the id of the request for
    consent, sent or received (FEP-7aa9).
    """

    id = SnowflakeField(primary_key=True)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="items", db_index=False)
    account = models.ForeignKey(
        Account, null=True, on_delete=models.CASCADE, related_name="collection_items", db_index=False
    )
    state = models.TextField(choices=ItemState.choices, default=ItemState.ACCEPTED)
    uri = models.TextField(null=True, unique=True)
    object_uri = models.TextField(default="", db_default="")
    approval_uri = models.TextField(null=True)
    request_uri = models.TextField(null=True, unique=True)
    checked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_collectionitem_lengths", state=WORD_LIMIT),
            lengths(
                "accounts_collectionitem_uris",
                uri=URI_LIMIT,
                object_uri=URI_LIMIT,
                approval_uri=URI_LIMIT,
                request_uri=URI_LIMIT,
            ),
            models.UniqueConstraint(fields=["collection", "account"], name="accounts_collectionitem_pair"),
            models.CheckConstraint(
                condition=Q(account__isnull=False) | ~Q(state="accepted"), name="accounts_collectionitem_known"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "state", "-collection"], name="accounts_collectionitem_member"),
            models.Index(
                fields=["approval_uri"],
                name="accounts_collectionitem_stamp",
                condition=Q(approval_uri__isnull=False),
            ),
        ]
