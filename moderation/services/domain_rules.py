"""Changes domain rules, and applies them to known accounts (contract, behaviours section 18)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.emojis.services.remote import remove_emojis
from accounts.events import FollowsSevered
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about, record_changes, record_each
from accounts.services.sanctions import apply_domain_rule
from accounts.services.severing import sever_server
from moderation.events import DomainRuleChanged, ServerSuspended
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies.domain_rules import DomainRuleDraft, domain_elsewhere, is_stricter, names_of
from moderation.queries.blocks import load_people_under, rule_for
from social.kernel.errors import Conflict, FieldError, Invalid, KernelError, require_valid
from social.kernel.events import Event, publish
from social.kernel.locks import lock, lock_row

BATCH_SIZE: Final = 200
_ROWS: Final = 500
_CHANGEABLE: Final = ("severity", "reject_media", "reject_reports", "obfuscate", "private_comment", "public_comment")


class AlreadyRuled(KernelError):
    """Refusal because `rule` is for the same server, or is a stricter rule for a parent domain."""

    def __init__(self, rule: DomainRule) -> None:
        super().__init__(_("You have already imposed stricter limits on %(domain)s.") % {"domain": rule.domain})
        self.rule = rule


def create_rule(*, by: Staff, domain: str, draft: DomainRuleDraft) -> DomainRule:
    """Create a rule for a server and its subdomains. Publishes DomainRuleChanged. Raises Forbidden; Invalid for a name that is
    not another server's domain; AlreadyRuled when the server has a rule or a parent domain has a stricter rule.
    """
    with transaction.atomic():
        for refusal in write_rules(by=by, drafts={domain: draft}).values():
            raise refusal
        return DomainRule.objects.get(domain=_other_domain(domain))


def change_rule(*, by: Staff, rule: DomainRule, draft: DomainRuleDraft) -> None:
    """Change the values of a rule, but not its domain. Publishes DomainRuleChanged. Raises Forbidden, Invalid, NotFound."""
    require(by, Permission.MANAGE_FEDERATION)
    values = _values(draft)
    with transaction.atomic():
        current = lock_row(rule)
        before = _state(current)
        for name, value in (values | {"from_lists": False}).items():
            setattr(current, name, value)
        current.save()
        record_about(by, "update", current, before=before, after=_state(current))
        _publish_changes(current)


def write_rules(
    *, by: Staff, drafts: Mapping[str, DomainRuleDraft], changing: Collection[str] = (), from_lists: bool = False
) -> dict[str, AlreadyRuled]:
    """Create these rules, or change the existing rules of servers in `changing`, as `create_rule` and `change_rule` do, in one
    transaction; `from_lists` means that blocklists request the rules.

    Return the refusals, keyed by domain. Publishes DomainRuleChanged. Raises Forbidden, Invalid.
    """
    require(by, Permission.MANAGE_FEDERATION)
    if not drafts:
        return {}
    values = {_other_domain(domain): _values(draft) for domain, draft in drafts.items()}
    names = {name for domain in values for name in names_of(domain)}
    new_rules, changes, refused = [], [], {}
    with transaction.atomic():
        lock("domain_rules")
        rules_by_domain = {
            rule.domain: rule
            for rule in DomainRule.objects.select_for_update().filter(domain__one_of=names).order_by("id")
        }
        for domain, new_values in values.items():
            rule = next((rules_by_domain[name] for name in names_of(domain) if name in rules_by_domain), None)
            if rule is not None and rule.domain == domain and domain in changing:
                changes.append((rule, _state(rule)))
                for name, value in (new_values | {"from_lists": from_lists}).items():
                    setattr(rule, name, value)
                continue
            candidate = DomainRule(domain=domain, from_lists=from_lists, **new_values)
            if rule is not None and (rule.domain == domain or is_stricter(rule, candidate)):
                refused[domain] = AlreadyRuled(rule)
            else:
                rules_by_domain[domain] = candidate
                new_rules.append(candidate)
        DomainRule.objects.bulk_create(new_rules, batch_size=_ROWS)
        columns = (*_CHANGEABLE, "from_lists")
        DomainRule.objects.bulk_update([rule for rule, _before in changes], columns, batch_size=_ROWS)
        _record_each(by, "create", [(rule, {}, _state(rule)) for rule in new_rules])
        _record_each(by, "update", [(rule, before, _state(rule)) for rule, before in changes])
        _publish_changes(*new_rules, *(rule for rule, _before in changes))
    return refused


def remove_rule(*, by: Staff, rule: DomainRule) -> None:
    """Remove a rule; publishes DomainRuleChanged, whose handler ends the sanctions of the rule. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        current = lock_row(rule)
        record_about(by, "destroy", current, before=_state(current), after={})
        _publish_changes(current)
        current.delete()


def remove_rules(*, by: Staff, domains: Collection[str]) -> None:
    """Remove the rules for these servers that came from blocklists, as `remove_rule` does; keep rules that a person has
    changed.
    """
    require(by, Permission.MANAGE_FEDERATION)
    if not domains:
        return
    with transaction.atomic():
        lock("domain_rules")
        locked = DomainRule.objects.select_for_update().filter(domain__one_of=domains, from_lists=True)
        rules = list(locked.order_by("id"))
        _record_each(by, "destroy", [(rule, _state(rule), {}) for rule in rules])
        _publish_changes(*rules)
        DomainRule.objects.filter(id__one_of=[rule.pk for rule in rules]).delete()


