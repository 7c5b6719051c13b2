"""Changes subscriptions to blocklists and exceptions. These changes require `by` to have MANAGE_FEDERATION, and each change is
logged.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from moderation.blocklists.models import (
    Blocklist,
    BlocklistEntry,
    BlocklistException,
    BlocklistFetch,
    EntryState,
    EntryStep,
)
from moderation.blocklists.policies import LISTS_LIMIT, BlocklistDraft, blocklist_errors, draft_of, is_same_origin
from moderation.blocklists.services.taking import queue_fetch
from moderation.events import BlocklistChanged
from moderation.models import DomainRule
from moderation.policies.domain_rules import domain_elsewhere, names_of
from social.kernel.crypto import encrypt, reencrypt
from social.kernel.errors import Conflict, FieldError, Invalid, NotFound, require_valid
from social.kernel.events import publish
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.locks import lock, lock_row

_MAP: Final = ("suspend_as", "silence_as", "noop_as", "take_rejections")
_SOURCE: Final = ("url", "username", "password", "content_type")
#: Values that make the next fetch of a list unconditional, like its first fetch.
_UNFETCHED: Final = {"etag": "", "last_modified": "", "digest": "", "failing_since": None}


def subscribe(*, by: Staff, draft: BlocklistDraft) -> Blocklist:
    """Subscribe to a list, which is fetched soon. Raises Forbidden, Invalid, and Conflict if there are LISTS_LIMIT lists."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        lock("blocklists")
        _check(draft)
        if Blocklist.objects.count() >= LISTS_LIMIT:
            raise Conflict(_("There are %(count)d lists already.") % {"count": LISTS_LIMIT})
        values = _values(draft)
        blocklist = Blocklist.objects.create(**values)
        record_about(by, "create", blocklist, after=_shown(values))
        queue_fetch(blocklist)
    return blocklist


def change_list(*, by: Staff, blocklist: Blocklist, draft: BlocklistDraft) -> None:
    """Replace all values of a subscription with a draft's; see `change_values`. Raises Forbidden, Invalid, NotFound."""
    change_values(by=by, blocklist=blocklist, changes=vars(draft))


def change_values(*, by: Staff, blocklist: Blocklist, changes: Mapping[str, Any]) -> None:
    """Change some values of a subscription, given by the field names of a draft. If its options for severities or rejections
    have changed, publishes BlocklistChanged, so that settled entries are compared with the rules again; entries that are
    waiting for approval keep waiting. The stored password is kept unless a new password is given, the username is removed, or
    the list moves to another origin. Raises Forbidden, Invalid, NotFound.
    """
    with _changing(by, blocklist, "blocklists") as locked:
        draft = replace(draft_of(locked), **changes)
        _check(draft, locked)
        values = _values(draft, locked)
        before = {name: getattr(locked, name) for name in values}
        record_about(by, "update", locked, before=_shown(before), after=_shown(values))
        is_elsewhere = any(before[name] != values[name] for name in _SOURCE)
        if is_elsewhere:
            BlocklistFetch.objects.filter(blocklist=locked).delete()
            values |= _UNFETCHED | {"checked_at": None}
        Blocklist.objects.filter(pk=locked.pk).update(**values)
        if any(before[name] != values[name] for name in _MAP):
            settled = locked.entries.filter(state__in=[EntryState.IN_FORCE, EntryState.KEPT], listed=True)
            settled.update(state=EntryState.PENDING)
            publish(BlocklistChanged(blocklist_id=locked.pk))
        if is_elsewhere:
            locked.url = draft.url
            queue_fetch(locked)


def switch_list(*, by: Staff, blocklist: Blocklist, enabled: bool) -> None:
    """Enable or disable the fetches of a list; its rules stay. Raises Forbidden, NotFound."""
    with _changing(by, blocklist) as locked:
        record_about(by, "enable" if enabled else "disable", locked)
        Blocklist.objects.filter(pk=locked.pk).update(enabled=enabled, failing_since=None, last_error="")
        if enabled:
            queue_fetch(locked)
        else:
            BlocklistFetch.objects.filter(blocklist=locked).delete()


def fetch_soon(*, by: Staff, blocklist: Blocklist) -> None:
    """Queue a fetch of a list, even if its last attempts have failed. Raises Forbidden, NotFound."""
    with _changing(by, blocklist) as locked:
        BlocklistFetch.objects.filter(blocklist=locked).delete()
        record_about(by, "fetch", locked)
        queue_fetch(locked)


def withdraw_list(*, by: Staff, blocklist: Blocklist, remove: bool = False) -> None:
    """Disable a list, and publish BlocklistChanged, whose handler removes the rules that came only from this list and that no
    person has changed; with `remove`, the handler then deletes the list. Raises Forbidden, NotFound.
    """
    with _changing(by, blocklist) as locked:
        record_about(by, "destroy" if remove else "withdraw", locked)
        BlocklistFetch.objects.filter(blocklist=locked).delete()
        locked.entries.filter(taken_severity=None).delete()
        locked.entries.update(listed=False, state=EntryState.WITHDRAWN, step=EntryStep.NONE, asks=False)
        values = _UNFETCHED | {"last_error": "", "held_reason": ""}
        Blocklist.objects.filter(pk=locked.pk).update(enabled=False, ending=remove, **values)
        publish(BlocklistChanged(blocklist_id=locked.pk))


