"""Imports, archives and moves of people."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import ADDRESS_LIMIT, NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths


class ImportState(models.TextChoices):
    """Progress of an import."""

    WAITING = "waiting"
    """Sent by its owner, who has not said yet that it shall be worked off."""
    RUNNING = "running"
    FINISHED = "finished"


class Import(models.Model):
    """A list from a file that is being added to what somebody has here, or that replaces it (`overwrite`).

    `kind` names the list (`accounts.services.portable_lists`). `total` is the number of lines; those that are `done` have
    no row any more, those that `failed` keep theirs. `removed_up_to`, with `overwrite`, is the id of the last thing here
    that was looked at; None when all were.
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
            # One at a time for each list, and one file that waits for its confirmation.
            models.UniqueConstraint(
                fields=["account", "kind", "state"], name="accounts_import_once", condition=~Q(state="finished")
            ),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="accounts_import_account")]


class ImportRowState(models.TextChoices):
    """Outcome of a line."""

    PENDING = "pending"
    SOUGHT = "sought"
    """The account it names is unknown here; other servers are being asked."""
    FAILED = "failed"


class ImportRow(models.Model):
    """A line of a file that is not done yet, or has failed: its cells as they stood there, in the order of the list's columns.

    `key` is what the line is about in its one spelling, empty when it could not be read; `error` says why it has failed
    (`accounts.policies.transfers.Problem`).
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
    """Progress of an archive."""

    BUILDING = "building"
    READY = "ready"


class Archive(models.Model):
    """A file with everything that somebody has here, which they alone may fetch, until `expires_at`.

    It is written part after part (`accounts.services.archives`): `part` is the name of the one in hand, `cursor` how far that
    has come, `files` how many bytes and things of each unfinished file are good.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="archives")
    state = models.TextField(choices=ArchiveState.choices, default=ArchiveState.BUILDING)
    part = models.TextField(default="")
    cursor = models.BigIntegerField(default=0)
    # {"outbox.json": [bytes, things]}
    files = models.JSONField(default=dict)
    size = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [lengths("accounts_archive_lengths", state=WORD_LIMIT, part=WORD_LIMIT, files=OBJECT_LIMIT)]
        indexes = [models.Index(fields=["expires_at"], name="accounts_archive_expiry")]


class Move(models.Model):
    """The move of an account to another one. It is kept when the move is taken back: the pause until the next counts."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="moves", db_index=False)
    target = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    target_address = models.TextField()
    followers_count = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [lengths("accounts_move_lengths", target_address=ADDRESS_LIMIT)]
        indexes = [models.Index(fields=["account", "-created_at"], name="accounts_move_account")]
