"""Imports, archives and moves of accounts."""

from urllib.parse import urlsplit

from django.db import models
from django.db.models import F, Q

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import ADDRESS_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class ImportState(models.TextChoices):
    WAITING = "waiting"
    """Uploaded, but not yet confirmed by its owner."""
    RUNNING = "running"
    FINISHED = "finished"


class Import(models.Model):
    """Import of a file, whose lines are added to a list of the owner, or replace the list (`overwrite`).

    `kind` names the list (`accounts.transfers.services.portable_lists`). Of the `total` lines, `done` were imported and
    their rows deleted; the rows of the `failed` lines stay. `removed_up_to` is the id of the last entry that was
    compared with the file, None at the end.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="imports", db_index=False)
    kind = models.TextField()
    overwrite = models.BooleanField(default=False)
    file_name = models.TextField(default="")
    state = models.TextField(choices=ImportState.choices, default=ImportState.WAITING)
    total = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    removed = models.IntegerField(default=0)
    removed_up_to = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            lengths("accounts_import_lengths", kind=WORD_LIMIT, file_name=NAME_LIMIT, state=WORD_LIMIT),
            # At most one running import and one unconfirmed file for each list.
            models.UniqueConstraint(
                fields=["account", "kind", "state"], name="accounts_import_once", condition=~Q(state="finished")
            ),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="accounts_import_account")]


class ImportRowState(models.TextChoices):
    PENDING = "pending"
    SOUGHT = "sought"
    """The account that the line names is unknown here and is being looked up at its server."""
    FAILED = "failed"


class ImportRow(models.Model):
    """Line of an import that is pending or has failed, with its cells in the order of the list's columns.

    `key` identifies the line's subject, normalised; it is empty until the line is parsed, or if it is invalid. `error`
    is the reason for the failure (`accounts.transfers.policies.Problem`).
    """

    batch = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="rows", db_index=False)
    line = models.IntegerField()
    key = models.TextField()
    cells = models.JSONField(default=list)
    state = models.TextField(choices=ImportRowState.choices, default=ImportRowState.PENDING)
    error = models.TextField(default="")

    class Meta:
        constraints = [
            lengths(
                "accounts_importrow_lengths", key=ADDRESS_LIMIT, cells=OBJECT_LIMIT, state=WORD_LIMIT, error=WORD_LIMIT
            ),
            models.UniqueConstraint(fields=["batch", "line"], name="accounts_import_row_line"),
        ]
        indexes = [
            models.Index(F("batch"), F("state"), F("line"), name="accounts_import_row_state"),
            models.Index(fields=["batch", "key"], name="accounts_import_row_key"),
        ]


class ArchiveState(models.TextChoices):
    BUILDING = "building"
    READY = "ready"


class Archive(models.Model):
    """File with all data of an account. Only the owner of the account may download the file, until `expires_at`.

    `part` is the name of the part that is being written, `cursor` its progress (`accounts.transfers.services.archives`);
    `files` maps each file to its valid size in bytes and its number of items.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="archives")
    state = models.TextField(choices=ArchiveState.choices, default=ArchiveState.BUILDING)
    part = models.TextField(default="")
    cursor = models.BigIntegerField(default=0)
    # {"outbox.json": [bytes, items]}
    files = models.JSONField(default=dict)
    size = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [lengths("accounts_archive_lengths", state=WORD_LIMIT, part=WORD_LIMIT, files=OBJECT_LIMIT)]
        indexes = [models.Index(fields=["expires_at"], name="accounts_archive_expiry")]


class Move(models.Model):
    """Move of an account to another account. A cancelled move keeps its row, which limits when the account can move again."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="moves", db_index=False)
    target = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    target_address = models.TextField()
    followers_count = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [lengths("accounts_move_lengths", target_address=ADDRESS_LIMIT)]
        indexes = [models.Index(fields=["account", "-created_at"], name="accounts_move_account")]


class PastState(models.TextChoices):
    READING = "reading"
    """The archive is being read, to show what the import would do."""
    READY = "ready"
    """The archive was read; nothing is stored until its owner starts the import."""
    UNREADABLE = "unreadable"
    RUNNING = "running"
    FINISHED = "finished"
    UNDOING = "undoing"
    UNDONE = "undone"


class PastImport(models.Model):
    """Import of a person's own posts from an archive. The owner can start the import once it is `READY`, and can undo it.

    `source` is the ActivityPub id of the author that the archive names, `software` the kind of server that wrote the archive.
    `visibility` is the widest visibility of the imported posts, or empty. Of `total` posts, `position` were handled and `done`
    stored; `left_out` entries are not imported. `numbers` are further counts by name, `reasons` are the counts of left-out
    entries and parts by reason (`accounts.transfers.past.Reason`); `problem` is the reason for refusing the archive.
    `unlimited` imports are made by operators.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="past_imports", db_index=False)
    state = models.TextField(choices=PastState.choices, default=PastState.READING)
    file_name = models.TextField(default="")
    size = models.BigIntegerField(default=0)
    software = models.TextField(default="")
    source = models.TextField(default="")
    visibility = models.TextField(default="")
    total = models.IntegerField(default=0)
    position = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    left_out = models.IntegerField(default=0)
    numbers = models.JSONField(default=dict)
    reasons = models.JSONField(default=dict)
    problem = models.TextField(default="")
    unlimited = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            lengths(
                "accounts_pastimport_lengths",
                state=WORD_LIMIT,
                file_name=NAME_LIMIT,
                software=WORD_LIMIT,
                source=URI_LIMIT,
                visibility=WORD_LIMIT,
                numbers=OBJECT_LIMIT,
                reasons=OBJECT_LIMIT,
                problem=WORD_LIMIT,
            ),
            # At most one unfinished import for each account, so that two imports never store the same post at the same time.
            models.UniqueConstraint(
                fields=["account"],
                name="accounts_pastimport_once",
                condition=Q(state__in=("reading", "ready", "running", "undoing")),
            ),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="accounts_pastimport_account")]

    @property
    def named_source(self) -> str:
        """`source`, or an empty text if the archive names no author and `source` therefore has a host that cannot exist (RFC
        2606).
        """
        return "" if urlsplit(self.source).netloc.endswith(".invalid") else self.source


class PastLine(models.Model):
    """Entry of an archive, or part of one, that was not imported; `line` is its position, `uri` its address if it has one."""

    batch = models.ForeignKey(PastImport, on_delete=models.CASCADE, related_name="lines", db_index=False)
    line = models.IntegerField()
    uri = models.TextField(default="")
    reason = models.TextField()

    class Meta:
        constraints = [
            lengths("accounts_pastline_lengths", uri=URI_LIMIT, reason=WORD_LIMIT),
            models.UniqueConstraint(fields=["batch", "line", "reason"], name="accounts_pastline_once"),
        ]
