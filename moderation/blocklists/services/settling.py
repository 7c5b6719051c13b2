"""Changes rules as requested by blocklist entries, through the services for staff, in transactions of at most BATCH entries."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.servers import load_follows_under
from accounts.services.audit import record_about, record_each
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryState, EntryStep, ListMode
from moderation.blocklists.policies import Decision, as_list, taken_of, values_of
from moderation.blocklists.queries import kept_reason, plan_entries
from moderation.blocklists.services.lists import add_exception
from moderation.blocklists.services.staff_drafts import remove_drafts, write_drafts
from moderation.events import BlocklistChanged
from moderation.models import DomainRule, DomainSeverity
from moderation.models.domain_rule import DOMAIN_COMMENT_LIMIT
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import remove_rules, write_rules
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.errors import Conflict, require_found
from social.kernel.events import publish
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.locks import lock

BATCH: Final = 500
_COLUMNS: Final = ("state", "step", "note", "asks", "taken_severity", "taken_media", "taken_reports", "changed_at")
# A function that acts on entries of a list or, if the list is None, on drafts of staff.
_Act = Callable[[Staff, Blocklist | None, Sequence[BlocklistEntry]], None]


def settle_lists(events: Sequence[BlocklistChanged]) -> None:
    """Handle BlocklistChanged: settle the next BATCH entries of each list; delete a removed list once all its entries are
    settled.
    """
    for event in events:
        settle_next(event)


def settle_next(event: BlocklistChanged) -> BlocklistChanged | None:
    """Settle the next BATCH pending entries of a list; return the event published for the remaining entries, if any."""
    with transaction.atomic():
        lock("domain_rules")
        blocklist = Blocklist.objects.select_for_update().filter(pk=event.blocklist_id).first()
        if blocklist is None:
            return None
        rows = blocklist.entries.filter(state__in=[EntryState.PENDING, EntryState.WITHDRAWN])
        # Retractions come first, because subdomains may need rules of their own once a rule for their parent is removed.
        entries = list(rows.select_for_update().order_by("listed", "id")[:BATCH])
        if not entries:
            if blocklist.ending:
                blocklist.delete()
            return None
        ended = event.ended + _settle(as_list(blocklist), blocklist, entries, ended=event.ended)
        following = BlocklistChanged(blocklist_id=blocklist.pk, ended=ended)
        publish(following)
        return following


def approve_entries(*, by: Staff, entries: QuerySet[BlocklistEntry], limit: int | None = None) -> int:
    """Make the changes that these entries request, for at most `limit` entries, in transactions of BATCH entries; entries that
    are neither waiting nor dismissed are skipped. Return the number of entries. Raises Forbidden.
    """
    return _by_person(by, entries.filter(state__in=[EntryState.WAITING, EntryState.DISMISSED]), _approve, limit)


def dismiss_entries(*, by: Staff, entries: QuerySet[BlocklistEntry]) -> int:
    """Dismiss these entries in transactions of BATCH entries; entries that are not waiting for a decision are skipped. Return
    the number of dismissed entries. If the list has retracted an entry, the rule stays and counts as written by staff. Raises
    Forbidden.
    """
    return _by_person(by, entries.filter(state=EntryState.WAITING), _dismiss)


def accept_entry(*, by: Staff, entry: BlocklistEntry, overwrite: bool = False) -> DomainRule:
    """Make the change that a waiting entry requests; return the rule. An existing rule is changed only with `overwrite`, and
    never if staff have written it. Raises Forbidden, NotFound, and Conflict with the reason if the entry is still waiting
    afterwards.
    """
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        lock("domain_rules")
        rows = BlocklistEntry.objects.filter(pk=entry.pk, state=EntryState.WAITING)
        is_ruled = DomainRule.objects.filter(domain=entry.domain).exists()
        if is_ruled and not overwrite and rows.exists():
            raise Conflict(_("There is a rule for %(domain)s already.") % {"domain": entry.domain})
        require_found(approve_entries(by=by, entries=rows) or None)
        settled = BlocklistEntry.objects.filter(pk=entry.pk).first()
        if settled is not None and settled.state != EntryState.IN_FORCE:
            raise Conflict(settled.note or None)
        return require_found(DomainRule.objects.filter(domain=entry.domain).first())


def dismiss_entry(*, by: Staff, entry: BlocklistEntry, protect: bool = False) -> None:
    """Dismiss a waiting entry; with `protect`, add an exception for its server. Raises Forbidden, NotFound."""
    with transaction.atomic():
        lock("domain_rules")
        require_found(dismiss_entries(by=by, entries=BlocklistEntry.objects.filter(pk=entry.pk)) or None)
        if protect and not BlocklistException.objects.filter(domain=entry.domain).exists():
            add_exception(by=by, domain=entry.domain)


def _by_person(by: Staff, entries: QuerySet[BlocklistEntry], act: _Act, limit: int | None = None) -> int:
    require(by, Permission.MANAGE_FEDERATION)
    ids = list(entries.order_by("blocklist_id", "id").values_list("id", "blocklist_id")[:limit])
    count = 0
    for batch in in_batches(ids, BATCH):
        with transaction.atomic():
            lock("domain_rules")
            lists = Blocklist.objects.select_for_update().filter(
                id__one_of={blocklist_id for _id, blocklist_id in batch if blocklist_id is not None}
            )
            for blocklist in (*lists.order_by("id"), None):
                rows = entries.filter(blocklist=blocklist, id__one_of=[number for number, _list in batch])
                locked = list(rows.select_for_update(of=("self",)).order_by("id"))
                act(by, blocklist, locked)
                count += len(locked)
                if blocklist is not None:
                    Blocklist.objects.filter(pk=blocklist.pk).update(held_reason=kept_reason(blocklist))
    return count


def _approve(by: Staff, blocklist: Blocklist | None, entries: Sequence[BlocklistEntry]) -> None:
    if blocklist is None:
        write_drafts(by, entries)
    else:
        _settle(by, blocklist, entries, approved=True)


def _dismiss(by: Staff, blocklist: Blocklist | None, entries: Sequence[BlocklistEntry]) -> None:
    if blocklist is None:
        remove_drafts(by, entries)
        return
    unchanged = [entry for entry in entries if entry.step == EntryStep.LIFT or not entry.listed]
    DomainRule.objects.filter(domain__one_of=[entry.domain for entry in unchanged]).update(from_lists=False)
    for entry in entries:
        entry.state, entry.asks, entry.changed_at = EntryState.DISMISSED, True, clock.now()
    for entry in unchanged:
        _adopt(entry, None)
    _store(entries)
    targets = [(entry.pk, entry.domain) for entry in entries]
    record_each(by=by, action="dismiss", target_type="BlocklistEntry", targets=targets, list=blocklist.name)


def _settle(
    by: Staff, blocklist: Blocklist, entries: Sequence[BlocklistEntry], *, ended: int = 0, approved: bool = False
) -> int:
    """Make the changes that these locked entries request, or let them wait for a decision; return the number of follows that
    end. Must run in a transaction that holds the lock of the rules. `ended` counts the follows that earlier batches of the same
    update have ended. `approved` means that a person has approved the changes.
    """
    decisions = plan_entries(blocklist, entries)
    follows = {} if approved else _load_follows(entries, decisions)
    budget = blocklist.follows_limit - ended
    spent = 0
    decided = []
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
        decided.append((entry, decision))
    lifted = _write_rules(by, blocklist, decided)
    _store(entries)
    _compare_covered_again(lifted, by_list=None if approved else blocklist)
    return spent


def _load_follows(entries: Sequence[BlocklistEntry], decisions: Sequence[Decision]) -> dict[str, int]:
    closing = [
        entry.domain
        for entry, decision in zip(entries, decisions, strict=True)
        if decision.step in (EntryStep.BLOCK, EntryStep.CHANGE)
        and decision.effect is not None
        and decision.effect.severity == DomainSeverity.SUSPEND
    ]
    loaded = load_follows_under(closing)
    return {domain: follows.from_here + follows.to_here for domain, follows in loaded.items()}


def _write_rules(by: Staff, blocklist: Blocklist, decided: Sequence[tuple[BlocklistEntry, Decision]]) -> list[str]:
    """Write and remove the rules, and set the adopted effects in the entries; return the servers whose rules were removed."""
    drafts, changing, lifted = {}, set(), []
    for entry, decision in decided:
        if decision.step == EntryStep.LIFT:
            lifted.append(entry.domain)
        elif decision.step != EntryStep.NONE and decision.effect is not None:
            draft = DomainRuleDraft(*astuple(decision.effect))
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
        counts = {"new": len(drafts) - len(changing), "changed": len(changing), "lifted": len(lifted)}
        record_about(by, "apply", blocklist, **counts)
    remove_rules(by=by, domains=lifted)
    refused = write_rules(by=by, drafts=drafts, changing=changing, from_lists=True)
    for entry, decision in decided:
        entry.step, entry.state = EntryStep.NONE, decision.state
        if entry.domain in refused:
            entry.state, entry.note = EntryState.KEPT, refused[entry.domain].message
        else:
            _adopt(entry, decision)
    return lifted


def _adopt(entry: BlocklistEntry, decision: Decision | None) -> None:
    for name, value in values_of(decision.taken if decision is not None else None).items():
        setattr(entry, name, value)


def _store(entries: Sequence[BlocklistEntry]) -> None:
    """Store these entries; delete entries that are no longer listed, have no effect, and were not decided on by a person."""
    gone = [entry.pk for entry in entries if not entry.listed and taken_of(entry) is None and not entry.asks]
    BlocklistEntry.objects.bulk_update(entries, _COLUMNS, batch_size=BATCH)
    BlocklistEntry.objects.filter(id__one_of=gone).delete()


def _compare_covered_again(lifted: Sequence[str], *, by_list: Blocklist | None) -> None:
    """Mark the entries for subdomains of these servers as pending, because the rules that covered them were removed. Publish
    BlocklistChanged for the lists of these entries except `by_list`.
    """
    if not lifted:
        return
    covered = BlocklistEntry.objects.filter(state=EntryState.KEPT, listed=True)
    endings = tuple(f".{domain}" for domain in lifted)
    columns = covered.values_list("id", "domain", "blocklist_id").iterator(chunk_size=2000)
    pending = [(number, blocklist_id) for number, domain, blocklist_id in columns if domain.endswith(endings)]
    BlocklistEntry.objects.filter(id__one_of=[number for number, _list in pending]).update(state=EntryState.PENDING)
    others = {blocklist_id for _number, blocklist_id in pending} - {by_list.pk if by_list is not None else None}
    publish(*(BlocklistChanged(blocklist_id=number) for number in sorted(others)))
