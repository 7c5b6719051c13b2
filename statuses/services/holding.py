"""Holds posts that meet a rule against spam until staff approve or discard them (docs/adr/0031).

A held post is no post: there is no row that a timeline, a search, a stream, a notification or ActivityPub could show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, RuleSubject, SpamRule
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.spam_rules import load_rules
from accounts.services.audit import record, record_each
from accounts.services.rule_matches import note_matches
from social.kernel import clock
from social.kernel.errors import Conflict, Invalid, require_found
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.events import HeldPostApproved
from statuses.models import HeldPost, ScheduledStatus, Status
from statuses.models.held import EXCERPT_LIMIT
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.authors import find_author
from statuses.services import idempotency
from statuses.services.composing import Draft, compose
from statuses.services.kept_drafts import draft_of, kept, lock_kept, publish_kept, store_kept
from statuses.services.screening import Screening, limit_author
from statuses.services.storing import Composed, lock_media

HELD_LIMIT: Final = 50
"""Posts of one author that are held at once; further ones are refused."""

BATCH_SIZE: Final = 200


class HeldForReview(Invalid):
    """Answer to an author whose post is kept and not published: staff decide about it."""

    def __init__(self) -> None:
        super().__init__(
            _("Your post is kept and waits for review by the staff of this server. There is no need to send it again.")
        )


def is_held(author_id: int, key: str) -> bool:
    """Tell whether the request with this key has made a post that is held."""
    first = idempotency.find_first_scheduled(author_id, key)
    return first is not None and HeldPost.objects.filter(scheduled=first).exists()


def hold_written(
    new: Composed, draft: Draft, screening: Screening, *, limited_by: Sequence[SpamRule], claimed: int | None
) -> None:
    """Keep what an author of this server sent, in the caller's transaction; the same once more is kept once.

    The author finds it among the scheduled posts, and can delete it there. Raises Invalid for files that are not to be
    attached, and for one post too many.
    """
    lock(f"scheduled:{new.author.id}")
    row = kept(author=new.author, draft=draft, scheduled_at=new.created_at, application_id=new.application_id)
    # As the database gives it back: tuples are arrays there.
    sent = orjson.loads(orjson.dumps(row.draft, default=str))
    own = ScheduledStatus.objects.filter(account_id=new.author.id, held__isnull=False)
    for known in own[:HELD_LIMIT]:
        if known.draft == sent:
            if claimed is not None:
                idempotency.remember_scheduled(claimed, known)
            return
    _check_room(new.author)
    store_kept(row, lock_media(new.author, new.media_ids), claimed)
    _hold(new, screening, limited_by, scheduled=row)


def hold_scheduled(
    scheduled: ScheduledStatus, new: Composed, screening: Screening, *, limited_by: Sequence[SpamRule]
) -> None:
    """Hold a scheduled post whose time has come, in the caller's transaction, which has locked its row."""
    _hold(new, screening, limited_by, scheduled=scheduled)


def hold_received(
    new: Composed, screening: Screening, document: Mapping[str, Any], *, recipient: Account | None
) -> bool:
    """Keep the document of a post of another server that meets a rule, in the caller's transaction; whether it is held.

    One that is held already stays so, as it stands now. The caller holds `lock("object:<uri>")`. Raises Invalid for one
    post too many of its author.
    """
    if screening.held_by is None and not load_rules(RuleSubject.POSTS):
        return False
    held = HeldPost.objects.select_for_update().filter(uri=new.uri).first()
    if held is not None and held.approved_at is None:
        HeldPost.objects.filter(id=held.id).update(document=_encoded(document), **_shown(new, screening))
        return True
    if held is not None or screening.held_by is None or Status.objects.filter(uri=new.uri).exists():
        return False
    _check_room(new.author)
    _hold(
        new,
        screening,
        limit_author(new, screening),
        uri=new.uri,
        document=_encoded(document),
        recipient=recipient,
        announced=new.publish_event,
    )
    return True


def forget_received(*, uri: str, author_uri: str) -> None:
    """Forget a held post that its author has deleted."""
    HeldPost.objects.filter(uri=uri, account__uri=author_uri).delete()


