"""The rules of this server, the terms of service, and the weekly activity, which cannot be counted later."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import OBJECT_LIMIT, lengths


class ActivityWeek(models.Model):
    """Activity of one week, from Monday 00:00 UTC. `counted_to` is the id of the last post that is counted in `statuses`."""

    start = models.DateField(primary_key=True)
    statuses = models.BigIntegerField(default=0)
    logins = models.BigIntegerField(default=0)
    registrations = models.BigIntegerField(default=0)
    counted_to = models.BigIntegerField(default=0)


RULE_LIMIT = 1000
HINT_LIMIT = 10_000


class InstanceRule(models.Model):
    """A rule of the server; a withdrawn rule keeps its row because reports may name it."""

    text = models.TextField()
    hint = models.TextField(default="", blank=True)
    # {"de": {"text": str, "hint": str}}
    translations = models.JSONField(default=dict, blank=True)
    position = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        constraints = [
            lengths("moderation_instancerule_lengths", text=RULE_LIMIT, hint=HINT_LIMIT, translations=OBJECT_LIMIT)
        ]
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.text


TERMS_LIMIT = 200_000


class TermsOfService(models.Model):
    """A version of the terms, in Markdown; a draft until `published_at` is set. Applies from its `effective_date`."""

    text = models.TextField()
    changelog = models.TextField(default="", blank=True)
    effective_date = models.DateField(null=True, unique=True)
    published_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("terms of service")
        verbose_name_plural = _("terms of service")
        constraints = [
            models.CheckConstraint(
                condition=Q(text__length__lte=TERMS_LIMIT) & Q(changelog__length__lte=TERMS_LIMIT),
                name="moderation_terms_length",
            ),
            models.CheckConstraint(
                condition=Q(published_at=None) | Q(effective_date__isnull=False), name="moderation_terms_dated"
            ),
        ]

    def __str__(self) -> str:
        return str(self.effective_date or gettext("no date"))
