"""Decides how an entry of a blocklist changes a rule. A change is never stricter than the operator allowed, never overrides
the decision of a person, and never concerns this server, an allowed server or an exception.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff
from moderation.blocklists.models import Blocklist, BlocklistEntry, EntryState, EntryStep, ListFormat, TakenAs
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import STRICTNESS, all_below, digest_of, is_registry, is_stricter, names_of
from social.kernel.errors import FieldError
from social.kernel.http.client import place_of
from social.kernel.lengths import NAME_LIMIT

LISTS_LIMIT: Final = 50
"""Maximum number of subscriptions."""

CHECK_INTERVAL: Final = timedelta(hours=6)
"""Time between two fetches of a list."""

FAILURE_LIMIT: Final = timedelta(days=3)
"""Time after which `manage.py doctor` reports a list that cannot be fetched."""

_LOSS_COUNT: Final = 5
_LOSS_SHARE: Final = 0.25
_OBSCURED_LIMIT: Final = 1000


@dataclass(frozen=True)
class BlocklistDraft:
    """The values of a subscription, as staff have chosen them. If `password` is None, the stored password is kept."""

    name: str
    url: str
    mode: str
    suspend_as: str
    silence_as: str
    noop_as: str
    take_rejections: bool
    follows_limit: int
    username: str = ""
    password: str | None = field(default=None, repr=False)
    content_type: str = ListFormat.CSV


@dataclass(frozen=True)
class Effect:
    """Effect of a rule on a server."""

    severity: str
    reject_media: bool = False
    reject_reports: bool = False


@dataclass(frozen=True)
class Decision:
    """The consequence of an entry.

    `step` is the change to the rule, and `effect` is the effect of the rule after this change (None: no rule from lists is
    left). `taken` is the effect that is adopted from the entry (None: no effect). `state` is the new state of the entry, and
    `note` is the reason for the state, as a text.

    `asks` means that a person must decide, even in automatic mode. `is_decided` means that a person has already decided, by
    adding an exception.
    """

    step: EntryStep
    effect: Effect | None
    taken: Effect | None
    state: EntryState
    note: str = ""
    asks: bool = False
    is_decided: bool = False


def as_list(blocklist: Blocklist) -> Staff:
    """Return the list as an actor, so that the audit log names it as the author of automatic changes."""
    return Staff(None, f"list {blocklist.name}", int(Permission.MANAGE_FEDERATION), None)


def draft_of(blocklist: Blocklist) -> BlocklistDraft:
    """Return the values of a stored list; `password` is None, so that the stored password is kept."""
    names = [each.name for each in fields(BlocklistDraft) if each.name != "password"]
    return BlocklistDraft(**{name: getattr(blocklist, name) for name in names})


def blocklist_errors(draft: BlocklistDraft) -> list[FieldError]:
    errors = []
    if not draft.name.strip():
        errors.append(FieldError.blank("name"))
    elif len(draft.name) > NAME_LIMIT:
        errors.append(FieldError.too_long("name", NAME_LIMIT))
    if place_of(draft.url) is None:
        message = _("is not an address from which this server can fetch a list, such as https://…")
        errors.append(FieldError("url", "ERR_INVALID", message))
    for theirs in reversed(DomainSeverity):
        if getattr(draft, f"{theirs}_as") not in allowed_effects(theirs):
            message = _("must not be stricter than the severity of the list")
            errors.append(FieldError(f"{theirs}_as", "ERR_INCLUSION", message))
    if draft.content_type not in ListFormat.values:
        errors.append(FieldError.not_included("content_type"))
    return errors + access_errors(draft.username, draft.password or "")


def allowed_effects(severity: str) -> list[str]:
    """Return the effects (TakenAs) that staff may choose for this severity of a list: none is stricter than the list."""
    return [ours for ours in TakenAs.values if ours == TakenAs.IGNORE or STRICTNESS[ours] <= STRICTNESS[severity]]


def access_errors(username: str, password: str) -> list[FieldError]:
    """Return the errors of a username and a password for basic authentication (RFC 7617 section 2)."""
    errors = []
    for name, value, forbidden in (("username", username, ":"), ("password", password, "")):
        if len(value) > NAME_LIMIT:
            errors.append(FieldError.too_long(name, NAME_LIMIT))
        elif not value.isprintable() or (forbidden and forbidden in value):
            errors.append(FieldError.invalid(name))
    if password and not username:
        errors.append(FieldError.blank("username"))
    return errors


def is_same_origin(url: str, other: str) -> bool:
    """Tell whether both URLs have the same origin (RFC 6454); only then may the password for one be sent to the other."""
    first, second = place_of(url), place_of(other)
    return first is not None and second is not None and first.origin == second.origin


def effect_of(entry: BlocklistEntry, blocklist: Blocklist) -> Effect | None:
    """Return the effect that an entry requests and that the options of its list allow; None for no effect."""
    ours = getattr(blocklist, f"{entry.severity}_as")
    if not entry.listed or ours == TakenAs.IGNORE:
        return None
    takes = blocklist.take_rejections
    effect = Effect(ours, takes and entry.reject_media, takes and entry.reject_reports)
    return None if effect == Effect(DomainSeverity.NOOP) else effect


def taken_of(entry: BlocklistEntry) -> Effect | None:
    """Return the effect that was adopted from an entry; None if no effect was adopted."""
    if entry.taken_severity is None:
        return None
    return Effect(entry.taken_severity, entry.taken_media, entry.taken_reports)


def strictest(effects: Iterable[Effect]) -> Effect | None:
    """Return an effect with the strictest severity and all rejections of these effects; None if there are no effects."""
    combined = list(effects)
    if not combined:
        return None
    return Effect(
        max((effect.severity for effect in combined), key=lambda severity: STRICTNESS[severity]),
        any(effect.reject_media for effect in combined),
        any(effect.reject_reports for effect in combined),
    )


def _effect_of_rule(rule: DomainRule) -> Effect:
    return Effect(rule.severity, rule.reject_media, rule.reject_reports)


def _unchanged(note: str, state: EntryState = EntryState.KEPT, *, asks: bool = False) -> Decision:
    return Decision(EntryStep.NONE, None, None, state, note, asks=asks)


def decide(
    entry: BlocklistEntry,
    wanted: Effect | None,
    *,
    rule: DomainRule | None,
    above: DomainRule | None,
    others: Sequence[Effect],
    protected: str,
    dismissed: bool,
) -> Decision:
    """Return the consequence of an entry that requests the effect `wanted` (None: no effect).

    `rule` is the rule for the server itself, and `above` is the rule for its closest parent domain that has a rule. `others`
    are the effects adopted from other lists for the same server. `protected` is the reason why no list may block the server, or
    empty. `dismissed` tells whether a person has dismissed another list's entry for the same server.
    """
    taken = taken_of(entry)
    if wanted is None or protected:
        note = protected or ("" if entry.listed else _("it is no longer on the list"))
        without = _decide_retraction(taken, rule, others, note or _("its severity is ignored"))
        return replace(without, is_decided=bool(protected))
    if rule is not None and not rule.from_lists:
        note = _("staff have set a rule for it: %(severity)s") % {"severity": rule.get_severity_display()}
        return _unchanged(note, asks=True)
    if rule is None:
        if taken is not None:
            return _unchanged(_("a person has removed the rule"), EntryState.DISMISSED, asks=True)
        if above is not None and is_stricter(above, wanted):
            return _unchanged(_("%(domain)s has a stricter rule") % {"domain": above.domain})
        note = _("the same entry of another list was dismissed") if dismissed else ""
        if wide := is_registry(entry.domain):
            note = all_below()
        effect, asks = strictest([wanted, *others]), entry.asks or dismissed or wide
        return Decision(EntryStep.BLOCK, effect, wanted, EntryState.IN_FORCE, note, asks=asks)
    target = strictest([wanted, *others])
    now = _effect_of_rule(rule)
    if target == now:
        return Decision(EntryStep.NONE, now, wanted, EntryState.IN_FORCE)
    note = _("now %(severity)s") % {"severity": rule.get_severity_display()}
    return Decision(EntryStep.CHANGE, target, wanted, EntryState.IN_FORCE, note, asks=entry.asks)


def _decide_retraction(taken: Effect | None, rule: DomainRule | None, others: Sequence[Effect], note: str) -> Decision:
    """Return the consequence of an entry that no longer requests an effect."""
    if taken is None:
        return _unchanged(note)
    if rule is None or not rule.from_lists:
        return _unchanged(_("a person has changed the rule"), asks=True)
    rest = strictest(others)
    step = EntryStep.LIFT if rest is None else EntryStep.CHANGE
    if rest == _effect_of_rule(rule):
        step = EntryStep.NONE
    return Decision(step, rest, None, EntryState.KEPT, note)


def is_weaker(wanted: Effect | None, taken: Effect | None) -> bool:
    """Tell whether the effect that a list requests is weaker than the effect adopted from it before."""
    if taken is None:
        return False
    return wanted is None or STRICTNESS[wanted.severity] < STRICTNESS[taken.severity]


def hold_reason(known: int, lost: int, named: int) -> str:
    """Return the reason why the changes of an automatic list must wait for a person; empty for an ordinary update. The list may
    be wrong if it has become empty, or if it retracts or weakens too many entries at once (`lost` of `known`).
    """
    if known and not named:
        return _("The list has suddenly become empty.")
    if lost > _LOSS_COUNT and lost > known * _LOSS_SHARE:
        counts = {"lost": lost, "known": known}
        return _("The list has suddenly removed or weakened %(lost)d of its %(known)d entries.") % counts
    return ""


def is_named_by(domain: str, unread: frozenset[str]) -> bool:
    """Tell whether an unusable line of a list names this server: by its name, by the digest of its name, or with asterisks in
    place of letters, as Mastodon publishes the names of some servers. `unread` are the names and digests in such lines.
    """
    if domain in unread or digest_of(domain) in unread:
        return True
    obscured = islice((text for text in unread if "*" in text), _OBSCURED_LIMIT)
    return any(
        len(text) == len(domain) and all(letter in ("*", own) for letter, own in zip(text, domain, strict=True))
        for text in obscured
    )


def is_related(domain: str, protected: set[str], parents: set[str]) -> bool:
    """Tell whether a domain is one of the protected servers, one of their parent domains, or a subdomain of such a server."""
    return domain in parents or not protected.isdisjoint(names_of(domain))


def parents_of(domains: Iterable[str]) -> set[str]:
    """Return the names of all parent domains of these servers."""
    return {name for domain in domains for name in names_of(domain)[1:]}


def values_of(effect: Effect | None) -> dict[str, Any]:
    """Return the columns of an entry that store the adopted effect (None: no effect)."""
    values = (None, False, False) if effect is None else astuple(effect)
    return dict(zip(("taken_severity", "taken_media", "taken_reports"), values, strict=True))
