"""Decisions of staff about other servers: rules for domains, and the servers that are allowed where federation is limited."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, WORD_LIMIT, lengths

DOMAIN_COMMENT_LIMIT = 10_000


class DomainSeverity(models.TextChoices):
    """Effects of a rule on the accounts of a server, the mildest first (contract, entities "Admin::DomainBlock")."""

    NOOP = "noop", _("nothing")
    SILENCE = "silence", _("limited")
    SUSPEND = "suspend", _("suspended")


class DomainRule(models.Model):
    """A rule for a server and its subdomains, under the server's lower-case Punycode name; the rule for the longest matching
    name applies.

    Accounts that a rule limits or suspends get the rule's `created_at` as the time of the sanction. The time identifies these
    accounts when the rule is changed or removed. `from_lists`: the rule was written by blocklists, and no person has changed it
    since.
    """

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    severity = models.TextField(choices=DomainSeverity.choices, default=DomainSeverity.SILENCE)
    reject_media = models.BooleanField(default=False)
    reject_reports = models.BooleanField(default=False)
    obfuscate = models.BooleanField(default=False)
    private_comment = models.TextField(null=True)
    public_comment = models.TextField(null=True)
    from_lists = models.BooleanField(_("written by lists"), default=False, db_default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("rule for a server")
        verbose_name_plural = _("rules for servers")
        constraints = [
            lengths("moderation_domainrule_lengths", domain=HOST_LIMIT, severity=WORD_LIMIT),
            models.CheckConstraint(condition=Q(domain=Lower("domain")), name="moderation_domain_rule_lower_case"),
            models.CheckConstraint(
                condition=(Q(private_comment=None) | Q(private_comment__length__lte=DOMAIN_COMMENT_LIMIT))
                & (Q(public_comment=None) | Q(public_comment__length__lte=DOMAIN_COMMENT_LIMIT)),
                name="moderation_domain_rule_comments",
            ),
        ]

    def __str__(self) -> str:
        return self.domain


class DomainAllow(models.Model):
    """A server that is allowed where federation is limited, under its lower-case Punycode name."""

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("allowed server")
        verbose_name_plural = _("allowed servers")
        constraints = [
            lengths("moderation_domainallow_lengths", domain=HOST_LIMIT),
            models.CheckConstraint(condition=Q(domain=Lower("domain")), name="moderation_domain_allow_lower_case"),
        ]

    def __str__(self) -> str:
        return self.domain
