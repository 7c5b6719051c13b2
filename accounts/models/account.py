"""Local and remote accounts, in one table (`domain` is NULL for local ones), and the known servers."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Collate, Length, Lower
from django.utils.translation import gettext_lazy as _

from social.kernel import clock, links
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import (
    HOST_LIMIT,
    HTML_LIMIT,
    NAME_LIMIT,
    OBJECT_LIMIT,
    PATH_LIMIT,
    URI_LIMIT,
    WORD_LIMIT,
    lengths,
)

# Federated values are clamped to these limits (contract, federation section 16), which CHECK constraints enforce as well.
USERNAME_LIMIT = 2048
DISPLAY_NAME_LIMIT = 2048
NOTE_LIMIT = 20_000
FIELDS_LIMIT = 50
# Maximum length of the text of a public key or of an encrypted private key.
PEM_LIMIT = 20_000


class ActorType(models.TextChoices):
    """ActivityPub types of accounts (contract, federation section 4)."""

    PERSON = "Person"
    SERVICE = "Service"
    GROUP = "Group"
    APPLICATION = "Application"
    ORGANIZATION = "Organization"


class SuspensionOrigin(models.TextChoices):
    """The side that suspended the account: this server's staff, or the account's own server."""

    LOCAL = "local"
    REMOTE = "remote"


class Account(models.Model):
    """A person, bot or group. Local accounts have a `User` and a `KeyPair` with a private key.

    `note` is the bio as it was typed (local) or received (remote), `note_html` the HTML that is shown. `version` is part of the
    key of the account's cached entity and increases with every change of the entity, except changes of counters.
    `avatar_static` and `header_static` are the first frames of animations, empty for still pictures.
    """

    id = SnowflakeField(primary_key=True)
    username = models.TextField()
    domain = models.TextField(null=True)
    uri = models.TextField(unique=True)
    url = models.TextField(default="")
    actor_type = models.TextField(choices=ActorType.choices, default=ActorType.PERSON)
    display_name = models.TextField(default="")
    note = models.TextField(default="")
    note_html = models.TextField(default="")
    # [{"name": str, "value": str, "html": str, "verified_at": ISO string or null}]
    fields = models.JSONField(default=list)
    locked = models.BooleanField(default=False)
    discoverable = models.BooleanField(null=True)
    indexable = models.BooleanField(default=False)
    hide_collections = models.BooleanField(null=True)
    show_media = models.BooleanField(default=True)
    show_media_replies = models.BooleanField(default=True)
    show_featured = models.BooleanField(default=True)
    memorial = models.BooleanField(default=False)
    avatar = models.TextField(default="")
    avatar_static = models.TextField(default="")
    avatar_remote_url = models.TextField(default="")
    avatar_description = models.TextField(default="")
    header = models.TextField(default="")
    header_static = models.TextField(default="")
    header_remote_url = models.TextField(default="")
    header_description = models.TextField(default="")
    also_known_as = ArrayField(models.TextField(), default=list)
    attribution_domains = ArrayField(models.TextField(), default=list)
    moved_to = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    inbox_url = models.TextField(default="")
    shared_inbox_url = models.TextField(default="")
    outbox_url = models.TextField(default="")
    followers_url = models.TextField(default="")
    following_url = models.TextField(default="")
    featured_url = models.TextField(default="")
    featured_tags_url = models.TextField(default="")
    featured_collections_url = models.TextField(default="", db_default="")
    devices_url = models.TextField(default="", db_default="")
    # Who may add a remote account to collections (`accounts.policies.featuring.Audience`), according to its server; NULL if
    # its server does not state this.
    feature_policy = models.TextField(null=True)
    suspended_at = models.DateTimeField(null=True)
    suspension_origin = models.TextField(choices=SuspensionOrigin.choices, null=True)
    limited_at = models.DateTimeField(null=True)
    sensitized_at = models.DateTimeField(null=True)
    # Time of the permanent deletion: the account is suspended as well, and its data is being erased.
    deleted_at = models.DateTimeField(null=True)
    # Start of the erasure of a suspended account's data; before this time the suspension can be undone without loss. Reports
    # about the account are never erased.
    erased_at = models.DateTimeField(null=True)
    # Start of a hold, during which none of the account's data may be removed, because a court or an authority may ask for it.
    held_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        constraints = [
            lengths(
                "accounts_account_lengths",
                domain=HOST_LIMIT,
                uri=URI_LIMIT,
                url=URI_LIMIT,
                actor_type=WORD_LIMIT,
                note_html=HTML_LIMIT,
                fields=OBJECT_LIMIT,
                avatar=PATH_LIMIT,
                avatar_static=PATH_LIMIT,
                avatar_remote_url=URI_LIMIT,
                header=PATH_LIMIT,
                header_static=PATH_LIMIT,
                header_remote_url=URI_LIMIT,
                also_known_as=OBJECT_LIMIT,
                attribution_domains=OBJECT_LIMIT,
                inbox_url=URI_LIMIT,
                shared_inbox_url=URI_LIMIT,
                outbox_url=URI_LIMIT,
                followers_url=URI_LIMIT,
                following_url=URI_LIMIT,
                featured_url=URI_LIMIT,
                suspension_origin=WORD_LIMIT,
            ),
            lengths("accounts_account_featured_tags_lengths", featured_tags_url=URI_LIMIT),
            lengths(
                "accounts_account_collections_lengths",
                featured_collections_url=URI_LIMIT,
                devices_url=URI_LIMIT,
                feature_policy=WORD_LIMIT,
            ),
            models.UniqueConstraint(
                Lower("username"), Lower(Coalesce("domain", Value(""))), name="accounts_account_address"
            ),
            models.CheckConstraint(
                condition=Q(domain__isnull=False) | Q(username__regex=r"^[A-Za-z0-9_.-]{1,255}$"),
                name="accounts_account_local_username",
            ),
            models.CheckConstraint(
                condition=Q(username__length__lte=USERNAME_LIMIT), name="accounts_account_username_length"
            ),
            models.CheckConstraint(
                condition=Q(display_name__length__lte=DISPLAY_NAME_LIMIT), name="accounts_account_display_name_length"
            ),
            models.CheckConstraint(condition=Q(note__length__lte=NOTE_LIMIT), name="accounts_account_note_length"),
            models.CheckConstraint(
                condition=Q(avatar_description__length__lte=2048) & Q(header_description__length__lte=2048),
                name="accounts_account_image_descriptions",
            ),
        ]
        indexes = [
            # Includes `domain` and `deleted_at`, so that accounts are counted by server from this index alone.
            models.Index(
                Lower("domain"), F("id").desc(), name="accounts_account_server", include=["domain", "deleted_at"]
            ),
            models.Index(F("suspended_at"), name="accounts_account_suspended", condition=Q(suspended_at__isnull=False)),
            # This index serves prefix searches by username, whatever the database's collation.
            models.Index(Collate(Lower("username"), "C"), name="accounts_account_prefix"),
            GinIndex(SearchVector("display_name", config="simple"), name="accounts_account_words"),
        ]

    def __str__(self) -> str:
        return self.acct

    @property
    def local(self) -> bool:
        """Tell whether this is an account of this server."""
        return self.domain is None

    @property
    def acct(self) -> str:
        """`user`, or `user@domain` for a remote account, the domain in Unicode (contract, entities "Account")."""
        return acct_of(self.username, self.domain)

    @property
    def page_url(self) -> str:
        """The address of the profile page; for a remote account, the address that its server states."""
        return links.profile_url(self.username) if self.domain is None else self.url or self.uri

    @property
    def suspended(self) -> bool:
        """Tell whether the account is suspended, so that none of its data is shown."""
        return self.suspended_at is not None

    @property
    def suspended_for_a_time(self) -> bool:
        """Tell whether staff of this server have suspended the account and can still undo the suspension without loss."""
        return (
            self.suspended
            and self.suspension_origin == SuspensionOrigin.LOCAL
            and self.deleted_at is None
            and self.erased_at is None
        )

    @property
    def limited(self) -> bool:
        """Tell whether the account is hidden from public places ("silenced")."""
        return self.limited_at is not None


def acct_of(username: str, domain: str | None) -> str:
    """Return `Account.acct` for this `username` and `domain`."""
    return username if domain is None else f"{username}@{unicode_domain(domain)}"


def unicode_domain(domain: str) -> str:
    """Decode a Punycode domain to Unicode; any other domain stays unchanged."""
    if "xn--" not in domain:
        return domain
    host, _, port = domain.partition(":")
    try:
        shown = host.encode("ascii").decode("idna")
    except UnicodeError:
        return domain
    return f"{shown}:{port}" if port else shown


class AccountStat(models.Model):
    """Counters of an account, in a row of their own so that counting never rewrites the account's row.

    The row does not exist before the first post or follow. The columns `*_count` count what this server knows, and are used to
    rank accounts. The columns `*_total` have the numbers that a remote account's server states; these are only displayed
    (`SHOWN_COUNTS`).
    """

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.CASCADE, related_name="stat")
    statuses_count = models.BigIntegerField(default=0)
    following_count = models.BigIntegerField(default=0)
    followers_count = models.BigIntegerField(default=0)
    statuses_total = models.BigIntegerField(null=True)
    following_total = models.BigIntegerField(null=True)
    followers_total = models.BigIntegerField(null=True)
    last_status_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                F("followers_count").desc(), name="accounts_accountstat_popular", condition=Q(followers_count__gt=0)
            ),
            models.Index(
                F("last_status_at").desc(nulls_last=True), F("account_id").desc(), name="accounts_accountstat_active"
            ),
        ]


SHOWN_COUNTS = tuple(f"GREATEST({name}_count, {name}_total, 0)" for name in ("followers", "following", "statuses"))
"""Counters as they are shown, in SQL: the total of a remote account's server, or the count of this server if it is greater."""


