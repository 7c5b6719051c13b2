"""Stores the entries of fetched lists and the results of fetches. Rules are changed afterwards (`settling`)."""

import hashlib
from collections.abc import Collection
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistFetch, EntryState, EntryStep
from moderation.blocklists.policies import CHECK_INTERVAL, effect_of, hold_reason, is_named_by, is_weaker, taken_of
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
    """Queue a fetch of each list whose last successful fetch was more than CHECK_INTERVAL ago; return how many were queued."""
    late = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CHECK_INTERVAL)
    due = Blocklist.objects.filter(late, enabled=True, fetch=None)
    return queue_fetch(*due.order_by("id"))


def queue_fetch(*blocklists: Blocklist) -> int:
    """Queue a fetch of these lists; return how many were queued. A list must not have a queued fetch already."""
    with transaction.atomic():
        existing = keep_rows(Blocklist, [blocklist.pk for blocklist in blocklists])
        places = ((row, place_of(row.url)) for row in blocklists if row.pk in existing)
        return len(enqueue(*(BlocklistFetch(blocklist=row, host=place.netloc) for row, place in places if place)))


def store_list(blocklist: Blocklist, read: ReadList, *, body: bytes, etag: str, last_modified: str) -> None:
    """Store the new, changed and retracted entries of a list; publishes BlocklistChanged if there are any. If the list has
    become empty or retracts many servers at once, its changes wait for a decision even in automatic mode. Nothing is stored
    if the list was disabled or got another address during the fetch.
    """
    digest = hashlib.sha256(body).hexdigest()
    with transaction.atomic():
        current = lock_row(blocklist)
        if not current.enabled or current.url != blocklist.url:
            return
        if digest != current.digest:
            _compare(current, read)
        current.digest = digest
        current.etag = _storable_header(etag)
        current.last_modified = _storable_header(last_modified)
        _succeeded(current)
        current.save()


def new_entry(blocklist: Blocklist, domain: str, draft: DomainRuleDraft) -> BlocklistEntry:
    """Return a new entry, which is not stored yet and whose effect is not adopted yet."""
    entry = BlocklistEntry(blocklist=blocklist, domain=domain)
    _write(entry, draft)
    return entry


def compare_list(blocklist: Blocklist, read: ReadList) -> list[BlocklistEntry]:
    """Return, for a dry run, the entries that a list would have if `read` were stored; nothing is stored."""
    entries = {entry.name: new_entry(blocklist, entry.name, entry.draft) for entry in read.entries}
    for domain, known in load_entries(blocklist).items():
        known.listed = domain in entries
        entries.setdefault(domain, known)
    return list(entries.values())


def note_unchanged(blocklist: Blocklist) -> None:
    """Record that a list was fetched and has not changed."""
    with transaction.atomic():
        current = lock_row(blocklist)
        _succeeded(current)
        current.save()


def note_failure(blocklist: Blocklist, reason: str) -> None:
    """Record that a list could not be fetched or read. The entries and rules of the list stay."""
    with transaction.atomic():
        current = lock_row(blocklist)
        current.last_error = reason.replace("\0", "")[:MESSAGE_LIMIT]
        current.asked_at = clock.now()
        current.failing_since = current.failing_since or current.asked_at
        current.save(update_fields=["last_error", "asked_at", "failing_since"])


def _succeeded(blocklist: Blocklist) -> None:
    blocklist.asked_at = blocklist.checked_at = clock.now()
    blocklist.last_error, blocklist.failing_since = "", None


def _storable_header(header: str) -> str:
    # A header that is too long is not stored; the next fetch is then unconditional.
    return header if len(header) <= NAME_LIMIT and header.isprintable() else ""


def _compare(blocklist: Blocklist, read: ReadList) -> None:
    known = load_entries(blocklist)
    drafts = {entry.name: entry.draft for entry in read.entries}
    listed = {domain for domain, entry in known.items() if entry.listed}
    # A server is not retracted if an unusable line still names it, even if only by a digest or with asterisks.
    missing = {domain for domain in listed - drafts.keys() if not is_named_by(domain, read.unread)}
    new, changed, weaker = [], [], []
    for domain, draft in drafts.items():
        entry = known.get(domain)
        if entry is None:
            new.append(new_entry(blocklist, domain, draft))
        elif _write(entry, draft):
            changed.append(entry)
            # Entries that are waiting for a decision or were dismissed have already been counted in an earlier update.
            if entry.state == EntryState.PENDING and is_weaker(effect_of(entry, blocklist), taken_of(entry)):
                weaker.append(entry)
    new_reason = hold_reason(len(listed), len(missing) + len(weaker), len(drafts))
    # While changes of an earlier update are waiting for such a reason, changes of later updates have to wait as well.
    reason = new_reason or kept_reason(blocklist)
    if reason:
        # A list that changes so much may belong to somebody else now, so its additions have to wait as well.
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
    BlocklistEntry.objects.bulk_create(new, batch_size=_ROWS)
    columns = (*_WORDS, "comment", "listed", "state", "step", "note", "asks", "changed_at")
    BlocklistEntry.objects.bulk_update(changed, columns, batch_size=_ROWS)
    if reason:
        blocklist.entries.filter(state=EntryState.WAITING, note=blocklist.held_reason).update(note=reason)
    _retract(blocklist, missing, reason)
    blocklist.held_reason = new_reason or kept_reason(blocklist)
    blocklist.entries_count = len(drafts)
    blocklist.problems, blocklist.problems_count = [text[:500] for text in read.problems], read.problems_count
    blocklist.changed_at = clock.now()
    # Entries without an effect, and entries in force whose rule a person has changed or removed, are compared again.
    rule = DomainRule.objects.filter(domain=OuterRef("domain"), from_lists=True)
    again = Q(state=EntryState.KEPT) | Q(state=EntryState.IN_FORCE) & ~Exists(rule)
    BlocklistEntry.objects.filter(again, blocklist=blocklist).update(state=EntryState.PENDING)
    publish(BlocklistChanged(blocklist_id=blocklist.pk))


def _write(entry: BlocklistEntry, draft: DomainRuleDraft) -> bool:
    """Set the values of an entry to the values in the list; return whether any value has changed."""
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
    """Record that the list no longer names these servers; delete entries with neither an effect nor a person's decision."""
    rows = BlocklistEntry.objects.filter(blocklist=blocklist, domain__one_of=missing)
    rows.filter(taken_severity=None, asks=False).delete()
    rows.filter(taken_severity=None).update(listed=False, state=EntryState.DISMISSED, step=EntryStep.NONE)
    taken = rows.exclude(taken_severity=None)
    waiting = {"state": EntryState.WAITING, "step": EntryStep.LIFT, "note": reason}
    taken.update(listed=False, changed_at=Now(), **waiting if reason else {"state": EntryState.PENDING})