def allow_domain(*, by: Staff, domain: str) -> DomainAllow:
    """Allow a server where federation is limited; return the existing row if there is one. Raises Forbidden, Invalid."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        allow, is_new = DomainAllow.objects.get_or_create(domain=_other_domain(domain))
        if is_new:
            record_about(by, "create", allow)
    return allow


def allow_domains(*, by: Staff, domains: Iterable[str]) -> None:
    """Allow servers, as `allow_domain` does for one, in one transaction and a fixed number of statements per 500 servers.
    Raises Forbidden; Invalid; Conflict when another request allows one of these servers at the same moment.
    """
    require(by, Permission.MANAGE_FEDERATION)
    names = [_other_domain(domain) for domain in domains]
    try:
        with transaction.atomic():
            allowed = set(DomainAllow.objects.filter(domain__one_of=names).values_list("domain", flat=True))
            allows = [DomainAllow(domain=name) for name in names if name not in allowed]
            DomainAllow.objects.bulk_create(allows, batch_size=_ROWS)
            targets = [(allow.pk, allow.domain) for allow in allows]
            record_each(by=by, action="create", target_type="DomainAllow", targets=targets)
    except IntegrityError:
        raise Conflict from None


def disallow_domain(*, by: Staff, allow: DomainAllow) -> None:
    """Undo `allow_domain`. Raises Forbidden; NotFound when the server is no longer allowed."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        current = lock_row(allow)
        record_about(by, "destroy", current)
        current.delete()


def apply_rules(events: Sequence[DomainRuleChanged]) -> None:
    """Apply the current rule to at most BATCH_SIZE accounts of a server, each in its own transaction. If the rule rejects
    media, also remove at most BATCH_SIZE custom emojis of the server. If accounts or emojis may remain, DomainRuleChanged is
    published again with the next `after`; otherwise ServerSuspended is published if the server is suspended.
    """
    for event in events:
        since = datetime.fromisoformat(event.since)
        people = load_people_under(event.domain, event.after, BATCH_SIZE)
        rules = {domain: rule_for(domain) for domain in {domain for _number, domain in people}}
        for account_id, domain in people:
            rule = rules[domain]
            apply_domain_rule(
                account_id=account_id,
                limited_since=_sanction_time(rule, DomainSeverity.SILENCE),
                suspended_since=_sanction_time(rule, DomainSeverity.SUSPEND),
                before=since,
                cause=_cause(rule) if rule is not None else f"domain_rule:{event.since}",
            )
        own = rule_for(event.domain)
        are_left = own is not None and own.reject_media and remove_emojis(event.domain, BATCH_SIZE)
        if are_left or len(people) >= BATCH_SIZE:
            after = people[-1][0] if people else event.after
            with transaction.atomic():
                publish(DomainRuleChanged(domain=event.domain, since=event.since, after=after))
            continue
        if own is not None and own.severity == DomainSeverity.SUSPEND:
            with transaction.atomic():
                publish(ServerSuspended(domain=own.domain, rule_id=own.pk))


def end_follows(events: Sequence[ServerSuspended]) -> None:
    """End the follows with a suspended server in steps (`sever_server`) as long as the rule exists; then publish
    FollowsSevered.
    """
    for event in events:
        rule = rule_for(event.domain)
        if rule is None or rule.pk != event.rule_id or rule.severity != DomainSeverity.SUSPEND:
            continue
        people = [number for number, _domain in load_people_under(event.domain, event.after, BATCH_SIZE)]
        following: Event = FollowsSevered(cause=_cause(rule))
        if sever_server(account_ids=people, domain=rule.domain, cause=_cause(rule)):
            following = event
        elif len(people) >= BATCH_SIZE:
            following = replace(event, after=people[-1])
        with transaction.atomic():
            publish(following)


def _publish_changes(*rules: DomainRule) -> None:
    publish(*(DomainRuleChanged(domain=rule.domain, since=rule.created_at.isoformat()) for rule in rules))


def _cause(rule: DomainRule) -> str:
    return f"domain_rule:{rule.pk}"


def _sanction_time(rule: DomainRule | None, severity: DomainSeverity) -> datetime | None:
    return rule.created_at if rule is not None and rule.severity == severity else None


def _other_domain(domain: str) -> str:
    name = domain_elsewhere(domain)
    if name is None:
        raise Invalid.of([FieldError.invalid("domain") if domain.strip() else FieldError.blank("domain")])
    return name


def _values(draft: DomainRuleDraft) -> dict[str, Any]:
    values = {name: value for name, value in asdict(draft).items() if value is not None}
    errors = []
    if values.get("severity", DomainSeverity.NOOP) not in DomainSeverity.values:
        errors.append(FieldError.not_included("severity"))
    for name in ("private_comment", "public_comment"):
        if len(values.get(name, "")) > DOMAIN_COMMENT_LIMIT:
            errors.append(FieldError.too_long(name, DOMAIN_COMMENT_LIMIT))
    require_valid(errors)
    return values


def _state(rule: DomainRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in _CHANGEABLE}


def _record_each(by: Staff, action: str, rules: Iterable[tuple[DomainRule, dict[str, Any], dict[str, Any]]]) -> None:
    """Write an audit row for each of these rules, with its values before and after."""
    changes = [(rule.pk, rule.domain, {"before": before, "after": after}) for rule, before, after in rules]
    record_changes(by=by, action=action, target_type="DomainRule", changes=changes)