class KeyPair(models.Model):
    """The RSA keys of an account; `private_key` is encrypted, and empty for remote accounts.

    `further_keys` are the other public keys of a remote account by their ids (federation section 4). `previous_private_key` is
    the encrypted key from before a rotation; it is stored while other servers may not know the new key.
    """

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.CASCADE, related_name="key_pair")
    key_id = models.TextField(unique=True)
    public_key = models.TextField()
    further_keys = models.JSONField(default=dict)
    private_key = models.TextField(default="")
    previous_private_key = models.TextField(default="")
    rotated_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "accounts_keypair_lengths",
                key_id=URI_LIMIT,
                public_key=PEM_LIMIT,
                private_key=PEM_LIMIT,
                previous_private_key=PEM_LIMIT,
            ),
            lengths("accounts_keypair_further_lengths", further_keys=OBJECT_LIMIT),
        ]
        indexes = [GinIndex(fields=["further_keys"], name="accounts_keypair_further", condition=~Q(further_keys={}))]


models.TextField.register_lookup(Length, "length")


class Domain(models.Model):
    """Known server, by its lower-case Punycode domain; the decisions of staff about it are in `moderation`.

    `host` is the host that last served the documents of its accounts. `software` and `version` are from its NodeInfo, requested
    at `software_asked_at`; both are empty if they are unknown. `reached_at` is the time of the last successful request, precise
    to an hour.
    """

    name = models.TextField(unique=True)
    host = models.TextField(default="", db_default="")
    first_seen_at = models.DateTimeField(default=clock.now)
    software = models.TextField(default="", db_default="")
    version = models.TextField(default="", db_default="")
    software_asked_at = models.DateTimeField(null=True)
    reached_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("known server")
        verbose_name_plural = _("known servers")
        constraints = [
            lengths("accounts_domain_lengths", name=HOST_LIMIT),
            lengths("accounts_domain_software_lengths", software=WORD_LIMIT, version=NAME_LIMIT),
            lengths("accounts_domain_host_lengths", host=HOST_LIMIT),
            models.CheckConstraint(condition=models.Q(name=Lower("name")), name="accounts_domain_lower_case"),
        ]
        indexes = [models.Index(fields=["host"], name="accounts_domain_host", condition=~models.Q(host=""))]

    def __str__(self) -> str:
        return self.name
