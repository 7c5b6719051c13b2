"""Tables of blocklists: subscriptions, entries, exceptions, and queued fetches."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from moderation.events import BlocklistFetchesDue
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT, DomainSeverity
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import (
    HOST_LIMIT,
    MESSAGE_LIMIT,
    NAME_LIMIT,
    OBJECT_LIMIT,
    URI_LIMIT,
    WORD_LIMIT,
    lengths,
)
from social.kernel.runner import WaitingRow

# Greater than the maximum length of a password, because an encrypted password is longer.
_PASSWORD_LIMIT = 2000


class ListMode(models.TextChoices):
    """Modes of a subscription: a person approves each change, or changes are made automatically."""

    DRAFT = "draft", _("Draft: a person approves each change")
    AUTOMATIC = "automatic", _("Automatic")


class ListFormat(models.TextChoices):
    """Formats that a request can prefer in its `Accept` header; a response in any readable format is accepted."""

    CSV = "text/csv", "CSV"
    JSON = "application/json", "JSON"
    PLAIN = "text/plain", _("Plain text")


class TakenAs(models.TextChoices):
    """Effects that the severities of a list can have on this server."""

    SUSPEND = "suspend", _("suspended")
    SILENCE = "silence", _("limited")
    NOOP = "noop", _("neither limited nor suspended")
    IGNORE = "ignore", _("ignored")


class EntryState(models.TextChoices):
    PENDING = "pending", _("is being compared")
    WITHDRAWN = "withdrawn", _("is being withdrawn")
    WAITING = "waiting", _("waits for approval")
    IN_FORCE = "in_force", _("in force")
    DISMISSED = "dismissed", _("dismissed")
    KEPT = "kept", _("without effect")


class EntryStep(models.TextChoices):
    """Changes that an entry can request to the rule for a server."""

    NONE = "none", _("nothing")
    BLOCK = "block", _("new rule")
    CHANGE = "change", _("changed rule")
    LIFT = "lift", _("end of the rule")


class Blocklist(models.Model):
    """A subscription to the blocklist that others publish at `url`.

    `suspend_as`, `silence_as` and `noop_as` are the severities of rules here for entries of the list with the severities
    `suspend`, `silence` and `noop`; an entry without a severity counts as `suspend`. Without `take_rejections`, the list cannot
    make this server reject media or reports. In automatic mode, one update of the list ends at most `follows_limit` follows;
    changes that would end more follows wait for a decision. `username` and `password`, which is stored encrypted, are for a
    list that requires basic authentication.

    `asked_at` is the time of the last fetch, `checked_at` the time of the last successful fetch, and `failing_since` the time
    of the first failure since then. `entries_count` is the number of servers that the list named when it was last stored.
    `held_reason` is the reason why the last changes of an automatic list are waiting for a decision; empty if no changes are
    waiting. `ending` means that staff have removed the list; the row is deleted once the rules of the list have been removed.
    """

    id = SnowflakeField(primary_key=True)
    name = models.TextField(unique=True)
    url = models.TextField(unique=True)
    enabled = models.BooleanField(default=True, db_default=True)
    mode = models.TextField(choices=ListMode.choices, default=ListMode.DRAFT, db_default=ListMode.DRAFT)
    suspend_as = models.TextField(choices=TakenAs.choices, default=TakenAs.SUSPEND, db_default=TakenAs.SUSPEND)
    silence_as = models.TextField(choices=TakenAs.choices, default=TakenAs.SILENCE, db_default=TakenAs.SILENCE)
    noop_as = models.TextField(choices=TakenAs.choices, default=TakenAs.IGNORE, db_default=TakenAs.IGNORE)
    take_rejections = models.BooleanField(default=False, db_default=False)
    follows_limit = models.PositiveIntegerField(default=0, db_default=0)
    username = models.TextField(default="", db_default="", blank=True)
    password = models.TextField(default="", db_default="")
    content_type = models.TextField(choices=ListFormat.choices, default=ListFormat.CSV, db_default=ListFormat.CSV)
    etag = models.TextField(default="", db_default="")
    last_modified = models.TextField(default="", db_default="")
    digest = models.TextField(default="", db_default="")
    asked_at = models.DateTimeField(null=True)
    checked_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    last_error = models.TextField(default="", db_default="")
    entries_count = models.PositiveIntegerField(default=0, db_default=0)
    problems = ArrayField(models.TextField(), default=list, db_default=[])
    problems_count = models.PositiveIntegerField(default=0, db_default=0)
    held_reason = models.TextField(default="", db_default="")
    ending = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("blocklist of others")
        verbose_name_plural = _("blocklists of others")
        constraints = [
            lengths(
                "moderation_blocklist_lengths",
                name=NAME_LIMIT,
                url=URI_LIMIT,
                mode=WORD_LIMIT,
                suspend_as=WORD_LIMIT,
                silence_as=WORD_LIMIT,
                noop_as=WORD_LIMIT,
                etag=NAME_LIMIT,
                last_modified=NAME_LIMIT,
                digest=NAME_LIMIT,
                last_error=MESSAGE_LIMIT,
                problems=OBJECT_LIMIT,
                held_reason=MESSAGE_LIMIT,
            ),
            lengths("moderation_blocklist_access_lengths", username=NAME_LIMIT, password=_PASSWORD_LIMIT),
            lengths("moderation_blocklist_format_lengths", content_type=WORD_LIMIT),
        ]

    def __str__(self) -> str:
        return self.name


class BlocklistEntry(models.Model):
    """Entry of a list: the values that the list has for a server and its subdomains, and the effect that this server has
    adopted. An entry without a list is a rule that staff have drafted and that is waiting for approval.

    `severity`, `reject_media`, `reject_reports`, `obfuscate` and `comment` are the values in the list. `listed` tells whether
    the list still names the server. `taken_severity`, `taken_media` and `taken_reports` are the adopted effect;
    `taken_severity` is NULL if no effect was adopted. `note` is the reason for `state`; in a draft, the private comment of the
    rule. The rule for the server (`DomainRule.from_lists`) is the strictest of the effects adopted from all lists. `asks` means
    that a person has decided about this server before; therefore a person must approve each further change.
    """

    id = SnowflakeField(primary_key=True)
    blocklist = models.ForeignKey(
        Blocklist, on_delete=models.CASCADE, related_name="entries", db_index=False, null=True
    )
    domain = models.TextField()
    severity = models.TextField(choices=DomainSeverity.choices)
    reject_media = models.BooleanField(default=False, db_default=False)
    reject_reports = models.BooleanField(default=False, db_default=False)
    obfuscate = models.BooleanField(default=False, db_default=False)
    comment = models.TextField(default="", db_default="")
    listed = models.BooleanField(default=True, db_default=True)
    state = models.TextField(choices=EntryState.choices, default=EntryState.PENDING, db_default=EntryState.PENDING)
    step = models.TextField(choices=EntryStep.choices, default=EntryStep.NONE, db_default=EntryStep.NONE)
    note = models.TextField(default="", db_default="")
    asks = models.BooleanField(default=False, db_default=False)
    taken_severity = models.TextField(choices=DomainSeverity.choices, null=True)
    taken_media = models.BooleanField(default=False, db_default=False)
    taken_reports = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("entry of a blocklist")
        verbose_name_plural = _("entries of blocklists")
        indexes = [
            models.Index(fields=["blocklist", "state"], name="moderation_entry_state"),
            models.Index(fields=["domain"], name="moderation_entry_domain"),
            models.Index(fields=["id"], name="moderation_entry_waiting", condition=Q(state=EntryState.WAITING)),
        ]
        constraints = [
            lengths(
                "moderation_blocklistentry_lengths",
                domain=HOST_LIMIT,
                severity=WORD_LIMIT,
                comment=DOMAIN_COMMENT_LIMIT,
                state=WORD_LIMIT,
                step=WORD_LIMIT,
                note=MESSAGE_LIMIT,
                taken_severity=WORD_LIMIT,
            ),
            models.UniqueConstraint(fields=["blocklist", "domain"], name="moderation_entry_once"),
            models.UniqueConstraint(fields=["domain"], condition=Q(blocklist=None), name="moderation_draft_once"),
        ]

    def __str__(self) -> str:
        return self.domain

    @property
    def list_name(self) -> str:
        """The name of the entry's list, which must be loaded; empty for a draft of staff."""
        return self.blocklist.name if self.blocklist is not None else ""


class BlocklistException(models.Model):
    """A server that no list may block, with its subdomains and parent domains; `domain` is its lower-case Punycode name."""

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    comment = models.TextField(default="", db_default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = _("exception from blocklists")
        verbose_name_plural = _("exceptions from blocklists")
        constraints = [
            lengths("moderation_blocklistexception_lengths", domain=HOST_LIMIT, comment=MESSAGE_LIMIT),
            models.CheckConstraint(
                condition=Q(domain=Lower("domain")), name="moderation_blocklist_exception_lower_case"
            ),
        ]

    def __str__(self) -> str:
        return self.domain


class BlocklistFetch(WaitingRow):
    """A queued fetch of a list; there is at most one for each list."""

    queue = "blocklists"
    due = BlocklistFetchesDue

    blocklist = models.OneToOneField(Blocklist, on_delete=models.CASCADE, related_name="fetch")

    class Meta(WaitingRow.Meta):
        constraints = [
            lengths("moderation_blocklistfetch_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT),
        ]

    def __str__(self) -> str:
        return f"list {self.blocklist_id}"
