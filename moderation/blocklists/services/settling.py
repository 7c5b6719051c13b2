"""Changes rules as blocklists ask for it, in transactions of at most BATCH entries.

Rules are written and removed by the services that staff use (`moderation.services.domain_rules`), which write an audit row
for each and have it obeyed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.domain_follows import FollowsUnder, load_follows_under
from accounts.services.audit import record, record_each
from moderation.blocklists.models import Blocklist, BlocklistEntry, EntryState, EntryStep, ListMode
from moderation.blocklists.policies import Decision, as_list, taken_of, values_of
from moderation.blocklists.queries import kept_reason, plan_entries
from moderation.events import BlocklistChanged
from moderation.models import DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import remove_rules, write_rules
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.events import publish
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.locks import lock

BATCH: Final = 500
_COLUMNS: Final = (
    "state",
    "step",
    "note",
    "asks",
    "taken_severity",
    "taken_media",
    "taken_reports",
    "changed_at",
)
_Act = Callable[[Staff, Blocklist, Sequence[BlocklistEntry]], None]


def settle_lists(events: Sequence[BlocklistChanged]) -> None:
    """Handle BlocklistChanged: look at the next BATCH entries of the list. Published again while entries are left."""
    for event in events:
        settle_next(event)


def settle_next(event: BlocklistChanged) -> BlocklistChanged | None:
    """Look at the next BATCH entries of a list; return the event that was published for those after them, None if there were
    none to look at.
    """
    with transaction.atomic():
        lock("domain_rules")
        blocklist = Blocklist.objects.select_for_update().filter(pk=event.blocklist_id).first()
        if blocklist is None:
            return None
        rows = blocklist.entries.filter(state__in=[EntryState.PENDING, EntryState.WITHDRAWN])
        # Retractions come first: what a rule for a parent domain covered may need a rule of its own then.
        entries = list(rows.select_for_update().order_by("listed", "id")[:BATCH])
        if not entries:
            return None
        ended = event.ended + _settle(as_list(blocklist), blocklist, entries, ended=event.ended)
        following = BlocklistChanged(blocklist_id=blocklist.pk, ended=ended)
        publish(following)
        return following


def approve_entries(*, by: Staff, entries: QuerySet[BlocklistEntry], limit: int | None = None) -> int:
    """Make the changes that these entries ask for, waiting and dismissed ones, at most `limit`, in transactions of BATCH
    entries; return the number of entries. Raises Forbidden.
    """
    return _by_person(by, entries.filter(state__in=[EntryState.WAITING, EntryState.DISMISSED]), _approve, limit)


def dismiss_entries(*, by: Staff, entries: QuerySet[BlocklistEntry]) -> int:
    """Refuse the changes that these waiting entries ask for, in transactions of BATCH entries; return the number of entries.
    After a dismissed retraction the rule counts as written by staff. Raises Forbidden.
    """
    return _by_person(by, entries.filter(state=EntryState.WAITING), _dismiss)


def _by_person(by: Staff, entries: QuerySet[BlocklistEntry], act: _Act, limit: int | None = None) -> int:
    require(by, Permission.MANAGE_FEDERATION)
    ids = list(entries.order_by("blocklist_id", "id").values_list("id", "blocklist_id")[:limit])
    count = 0
    for batch in in_batches(ids, BATCH):
        with transaction.atomic():
            lock("domain_rules")
            lists = Blocklist.objects.select_for_update().filter(
                id__one_of={blocklist_id for _id, blocklist_id in batch}
            )
            for blocklist in list(lists.order_by("id")):
                rows = entries.filter(blocklist=blocklist, id__one_of=[number for number, _list in batch])
                locked = list(rows.select_for_update(of=("self",)).order_by("id"))
                act(by, blocklist, locked)
                count += len(locked)
                Blocklist.objects.filter(pk=blocklist.pk).update(held_reason=kept_reason(blocklist))
    return count


def _approve(by: Staff, blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> None:
    _settle(by, blocklist, entries, approved=True)


def _dismiss(by: Staff, blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> None:
    kept = [entry for entry in entries if entry.step == EntryStep.LIFT or not entry.listed]
    DomainRule.objects.filter(domain__one_of=[entry.domain for entry in kept]).update(from_lists=False)
    for entry in entries:
        entry.state, entry.asks, entry.changed_at = EntryState.DISMISSED, True, clock.now()
    for entry in kept:
        _take(entry, None)
    _store(entries)
    targets = [(entry.pk, entry.domain) for entry in entries]
    record_each(by=by, action="dismiss", target_type="BlocklistEntry", targets=targets, list=blocklist.name)


def _settle(
    by: Staff, blocklist: Blocklist, entries: Sequence[BlocklistEntry], *, ended: int = 0, approved: bool = False
) -> int:
    """Make the changes that these locked entries ask for, or have them wait for a decision; return the number of follows that
    end.

    Must run inside a transaction that holds the lock of the rules.
    """
    decisions = plan_entries(blocklist, entries)
    follows = {} if approved else _load_follows(entries, decisions)
    budget = blocklist.follows_limit - ended
    spent = 0
    doing = []
    for entry, decision in zip(entries, decisions, strict=True):
        cost = follows.get(entry.domain, 0)
        note, waits = decision.note, False
        is_decided = approved or decision.is_decided or entry.state == EntryState.WITHDRAWN
        if decision.step != EntryStep.NONE and not is_decided:
            waits = not blocklist.enabled or blocklist.mode != ListMode.AUTOMATIC or decision.asks
            if not waits and cost > budget - spent:
                text = ngettext("%(count)d follow would end", "%(count)d follows would end", cost)
                note, waits = text % {"count": cost}, True
        entry.note, entry.changed_at = note[:MESSAGE_LIMIT], clock.now()
        if waits:
            entry.state, entry.step, entry.asks = EntryState.WAITING, decision.step, entry.asks or decision.asks
            continue
        spent += cost
        entry.asks = decision.step == EntryStep.NONE and (entry.asks or decision.asks)
        doing.append((entry, decision))
    lifted = _do(by, blocklist, doing)
    _store(entries)
    _look_again(lifted, by_list=None if approved else blocklist)
    return spent


def _load_follows(entries: Sequence[BlocklistEntry], decisions: Sequence[Decision]) -> dict[str, int]:
    closing = [
        entry.domain
        for entry, decision in zip(entries, decisions, strict=True)
        if decision.step in (EntryStep.BLOCK, EntryStep.CHANGE)
        and decision.effect is not None
        and decision.effect.severity == DomainSeverity.SUSPEND
    ]
    found: dict[str, FollowsUnder] = load_follows_under(closing)
    return {domain: follows.from_here + follows.to_here for domain, follows in found.items()}


def _do(by: Staff, blocklist: Blocklist, doing: Sequence[tuple[BlocklistEntry, Decision]]) -> list[str]:
    """Write and remove the rules, and write into the entries what was taken over; return the servers whose rule ended."""
    drafts, changing, lifted = {}, set(), []
    for entry, decision in doing:
        if decision.step == EntryStep.LIFT:
            lifted.append(entry.domain)
        elif decision.step != EntryStep.NONE and decision.effect is not None:
            effect = decision.effect
            draft = DomainRuleDraft(effect.severity, effect.reject_media, effect.reject_reports)
            if decision.step == EntryStep.BLOCK:
                draft = replace(
                    draft,
                    obfuscate=entry.obfuscate,
                    public_comment=entry.comment or None,
                    private_comment=(_("From the list %(name)s") % {"name": blocklist.name})[:DOMAIN_COMMENT_LIMIT],
                )
            else:
                changing.add(entry.domain)
            drafts[entry.domain] = draft
    if drafts or lifted:
        record(
            by=by,
            action="apply",
            target_type="Blocklist",
            target_id=blocklist.pk,
            target_name=blocklist.name,
            new=len(drafts) - len(changing),
            changed=len(changing),
            lifted=len(lifted),
        )
    remove_rules(by=by, domains=lifted)
    refused = write_rules(by=by, drafts=drafts, changing=changing, from_lists=True)
    for entry, decision in doing:
        entry.step, entry.state = EntryStep.NONE, decision.state
        if entry.domain in refused:
            entry.state, entry.note = EntryState.KEPT, refused[entry.domain].message
        else:
            _take(entry, decision)
    return lifted


def _take(entry: BlocklistEntry, decision: Decision | None) -> None:
    for name, value in values_of(decision.taken if decision is not None else None).items():
        setattr(entry, name, value)


def _store(entries: Sequence[BlocklistEntry]) -> None:
    """Store entries, and delete those without further use: the list no longer names the server, nothing is taken over, and no
    person has decided about the server.
    """
    gone = [entry.pk for entry in entries if not entry.listed and taken_of(entry) is None and not entry.asks]
    BlocklistEntry.objects.bulk_update(entries, _COLUMNS, batch_size=BATCH)
    BlocklistEntry.objects.filter(id__one_of=gone).delete()


def _look_again(lifted: Sequence[str], *, by_list: Blocklist | None) -> None:
    """Have entries compared again that changed nothing because a rule that is now removed covered them. The event of `by_list`
    itself, which is published after each batch, counts the follows that its update has ended.
    """
    if not lifted:
        return
    kept = BlocklistEntry.objects.filter(state=EntryState.KEPT, listed=True)
    endings = tuple(f".{domain}" for domain in lifted)
    found = [
        (number, blocklist_id)
        for number, domain, blocklist_id in kept.values_list("id", "domain", "blocklist_id").iterator(chunk_size=2000)
        if domain.endswith(endings)
    ]
    BlocklistEntry.objects.filter(id__one_of=[number for number, _list in found]).update(state=EntryState.PENDING)
    own = by_list.pk if by_list is not None else None
    others = sorted({number for _number, number in found if number != own})
    publish(*(BlocklistChanged(blocklist_id=number) for number in others))
