"""Models of posts and boosts, local and remote, with their mentions, hashtags, quotes and earlier versions."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.collections.models import Collection
from accounts.models import Account, Application, Tag, Visibility
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths

# Maximum number of characters of a remote post; `statuses.policies.publishing` limits local posts.
CONTENT_LIMIT = 200_000
# Maximum number of linked collections that are stored for one post; links to further collections are treated as plain links.
COLLECTIONS_LIMIT = 10


class Written(models.Model):
    """Columns that posts and their versions share. `text` is the source. `content` is the HTML: rendered from the source or,
    for a remote post, sanitised.
    """

    text = models.TextField(default="")
    content = models.TextField(default="")
    spoiler_text = models.TextField(default="")

    class Meta:
        abstract = True


class Status(Written):
    """A post. A boost has `reblog_of` and no text of its own.

    `thread_path` lists the ids from the thread's first known post down to this post, so that one condition selects a whole
    thread (docs/adr/0005). Every change that is visible in the entity increases `version`. `uri` is NULL for local posts, whose
    ActivityPub id is derived from username and id. The row of a deleted post is kept, but never shown. `fetched` is true for a
    remote post that this server fetched before its author sent it, and of which nobody was notified. `arrived_at` is the time
    at which a remote post was stored, if that was long after `created_at`.
    """

    id = SnowflakeField(primary_key=True)
    # The composite indexes below replace the indexes that Django would create for each foreign key, so that writing a post
    # updates half as many index entries.
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="statuses", db_index=False)
    uri = models.TextField(null=True)
    url = models.TextField(null=True)
    content_type = models.TextField(default="text/plain")
    sensitive = models.BooleanField(default=False)
    visibility = models.TextField(choices=Visibility.choices, default=Visibility.PUBLIC)
    # Only local accounts may read the post, and it is not sent to other servers (docs/adr/0042).
    local_only = models.BooleanField(default=False, db_default=False)
    language = models.TextField(null=True)
    local = models.BooleanField()
    in_reply_to = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="replies", db_index=False
    )
    in_reply_to_account = models.ForeignKey(
        Account, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    # Set for a reply whose parent is not stored yet, so that the two can be linked when the parent arrives.
    in_reply_to_uri = models.TextField(null=True)
    reblog_of = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="reblogs", db_index=False)
    thread_id = models.BigIntegerField(null=True)
    thread_path = ArrayField(models.BigIntegerField(), null=True)
    conversation_uri = models.TextField(null=True)
    # Encoded by `statuses.policies.quotes`; with 0, the default, nobody may quote the post.
    quote_policy = models.SmallIntegerField(default=0, db_default=0)
    # Encoded by `statuses.policies.interactions`; with 0, the default, everyone who may read the post may interact with it.
    interaction_policy = models.IntegerField(default=0, db_default=0)
    application = models.ForeignKey(Application, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    fetched = models.BooleanField(null=True)
    arrived_at = models.DateTimeField(null=True)
    # Imported from an archive of its author (`ImportedPost`), and therefore shown in no timeline except the profile.
    from_archive = models.BooleanField(default=False, db_default=False)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    edited_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("post")
        verbose_name_plural = _("posts")
        constraints = [
            lengths(
                "statuses_status_lengths",
                uri=URI_LIMIT,
                url=URI_LIMIT,
                content_type=WORD_LIMIT,
                visibility=WORD_LIMIT,
                language=WORD_LIMIT,
                in_reply_to_uri=URI_LIMIT,
                conversation_uri=URI_LIMIT,
            ),
            models.UniqueConstraint(fields=["uri"], name="statuses_status_uri", condition=Q(uri__isnull=False)),
            models.CheckConstraint(condition=Q(local=True) | Q(uri__isnull=False), name="statuses_status_remote_uri"),
            models.UniqueConstraint(
                fields=["account", "reblog_of"],
                name="statuses_status_one_reblog",
                condition=Q(reblog_of__isnull=False, deleted_at__isnull=True),
            ),
            models.CheckConstraint(
                condition=Q(text__length__lte=CONTENT_LIMIT)
                & Q(content__length__lte=CONTENT_LIMIT)
                & Q(spoiler_text__length__lte=CONTENT_LIMIT),
                name="statuses_status_length",
            ),
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="statuses_status_account"),
            models.Index(
                F("id").desc(),
                name="statuses_status_public",
                condition=Q(visibility="public", reblog_of=None, deleted_at=None),
            ),
            models.Index(
                F("id").desc(),
                name="statuses_status_public_local",
                condition=Q(visibility="public", reblog_of=None, deleted_at=None, local=True),
            ),
            # Covers all visibilities, for staff, and includes the columns by which staff filter, so that counting needs only
            # the index.
            models.Index(
                fields=["-id"],
                include=["visibility", "reblog_of", "deleted_at"],
                name="statuses_status_here",
                condition=Q(local=True),
            ),
            # Descending on purpose: no other index has this order, so the planner must use this one. A scan of another index
            # would take a long time for a rare language.
            models.Index(
                F("local"),
                F("language"),
                F("id") * -1,
                name="statuses_status_languages",
                condition=Q(visibility="public", reblog_of=None, deleted_at=None),
            ),
            models.Index(
                fields=["thread_id", "id"], name="statuses_status_thread", condition=Q(thread_id__isnull=False)
            ),
            models.Index(
                fields=["thread_id"],
                name="statuses_status_threads_here",
                condition=Q(thread_id__isnull=False, local=True),
            ),
            # Includes the id because replies are read in the order of their ids, and some posts and accounts have very many
            # replies.
            models.Index(
                fields=["in_reply_to", "id"], name="statuses_status_answers", condition=Q(in_reply_to__isnull=False)
            ),
            models.Index(
                fields=["in_reply_to_account", "id"],
                name="statuses_status_answers_to",
                condition=Q(in_reply_to_account__isnull=False),
            ),
            models.Index(
                fields=["application"], name="statuses_status_application", condition=Q(application__isnull=False)
            ),
            models.Index(
                fields=["in_reply_to_uri"],
                name="statuses_status_orphans",
                condition=Q(in_reply_to_uri__isnull=False, in_reply_to=None),
            ),
            models.Index(fields=["deleted_at"], name="statuses_status_deleted", condition=Q(deleted_at__isnull=False)),
            models.Index(
                fields=["reblog_of", "-id"], name="statuses_status_reblogs", condition=Q(reblog_of__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}"

    @property
    def is_reblog(self) -> bool:
        return self.reblog_of_id is not None

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def original(self) -> "Status | None":
        """The boosted post; None when this post is not a boost."""
        return self.reblog_of

    @property
    def is_for_anybody(self) -> bool:
        """Tell whether everyone may read the post, because it is public or unlisted (`distributable`)."""
        return self.visibility in (Visibility.PUBLIC, Visibility.UNLISTED)

    @property
    def thread_root_id(self) -> int:
        """Id of the first known post of the thread; the id of this post if it does not reply to a known post."""
        return self.thread_id or self.id

    @property
    def path(self) -> list[int]:
        """Ids from the thread's first known post down to this post."""
        return self.thread_path or [self.id]


