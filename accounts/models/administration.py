"""Audit log, and settings that an operator changes while the server runs."""

from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.functions import Upper
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import ADDRESS_LIMIT, NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths


class AuditEntry(models.Model):
    """Action of a staff member, or of the operator at the command line, on one target.

    Names are stored, because the actor and the target may be deleted later. The database refuses to change or delete an entry.
    """

    id = models.BigAutoField(primary_key=True)
    # None stands for the operator.
    account_id = models.BigIntegerField(null=True)
    account_name = models.TextField()
    action = models.TextField()
    target_type = models.TextField()
    target_id = models.BigIntegerField()
    target_name = models.TextField()
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("entry of the audit log")
        verbose_name_plural = _("audit log")
        constraints = [
            lengths(
                "accounts_auditentry_lengths",
                account_name=ADDRESS_LIMIT,
                action=WORD_LIMIT,
                target_type=WORD_LIMIT,
                target_name=ADDRESS_LIMIT,
                details=OBJECT_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["account_id", "-id"], name="accounts_audit_account"),
            models.Index(fields=["target_type", "target_id", "-id"], name="accounts_audit_target"),
            # For the admin's case-insensitive search by whole names. It is a hash index, because a name may be longer than a
            # b-tree entry.
            HashIndex(Upper("account_name"), name="accounts_audit_by_name"),
            HashIndex(Upper("target_name"), name="accounts_audit_of_name"),
        ]

    def __str__(self) -> str:
        return f"{self.account_name} {self.action} {self.target_type} {self.target_name}"


class SiteSetting(models.Model):
    """Setting of the server; a value from the environment takes precedence."""

    key = models.TextField(primary_key=True)
    value = models.JSONField()
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("setting of this server")
        verbose_name_plural = _("settings of this server")
        constraints = [lengths("accounts_sitesetting_lengths", key=NAME_LIMIT, value=OBJECT_LIMIT)]

    def __str__(self) -> str:
        return self.key