def approve_held(*, by: Staff, held: HeldPost) -> None:
    """Publish a held post with the time at which it was written: at once if it was written here, else by a reaction to
    HeldPostApproved, within seconds. No rule is asked again.

    Raises Forbidden without MANAGE_REPORTS; NotFound for one that is not held any more; Conflict when its author may not
    post any more; and as `compose` for one that cannot be published: it stays held.
    """
    require(by, Permission.MANAGE_REPORTS)
    scheduled = held.scheduled
    if scheduled is None:
        with transaction.atomic():
            locked = _lock(held)
            HeldPost.objects.filter(id=locked.id).update(approved_at=clock.now())
            publish(HeldPostApproved(held_id=locked.id, account_id=locked.account_id))
            _record(by, "approve", locked)
        return
    author = find_author(held.account_id)
    if author.suspended or author.user.disabled_at is not None:
        raise Conflict(_("Its author may not post any more."))
    # Composed before the transaction: it may ask other servers who is mentioned.
    new = compose(author=author, draft=draft_of(scheduled), application_id=scheduled.application_id)
    with transaction.atomic():
        draft = require_found(lock_kept(scheduled.id))
        locked = _lock(held)
        publish_kept(draft, replace(new, created_at=locked.written_at))
        _record(by, "approve", locked)


def open_held(*, by: Staff, held: HeldPost) -> None:
    """Note that a held post which is not for everybody is looked at. Raises Forbidden without MANAGE_REPORTS."""
    require(by, Permission.MANAGE_REPORTS)
    if held.visibility not in OPEN_VISIBILITIES:
        with transaction.atomic():
            _record(by, "view", held)


def discard_held(*, by: Staff, held: HeldPost) -> None:
    """Remove a held post for good; the files of one written here may be attached to another post. Raises as `approve_held`."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        locked = _lock(held)
        _remove([locked])
        _record(by, "discard", locked)


def discard_held_by_rule(*, by: Staff, rule: SpamRule) -> int:
    """Discard everything that a rule holds, in batches with an audit row for each post; how many. Raises Forbidden."""
    require(by, Permission.MANAGE_REPORTS)
    discarded = 0
    while True:
        with transaction.atomic():
            rows = HeldPost.objects.select_for_update(of=("self",), skip_locked=True).select_related("account")
            batch = list(rows.filter(rule=rule, approved_at=None).order_by("id")[:BATCH_SIZE])
            _remove(batch)
            record_each(by=by, action="discard", target_type="HeldPost", targets=[_target(held) for held in batch])
        discarded += len(batch)
        if len(batch) < BATCH_SIZE:
            return discarded


def drop_held(rows: Sequence[HeldPost]) -> None:
    """Remove held posts about which nobody has decided for too long."""
    with transaction.atomic():
        _remove(rows)


def _remove(rows: Sequence[HeldPost]) -> None:
    HeldPost.objects.filter(id__one_of=[held.id for held in rows]).delete()
    ScheduledStatus.objects.filter(id__one_of=[held.scheduled_id for held in rows if held.scheduled_id]).delete()


def _lock(held: HeldPost) -> HeldPost:
    rows = HeldPost.objects.select_for_update(of=("self",)).select_related("account")
    return require_found(rows.filter(id=held.id, approved_at=None).first())


def _check_room(author: Account) -> None:
    if HeldPost.objects.filter(account_id=author.id).count() >= HELD_LIMIT:
        raise Invalid.sentence(_("Too many of your posts wait for review already."))


def _hold(new: Composed, screening: Screening, limited_by: Sequence[SpamRule], **source: Any) -> None:
    rule = screening.held_by
    assert rule is not None  # the caller has looked
    HeldPost.objects.create(
        account_id=new.author.id, rule=rule, rule_name=rule.name, **_shown(new, screening), **source
    )
    note_matches(account_id=new.author.id, rules=screening.rules, limited_by=limited_by, reported=())


def _shown(new: Composed, screening: Screening) -> dict[str, Any]:
    """Columns for staff to decide by."""
    facts = screening.facts
    return {
        "visibility": new.visibility,
        "excerpt": (facts.text if facts is not None else "").replace("\0", "")[:EXCERPT_LIMIT],
        "link_hosts": list(facts.hosts) if facts is not None else [],
        "mentions_count": facts.mentions if facts is not None else 0,
        "written_at": new.created_at,
    }


def _encoded(document: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(document)).decode()


def _target(held: HeldPost) -> tuple[int, str]:
    return held.id, f"@{held.account.acct}"


def _record(by: Staff, action: str, held: HeldPost) -> None:
    number, name = _target(held)
    record(by=by, action=action, target_type="HeldPost", target_id=number, target_name=name, rule=held.rule_name)