class StatusStat(models.Model):
    """Counters of a post, in a separate table so that counting never rewrites the post's row. Without a row, all counters are
    0. The `remote` columns are the counts that a remote post's server reported, plus later local interactions; the greater of
    the two counts is shown.
    """

    status = models.OneToOneField(Status, primary_key=True, on_delete=models.CASCADE, related_name="stat")
    replies_count = models.BigIntegerField(default=0)
    reblogs_count = models.BigIntegerField(default=0)
    favourites_count = models.BigIntegerField(default=0)
    quotes_count = models.BigIntegerField(default=0)
    remote_reblogs_count = models.BigIntegerField(null=True)
    remote_favourites_count = models.BigIntegerField(null=True)
    remote_replies_count = models.BigIntegerField(default=0, db_default=0)


class Mention(models.Model):
    """An account that a post addresses; `silent` if the text does not mention the account."""

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    silent = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["status", "account"], name="statuses_mention_pair")]
        indexes = [models.Index(fields=["account", "-status"], name="statuses_mention_account")]


class UnknownMention(models.Model):
    """ActivityPub id of an account that a remote post mentions and that this server does not know (yet)."""

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="unknown_mentions", db_index=False)
    uri = models.TextField()

    class Meta:
        constraints = [
            lengths("statuses_unknownmention_lengths", uri=URI_LIMIT),
            models.UniqueConstraint(fields=["status", "uri"], name="statuses_unknownmention_pair"),
        ]
        indexes = [models.Index(fields=["uri"], name="statuses_unknownmention_uri")]


