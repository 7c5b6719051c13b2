"""Files of domain rules and of allowed servers, with the columns that Mastodon writes and reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as changed
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.queries.servers import load_follows_under
from accounts.services.block_files import BATCH, Action, BlockFile, Entry, Planned, WrongLine, is_true
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies import domain_rules as policies
from moderation.policies.domain_rules import DomainRuleDraft, is_stricter, names_of
from moderation.services.domain_rules import allow_domains, write_rules

SEVERITIES: Final[Mapping[str, str]] = {
    **{severity.value: severity for severity in DomainSeverity},
    "": DomainSeverity.SUSPEND,
    "limit": DomainSeverity.SILENCE,
}
"""Severities, keyed by their names in files from Mastodon and other programs."""

_COMPARED: Final = ("severity", "reject_media", "reject_reports", "obfuscate", "public_comment")


def _server(name: str) -> str:
    domain = policies.domain_elsewhere(name)
    # A name without a dot is probably from another kind of file. Such names can be entered by hand, for servers of a local
    # network.
    if domain is None or "." not in domain:
        raise WrongLine(_("%(domain)s is not the domain of another server") % {"domain": name[:253] or "''"})
    return domain


class RuleFile(BlockFile[DomainRuleDraft]):
    """Rules for servers; a rule without a severity suspends its server, as in Mastodon."""

    columns = ("#domain", "#severity", "#reject_media", "#reject_reports", "#public_comment", "#obfuscate")
    permission = Permission.MANAGE_FEDERATION
    name_title = gettext_lazy("Server")
    filename = "domain_blocks.csv"
    command = "manage.py manage_domain_rules import"
    changes = True

    def parse(self, values: dict[str, str]) -> tuple[str, DomainRuleDraft]:
        # Some lists write `*.` before a name; a domain rule covers subdomains anyway.
        domain = _server(values.get("domain", "").removeprefix("*."))
        written = values.get("severity", "").lower()
        severity = SEVERITIES.get(written)
        comment = values.get("public_comment", "")
        if severity is None:
            raise WrongLine(_("%(severity)s is not a severity") % {"severity": written[:64]})
        if len(comment) > DOMAIN_COMMENT_LIMIT:
            raise WrongLine(_("its comment is longer than %(count)d characters") % {"count": DOMAIN_COMMENT_LIMIT})
        return domain, DomainRuleDraft(
            severity=severity,
            reject_media=is_true(values.get("reject_media")),
            reject_reports=is_true(values.get("reject_reports")),
            obfuscate=is_true(values.get("obfuscate")),
            public_comment=comment or None,
        )

    def plan(self, entries: Sequence[Entry[DomainRuleDraft]], *, replace: bool) -> Iterator[Planned[DomainRuleDraft]]:
        """Plan the changes, with the follows that suspensions would end."""
        domains = {name for entry in entries for name in names_of(entry.name)}
        rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=domains)}
        follows = load_follows_under(e.name for e in entries if e.draft.severity == DomainSeverity.SUSPEND)
        for entry in entries:
            known = next((rules[name] for name in names_of(entry.name) if name in rules), None)
            action, reason = _decide(entry, known, replace=replace)
            yield Planned(entry, action, reason, follows.get(entry.name) if action in ("add", "change") else None)

    def do(self, by: Staff, plans: Sequence[Planned[DomainRuleDraft]]) -> Sequence[Planned[DomainRuleDraft]]:
        drafts = {plan.entry.name: plan.entry.draft for plan in plans}
        changing = {plan.entry.name for plan in plans if plan.action == "change"}
        refused = write_rules(by=by, drafts=drafts, changing=changing)
        return [
            changed(plan, action="keep", reason=refused[plan.entry.name].message)
            if plan.entry.name in refused
            else plan
            for plan in plans
        ]

    def rows(self) -> Iterator[Sequence[str]]:
        """Return the values of all rules that have an effect."""
        return self.values_of(DomainRule.objects.all())

    @staticmethod
    def values_of(rules: QuerySet[DomainRule]) -> Iterator[Sequence[str]]:
        """Return the values of these rules as Mastodon writes them; rules without an effect are left out."""
        rules = rules.exclude(severity=DomainSeverity.NOOP, reject_media=False, reject_reports=False)
        for rule in rules.order_by("domain").iterator(chunk_size=BATCH):
            yield (
                rule.domain,
                rule.severity,
                str(rule.reject_media).lower(),
                str(rule.reject_reports).lower(),
                rule.public_comment or "",
                str(rule.obfuscate).lower(),
            )

    def details(self, draft: DomainRuleDraft) -> str:
        return str(DomainSeverity(draft.severity or DomainSeverity.SUSPEND).label)


class PublicRuleFile(RuleFile):
    """The rules that this server publishes as a blocklist. Rules whose domain is obfuscated are left out. Rules from the lists
    of others are left out as well, because two servers that subscribe to each other would never remove them.
    """

    def __init__(self, *, with_rationale: bool) -> None:
        self._with_rationale = with_rationale

    def rows(self) -> Iterator[Sequence[str]]:
        """Return the values of every published rule."""
        published = DomainRule.objects.filter(
            severity__in=[DomainSeverity.SILENCE, DomainSeverity.SUSPEND], obfuscate=False, from_lists=False
        )
        for *values, comment, obfuscate in self.values_of(published):
            yield (*values, comment if self._with_rationale else "", obfuscate)


def _decide(entry: Entry[DomainRuleDraft], rule: DomainRule | None, *, replace: bool) -> tuple[Action, str]:
    if rule is None:
        return "add", policies.all_below() if policies.is_registry(entry.name) else ""
    draft = entry.draft
    candidate = changed(draft, severity=draft.severity or DomainSeverity.SUSPEND)
    if rule.domain != entry.name:
        if is_stricter(rule, candidate):
            return "keep", _("%(domain)s has a stricter rule") % {"domain": rule.domain}
        return "add", ""
    if all(getattr(draft, name) in (None, getattr(rule, name)) for name in _COMPARED):
        return "keep", _("it has this rule already")
    now = {"severity": rule.get_severity_display()}
    if replace or is_stricter(candidate, rule):
        return "change", _("now %(severity)s") % now
    return "keep", _("it has a different rule: %(severity)s") % now


class AllowFile(BlockFile[None]):
    """Servers that are allowed where federation is limited."""

    columns = ("#domain",)
    permission = Permission.MANAGE_FEDERATION
    name_title = gettext_lazy("Server")
    filename = "domain_allows.csv"
    command = "manage.py manage_domain_rules import --allowed"

    def parse(self, values: dict[str, str]) -> tuple[str, None]:
        return _server(values.get("domain", "")), None

    def plan(self, entries: Sequence[Entry[None]], *, replace: bool) -> Iterator[Planned[None]]:
        names = [entry.name for entry in entries]
        allowed = set(DomainAllow.objects.filter(domain__one_of=names).values_list("domain", flat=True))
        for entry in entries:
            yield Planned(entry, "keep", _("it is allowed already")) if entry.name in allowed else Planned(entry, "add")

    def do(self, by: Staff, plans: Sequence[Planned[None]]) -> Sequence[Planned[None]]:
        allow_domains(by=by, domains=[plan.entry.name for plan in plans])
        return plans

    def rows(self) -> Iterator[Sequence[str]]:
        names = DomainAllow.objects.order_by("domain").values_list("domain", flat=True)
        return ((name,) for name in names.iterator(chunk_size=BATCH))