def unsubscribe(*, by: Staff, blocklist: Blocklist) -> None:
    """Remove a list with its entries; rules that no other list requests become rules of staff. Raises Forbidden, NotFound."""
    with _changing(by, blocklist, "domain_rules") as locked:
        of_this_rule = BlocklistEntry.objects.filter(domain=OuterRef("domain"), taken_severity__isnull=False)
        mine, others = of_this_rule.filter(blocklist=locked), of_this_rule.exclude(blocklist_id=locked.pk)
        DomainRule.objects.filter(Exists(mine), ~Exists(others), from_lists=True).update(from_lists=False)
        record_about(by, "destroy", locked)
        locked.delete()


def add_exception(*, by: Staff, domain: str, comment: str = "") -> BlocklistException:
    """Protect a server, its subdomains and its parent domains from all lists. Publishes BlocklistChanged, whose handler removes
    the rules for these servers that came from lists and that no person has changed. Raises Forbidden, Invalid.
    """
    require(by, Permission.MANAGE_FEDERATION)
    name = domain_elsewhere(domain)
    if name is None:
        raise Invalid.of([FieldError.invalid("domain")])
    if len(comment) > MESSAGE_LIMIT:
        raise Invalid.of([FieldError.too_long("comment", MESSAGE_LIMIT)])
    with transaction.atomic():
        _lock_all()
        if BlocklistException.objects.filter(domain=name).exists():
            raise Invalid.of([FieldError.taken("domain")])
        exception = BlocklistException.objects.create(domain=name, comment=comment)
        record_about(by, "create", exception)
        _compare_again(name)
    return exception


def remove_exception(*, by: Staff, exception: BlocklistException) -> None:
    """Undo `add_exception`: lists may block the server again. Publishes BlocklistChanged. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        _lock_all()
        locked = lock_row(exception)
        record_about(by, "destroy", locked)
        locked.delete()
        _compare_again(locked.domain)


def count_passwords() -> int:
    """Return the number of lists with a stored password."""
    return Blocklist.objects.exclude(password="").count()


def reencrypt_passwords(*, by: Staff, keys: Sequence[str]) -> int:
    """Encrypt all passwords again with the first key; return how many there are. Raises Forbidden, UnreadableSecret."""
    require(by, Permission.ADMINISTRATOR)
    with transaction.atomic():
        lists = list(Blocklist.objects.select_for_update().exclude(password="").order_by("id"))
        for blocklist in lists:
            Blocklist.objects.filter(pk=blocklist.pk).update(password=reencrypt(blocklist.password, keys))
    return len(lists)


def _values(draft: BlocklistDraft, known: Blocklist | None = None) -> dict[str, Any]:
    """Return the column values for a draft of a new list, or of the stored list `known`."""
    values = asdict(draft)
    password = known.password if known is not None and is_same_origin(known.url, draft.url) else ""
    if draft.password is not None:
        password = encrypt(draft.password) if draft.password else ""
    return values | {"password": password if draft.username else ""}


def _shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for an audit row, with a boolean in place of the password."""
    return {**values, "password": bool(values["password"])}


def _lock_all() -> None:
    """Take the locks that are required to store a list and to write a rule, until the transaction ends."""
    lock("domain_rules")
    list(Blocklist.objects.select_for_update().order_by("id").values_list("id"))


def _compare_again(name: str) -> None:
    """Mark the entries for a server, its subdomains and its parent domains as pending."""
    rows = BlocklistEntry.objects.exclude(state=EntryState.DISMISSED).filter(listed=True, blocklist__isnull=False)
    related = rows.filter(Q(domain__one_of=names_of(name)) | Q(domain__endswith=f".{name}"))
    pending = list(related.values_list("id", "blocklist_id"))
    BlocklistEntry.objects.filter(id__one_of=[number for number, _list in pending]).update(state=EntryState.PENDING)
    publish(*(BlocklistChanged(blocklist_id=number) for number in sorted({one for _number, one in pending})))


def _check(draft: BlocklistDraft, known: Blocklist | None = None) -> None:
    errors = blocklist_errors(draft)
    others = Blocklist.objects.exclude(pk=known.pk) if known is not None else Blocklist.objects.all()
    errors += [
        FieldError.taken(name) for name in ("name", "url") if others.filter(**{name: getattr(draft, name)}).exists()
    ]
    require_valid(errors, details=True)


@contextmanager
def _changing(by: Staff, blocklist: Blocklist, *names: str) -> Iterator[Blocklist]:
    """Open a transaction, take the locks with these names, and lock the row. Raises NotFound if the list is being removed."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        lock(*names)
        locked = lock_row(blocklist)
        if locked.ending:
            raise NotFound
        yield locked
