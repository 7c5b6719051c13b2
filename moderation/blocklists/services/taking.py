"""Stores the entries of fetched lists and the results of fetches. Rules are changed afterwards (`settling`)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistFetch, EntryState, EntryStep
from moderation.blocklists.policies import CHECK_INTERVAL, effect_of, hold_reason, is_weaker, taken_of
from moderation.blocklists.queries import kept_reason, load_entries
from moderation.blocklists.services.reading import ReadList
from moderation.events import BlocklistChanged
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.http.client import place_of
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT
from social.kernel.locks import keep_rows, lock_row
from social.kernel.runner import enqueue

_ROWS: Final = 500
_WORDS: Final = ("severity", "reject_media", "reject_reports", "obfuscate")


def queue_fetches() -> int:
    """Queue a fetch of each list that was not fetched for CHECK_INTERVAL; return how many were queued."""
    late = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CHECK_INTERVAL)
    due = Blocklist.objects.filter(late, enabled=True, fetch=None)
    return queue_fetch(*due.order_by("id"))


def queue_fetch(*blocklists: Blocklist) -> int:
    """Queue a fetch of these lists, of which none may wait or have been given up lately; return how many were queued."""
    with transaction.atomic():
        there = keep_rows(Blocklist, [blocklist.pk for blocklist in blocklists])
        places = ((one, place_of(one.url)) for one in blocklists if one.pk in there)
        return len(enqueue(*(BlocklistFetch(blocklist=one, host=place.netloc) for one, place in places if place)))


def store_list(blocklist: Blocklist, read: ReadList, *, body: bytes, etag: str, last_modified: str) -> None:
    """Store the entries of a list, in one transaction: new, changed and retracted ones. Publishes
    BlocklistChanged if anything has changed.

    When the list is empty, or takes back many servers at once, its changes wait for a decision in automatic mode too. A list
    that was switched off or given another address during the fetch is left unchanged.
    """
    digest = hashlib.sha256(body).hexdigest()
    with transaction.atomic():
        current = lock_row(blocklist)
        if not current.enabled or current.url != blocklist.url:
            return
        if digest != current.digest:
            _compare(current, read)
        current.digest = digest
        current.etag = _short(etag)
        current.last_modified = _short(last_modified)
        _succeeded(current)
        current.save()


def new_entry(blocklist: Blocklist, domain: str, draft: DomainRuleDraft) -> BlocklistEntry:
    """Return an entry that is not stored, of which nothing is taken over."""
    entry = BlocklistEntry(blocklist=blocklist, domain=domain)
    _write(entry, draft)
    return entry


def note_unchanged(blocklist: Blocklist) -> None:
    """Note that the list was fetched, and has not changed."""
    with transaction.atomic():
        current = lock_row(blocklist)
        _succeeded(current)
        current.save()


def note_failure(blocklist: Blocklist, reason: str) -> None:
    """Note that the list could not be fetched or read. Its entries and rules stay."""
    with transaction.atomic():
        current = lock_row(blocklist)
        current.last_error = reason.replace("\0", "")[:MESSAGE_LIMIT]
        current.failing_since = current.failing_since or clock.now()
        current.save(update_fields=["last_error", "failing_since"])


def _succeeded(blocklist: Blocklist) -> None:
    blocklist.checked_at = clock.now()
    blocklist.last_error, blocklist.failing_since = "", None


def _short(header: str) -> str:
    # A header that does not fit is not sent back: the whole list is fetched again.
    return header if len(header) <= NAME_LIMIT and header.isprintable() else ""


def _compare(blocklist: Blocklist, read: ReadList) -> None:
    known = load_entries(blocklist)
    named = {entry.name: entry.draft for entry in read.entries}
    listed = {domain for domain, entry in known.items() if entry.listed}
    missing = listed - named.keys()
    new, changed, weaker = [], [], []
    for domain, draft in named.items():
        entry = known.get(domain)
        if entry is None:
            new.append(new_entry(blocklist, domain, draft))
        elif _write(entry, draft):
            changed.append(entry)
            if is_weaker(effect_of(entry, blocklist), taken_of(entry)):
                weaker.append(entry)
    fresh = hold_reason(len(listed), len(missing) + len(weaker), len(named))
    # As long as such changes wait, later ones wait with them.
    reason = fresh or kept_reason(blocklist)
    if reason:
        # A list that is another one all of a sudden may be somebody else's now: what it adds waits as well.
        for entry in new:
            entry.state, entry.step, entry.note = EntryState.WAITING, EntryStep.BLOCK, reason
        for entry in changed:
            wanted, taken = effect_of(entry, blocklist), taken_of(entry)
            if entry.state == EntryState.PENDING and wanted is not None and wanted != taken:
                step = EntryStep.BLOCK if taken is None else EntryStep.CHANGE
                entry.state, entry.step, entry.note = EntryState.WAITING, step, reason
        for entry in weaker:
            step = EntryStep.LIFT if effect_of(entry, blocklist) is None else EntryStep.CHANGE
            entry.state, entry.step, entry.note = EntryState.WAITING, step, reason
        blocklist.entries.filter(state=EntryState.WAITING, note=blocklist.held_reason).update(note=reason)
    BlocklistEntry.objects.bulk_create(new, batch_size=_ROWS)
    columns = (*_WORDS, "comment", "listed", "state", "step", "note", "asks", "changed_at")
    BlocklistEntry.objects.bulk_update(changed, columns, batch_size=_ROWS)
    _retract(blocklist, missing, reason)
    blocklist.held_reason = fresh or kept_reason(blocklist)
    blocklist.entries_count = len(named)
    blocklist.problems, blocklist.problems_count = [text[:500] for text in read.problems], read.problems_count
    blocklist.changed_at = clock.now()
    # Looked at again: what was kept because of something else, and what is in force without the rule of a list, because a
    # person has changed or removed that.
    rule = DomainRule.objects.filter(domain=OuterRef("domain"), from_lists=True)
    again = Q(state=EntryState.KEPT) | Q(state=EntryState.IN_FORCE) & ~Exists(rule)
    BlocklistEntry.objects.filter(again, blocklist=blocklist).update(state=EntryState.PENDING)
    publish(BlocklistChanged(blocklist_id=blocklist.pk))


def _write(entry: BlocklistEntry, draft: DomainRuleDraft) -> bool:
    """Write the words of the list into an entry; return whether they have changed."""
    words = {
        "severity": str(draft.severity or DomainSeverity.SUSPEND),
        "reject_media": bool(draft.reject_media),
        "reject_reports": bool(draft.reject_reports),
        "obfuscate": bool(draft.obfuscate),
    }
    comment = draft.public_comment or ""
    is_other = not entry.listed or any(getattr(entry, name) != value for name, value in words.items())
    if not is_other and entry.comment == comment:
        return False
    if is_other:
        entry.asks = entry.asks or entry.state == EntryState.DISMISSED
        entry.state = EntryState.PENDING
        entry.changed_at = clock.now()
    for name, value in words.items():
        setattr(entry, name, value)
    entry.comment, entry.listed = comment, True
    return True


def _retract(blocklist: Blocklist, missing: Collection[str], reason: str) -> None:
    """Note that the list no longer names these servers. Entries without further use are deleted."""
    rows = BlocklistEntry.objects.filter(blocklist=blocklist, domain__one_of=missing)
    rows.filter(taken_severity=None, asks=False).delete()
    rows.filter(taken_severity=None).update(listed=False, state=EntryState.DISMISSED, step=EntryStep.NONE)
    taken = rows.exclude(taken_severity=None)
    if reason:
        waiting = {"state": EntryState.WAITING, "step": EntryStep.LIFT, "note": reason}
        taken.update(listed=False, changed_at=Now(), **waiting)
    else:
        taken.update(listed=False, changed_at=Now(), state=EntryState.PENDING)
