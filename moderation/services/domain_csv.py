"""Files of rules for servers, in the format that Mastodon writes and reads: read, planned, taken in and written.

`#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate`; the columns may stand in any order and without
the mark, and all but the first may be missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft, is_stricter, names_of
from moderation.queries.domain_follows import FollowsUnder, load_follows_under
from moderation.services.domain_rules import AlreadyRuled, change_rule, create_rule
from social.kernel import links
from social.kernel.batches import in_batches
from social.kernel.errors import Invalid, KernelError
from social.kernel.text.names import normalise_domain

COLUMNS: Final = ("#domain", "#severity", "#reject_media", "#reject_reports", "#public_comment", "#obfuscate")
ROWS_LIMIT: Final = 50_000
_BATCH: Final = 500
_TRUE: Final = ("true", "1", "t", "yes", "on")

Action = Literal["add", "change", "keep", "refuse"]


class UnreadableRules(Invalid):
    """Refusal of a file that is no list of domains."""


@dataclass(frozen=True)
class Entry:
    """Line of a file. `domain` is as it was written where it is no domain."""

    line: int
    domain: str
    draft: DomainRuleDraft
    problem: str = ""


@dataclass(frozen=True)
class Planned:
    """Action of an import for a line, and the follows between people here and that server that it ends."""

    entry: Entry
    action: Action
    reason: str = ""
    follows: FollowsUnder | None = None


def read_rules(data: bytes) -> list[Entry]:
    """The lines of a file; those that are wrong have a `problem`. Raises UnreadableRules for what is no such file."""
    try:
        text = data.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableRules(_("That is no CSV file in UTF-8.")) from error
    if len(rows) > ROWS_LIMIT:
        raise UnreadableRules(_("The file has more than %(most)d lines.") % {"most": ROWS_LIMIT})
    names = [name.strip().lower().removeprefix("#") for name in rows[0]] if rows else []
    if "domain" in names:
        rows = rows[1:]
        first = 2
    else:
        names, first = ["domain"], 1
    found: dict[str, Entry] = {}
    for number, row in enumerate(rows, start=first):
        values = dict(zip(names, (value.strip() for value in row), strict=False))
        if any(values.values()):
            entry = _entry(number, values)
            found.setdefault(entry.domain, entry)
    if not found:
        raise UnreadableRules(_("The file names no domain."))
    return list(found.values())


def _entry(line: int, values: dict[str, str]) -> Entry:
    written = values.get("domain", "")
    domain = normalise_domain(written)
    severity = values.get("severity", "").lower() or DomainSeverity.SUSPEND
    problem = ""
    if domain is None or ":" in domain or "." not in domain or links.is_own_domain(domain):
        problem = _("%(domain)s is no domain of another server") % {"domain": written[:253] or "''"}
    elif severity not in DomainSeverity.values:
        problem = _("%(severity)s is no severity") % {"severity": severity[:64]}
    draft = DomainRuleDraft(
        severity=severity,
        reject_media=_is_true(values.get("reject_media")),
        reject_reports=_is_true(values.get("reject_reports")),
        obfuscate=_is_true(values.get("obfuscate")),
        public_comment=values.get("public_comment") or None,
    )
    return Entry(line, written if problem or domain is None else domain, draft, problem)


def _is_true(value: str | None) -> bool | None:
    return None if value is None else value.lower() in _TRUE


def plan_import(entries: Sequence[Entry], *, replace: bool = False) -> list[Planned]:
    """Plan of an import, in the order of the file; a fixed number of queries for each 500 lines.

    A server that has a rule keeps it, unless the new one is stricter, or `replace` has the file decide. Follows are counted
    for suspensions, which end them.
    """
    planned: list[Planned] = []
    for batch in in_batches(entries, _BATCH):
        domains = {name for entry in batch if not entry.problem for name in names_of(entry.domain)}
        rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=domains)}
        ending = [e.domain for e in batch if not e.problem and e.draft.severity == DomainSeverity.SUSPEND]
        follows = load_follows_under(ending)
        for entry in batch:
            known = next((rules[name] for name in names_of(entry.domain) if name in rules), None)
            action, reason = _decide(entry, known, replace=replace)
            ends = follows.get(entry.domain) if action in ("add", "change") else None
            planned.append(Planned(entry, action, reason, ends))
    return planned


def _decide(entry: Entry, known: DomainRule | None, *, replace: bool) -> tuple[Action, str]:
    if entry.problem:
        return "refuse", entry.problem
    if known is None:
        return "add", ""
    draft = entry.draft
    media, reports = bool(draft.reject_media), bool(draft.reject_reports)
    severity = draft.severity or DomainSeverity.SUSPEND
    if known.domain != entry.domain:
        if is_stricter(known, severity, reject_media=media, reject_reports=reports):
            return "keep", _("%(domain)s has a stricter rule") % {"domain": known.domain}
        return "add", ""
    if all(value is None or getattr(known, name) == value for name, value in _values(draft)):
        return "keep", _("it has this rule already")
    candidate = DomainRule(severity=severity, reject_media=media, reject_reports=reports)
    if replace or is_stricter(
        candidate, known.severity, reject_media=known.reject_media, reject_reports=known.reject_reports
    ):
        return "change", _("now %(severity)s") % {"severity": known.severity}
    return "keep", _("it has another rule: %(severity)s") % {"severity": known.severity}


def _values(draft: DomainRuleDraft) -> Iterable[tuple[str, object]]:
    names = ("severity", "reject_media", "reject_reports", "obfuscate", "public_comment")
    return ((name, getattr(draft, name)) for name in names)


def import_rules(*, by: Staff, planned: Sequence[Planned]) -> Iterator[Planned]:
    """Do what was planned, each rule in a transaction of its own; yield each, with what it met meanwhile as `reason`.

    Raises Forbidden.
    """
    require(by, Permission.MANAGE_FEDERATION)
    for plan in planned:
        if plan.action not in ("add", "change"):
            yield plan
            continue
        try:
            known = DomainRule.objects.filter(domain=plan.entry.domain).first()
            if known is None:
                create_rule(by=by, domain=plan.entry.domain, draft=plan.entry.draft)
            else:
                change_rule(by=by, rule=known, draft=plan.entry.draft)
            yield plan
        except AlreadyRuled as error:
            yield Planned(plan.entry, "keep", error.message)
        except KernelError as error:
            yield Planned(plan.entry, "refuse", error.message)


def export_rules() -> Iterator[str]:
    """Yield the lines of a file with every rule but those that do nothing, as Mastodon writes it."""
    yield _line(COLUMNS)
    rows = DomainRule.objects.exclude(severity=DomainSeverity.NOOP, reject_media=False, reject_reports=False)
    for rule in rows.order_by("domain").iterator(chunk_size=_BATCH):
        yield _line(
            (
                rule.domain,
                rule.severity,
                str(rule.reject_media).lower(),
                str(rule.reject_reports).lower(),
                rule.public_comment or "",
                str(rule.obfuscate).lower(),
            )
        )


def _line(values: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(values)
    return written.getvalue()
