"""Reads spam rules, and the numbers of their matches."""

from typing import Final

from django.db.models import Count, QuerySet

from accounts.spam.models import RuleSubject, SpamRule
from accounts.spam.policies import SpamRules
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from social.kernel.recent import Recent

_recent: Final[Recent[SpamRules]] = Recent()


def load_rules(subject: RuleSubject) -> SpamRules:
    """Return the enabled rules for a subject, from a cache that is at most RECENT_SECONDS old in every process."""
    return _recent.get(subject, lambda: SpamRules(list(_enabled_rules(subject))))


def _enabled_rules(subject: RuleSubject) -> QuerySet[SpamRule]:
    return SpamRule.objects.filter(subject=subject, enabled=True).order_by("id")


def list_rules() -> QuerySet[SpamRule]:
    """List the rules, with the number of their matches as `met`."""
    return SpamRule.objects.annotate(met=Count("matches")).order_by("name")


def find_rule(name: str) -> SpamRule:
    """Return the rule with this name or id. Raises NotFound."""
    number = parse_id(name)
    by_id = SpamRule.objects.filter(id=number).first() if number is not None else None
    return require_found(SpamRule.objects.filter(name=name).first() or by_id)