class StatusTag(models.Model):
    """A hashtag in a post. The row ids follow the order of the hashtags in the text."""

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="status_tags", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["status", "tag"], name="statuses_statustag_pair")]
        indexes = [models.Index(fields=["tag", "-status"], name="statuses_statustag_tag")]


class LinkedCollection(models.Model):
    """A collection that a post links to; only its `uri` is stored if the collection was unknown when the post was stored. The
    row ids follow the order of the links in the text.
    """

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="linked_collections", db_index=False)
    collection = models.ForeignKey(Collection, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    uri = models.TextField(null=True)

    class Meta:
        constraints = [
            lengths("statuses_linkedcollection_lengths", uri=URI_LIMIT),
            models.CheckConstraint(
                condition=Q(collection=None) ^ Q(uri=None), name="statuses_linkedcollection_known_or_named"
            ),
            models.UniqueConstraint(fields=["status", "collection"], name="statuses_linkedcollection_pair"),
        ]
        indexes = [
            models.Index(
                fields=["collection"], name="statuses_linkedcollection_of", condition=Q(collection__isnull=False)
            )
        ]


class QuoteState(models.TextChoices):
    """States of a quote, as the quoted author has decided. Clients see more states, which depend on the viewer."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVOKED = "revoked"
    # Reported by the server of the quoted post; used only for posts that are not stored here.
    DELETED = "deleted"


class Quote(models.Model):
    """Quote of `quoted_status` (never a boost) in `status`; a post has at most one quote (FEP-044f).

    `quoted_uri` is the id of a quoted remote post that this server does not have (yet), `request_uri` the id of the
    QuoteRequest if one of the authors is remote, and `approval_uri` the id of another server's authorization. A `legacy` quote
    was made without a request, with the properties used before FEP-044f.
    """

    id = SnowflakeField(primary_key=True)
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="quote")
    quoted_status = models.ForeignKey(
        Status, null=True, on_delete=models.SET_NULL, related_name="quotes", db_index=False
    )
    quoted_uri = models.TextField(null=True)
    state = models.TextField(choices=QuoteState.choices, default=QuoteState.PENDING)
    request_uri = models.TextField(null=True)
    approval_uri = models.TextField(null=True)
    legacy = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "statuses_quote_lengths",
                quoted_uri=URI_LIMIT,
                state=WORD_LIMIT,
                request_uri=URI_LIMIT,
                approval_uri=URI_LIMIT,
            ),
            models.UniqueConstraint(
                fields=["request_uri"], name="statuses_quote_request", condition=Q(request_uri__isnull=False)
            ),
        ]
        indexes = [
            models.Index(
                fields=["quoted_status", "-id"], name="statuses_quote_quoted", condition=Q(quoted_status__isnull=False)
            ),
            models.Index(
                fields=["quoted_uri"],
                name="statuses_quote_unknown",
                condition=Q(quoted_uri__isnull=False, quoted_status=None),
            ),
            models.Index(
                fields=["approval_uri"], name="statuses_quote_approval", condition=Q(approval_uri__isnull=False)
            ),
        ]


class StatusEdit(Written):
    """A version of `status`, written at `created_at`, that an edit has replaced. `media_ids` and `media_descriptions` are the
    ids and descriptions of its files in order; `poll_options` is None if the version had no poll.
    """

    id = SnowflakeField(primary_key=True)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="edits", db_index=False)
    sensitive = models.BooleanField(default=False)
    media_ids = ArrayField(models.BigIntegerField(), default=list)
    media_descriptions = ArrayField(models.TextField(null=True), default=list)
    poll_options = ArrayField(models.TextField(), null=True)
    quote = models.ForeignKey(Quote, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "statuses_statusedit_lengths",
                text=CONTENT_LIMIT,
                content=CONTENT_LIMIT,
                spoiler_text=CONTENT_LIMIT,
                media_descriptions=OBJECT_LIMIT,
                poll_options=OBJECT_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["status", "created_at"], name="statuses_statusedit_status"),
            models.Index(fields=["quote"], name="statuses_statusedit_quote", condition=models.Q(quote__isnull=False)),
        ]
