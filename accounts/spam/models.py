"""Spam rules, which hold posts and sign-ups for review, limit accounts or report them; and the matches of the rules."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths


class RuleSubject(models.TextChoices):
    """Subjects that a rule checks."""

    POSTS = "posts", _("Posts")
    SIGN_UPS = "sign_ups", _("Sign-ups")


class RuleOutcome(models.TextChoices):
    HOLD = "hold", _("Hold for review")
    LIMIT = "limit", _("Limit the account")
    REPORT = "report", _("Report the account")


class RuleOrigin(models.TextChoices):
    """Servers whose posts a rule checks."""

    ANY = "any", _("Any server")
    LOCAL = "local", _("This server")
    REMOTE = "remote", _("Other servers")


class SpamRule(models.Model):
    """Rule that matches when all its conditions match. A list matches if any of its entries does; an empty list always matches.

    Conditions for posts: `words`, hosts of links (with subdomains), a minimum number of mentions, an author known here for at
    most `maximum_age_hours`, and `first_contact` (no mentioned account has a relation to the author). Conditions for sign-ups:
    words in the reason, e-mail domains (with subdomains) and networks.
    """

    id = SnowflakeField(primary_key=True)
    name = models.TextField(unique=True)
    enabled = models.BooleanField(default=False)
    subject = models.TextField(choices=RuleSubject.choices)
    outcome = models.TextField(choices=RuleOutcome.choices)
    words = ArrayField(models.TextField(), default=list)
    link_hosts = ArrayField(models.TextField(), default=list)
    minimum_mentions = models.PositiveIntegerField(null=True)
    maximum_age_hours = models.PositiveIntegerField(null=True)
    first_contact = models.BooleanField(default=False)
    origin = models.TextField(choices=RuleOrigin.choices, default=RuleOrigin.ANY)
    mail_domains = ArrayField(models.TextField(), default=list)
    networks = ArrayField(models.TextField(), default=list)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("spam rule")
        verbose_name_plural = _("spam rules")
        constraints = [
            lengths(
                "accounts_spamrule_lengths",
                name=NAME_LIMIT,
                subject=WORD_LIMIT,
                outcome=WORD_LIMIT,
                words=OBJECT_LIMIT,
                link_hosts=OBJECT_LIMIT,
                origin=WORD_LIMIT,
                mail_domains=OBJECT_LIMIT,
                networks=OBJECT_LIMIT,
            )
        ]
        indexes = [models.Index(fields=["subject"], name="accounts_spamrule_enabled", condition=models.Q(enabled=True))]

    def __str__(self) -> str:
        return self.name


class SpamRuleMatch(models.Model):
    """Match of a rule with a post or sign-up of `account`; `status_id` is None for a held post and a sign-up."""

    rule = models.ForeignKey(SpamRule, on_delete=models.CASCADE, related_name="matches", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    outcome = models.TextField(choices=RuleOutcome.choices)
    status_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [lengths("accounts_spamrulematch_lengths", outcome=WORD_LIMIT)]
        indexes = [
            models.Index(fields=["rule", "-id"], name="accounts_spamrulematch_rule"),
            models.Index(fields=["created_at"], name="accounts_spamrulematch_age"),
        ]
