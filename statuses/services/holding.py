"""Holds posts and edits until staff decide (docs/adr/0031). A held post has no row among the posts, so nothing shows it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import Account
from accounts.spam.models import RuleSubject, SpamRule
from accounts.spam.queries import load_rules
from accounts.spam.services.matches import record_matches
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.locks import delete_rows, keep_rows, lock
from statuses.models import HeldBoost, HeldMedia, HeldPost, MediaAttachment, ScheduledStatus, Status
from statuses.models.held import BOOSTS_LIMIT, EXCERPT_LIMIT
from statuses.services import idempotency
from statuses.services.composing import Draft
from statuses.services.kept_drafts import draft_row, encode_edit, store_draft
from statuses.services.screening import Screening, limit_author
from statuses.services.storing import Composed, lock_media

HELD_LIMIT: Final = 50
"""Maximum number of held posts of one author; further posts are refused."""
HOSTS_LIMIT: Final = 100
"""Maximum number of a held post's linked hosts that staff see."""


class HeldForReview(Invalid):
    """Error for an author whose post is held for review instead of being published."""

    default = gettext_noop(
        "Your post is waiting for review by the staff of this server. There is no need to send it again."
    )


class EditHeldForReview(Invalid):
    """Error for an author whose edit is held for review instead of being published."""

    default = gettext_noop(
        "Your edit is waiting for review by the staff of this server. Until then the post stays as it is."
    )


def is_held(author_id: int, key: str) -> bool:
    """Tell whether the request with this idempotency key created a post that is held."""
    first = idempotency.find_first_scheduled(author_id, key)
    return first is not None and HeldPost.objects.filter(scheduled=first).exists()


def hold_written(
    new: Composed, draft: Draft, screening: Screening, *, limited_by: Sequence[SpamRule], claimed: int | None
) -> None:
    """Hold the draft of a local author, once, in the caller's transaction; the author finds it among the scheduled posts.
    Raises Invalid for files that cannot be attached, and if the author has HELD_LIMIT held posts already.
    """
    lock(f"scheduled:{new.author.id}")
    row = draft_row(author=new.author, draft=draft, scheduled_at=new.created_at, application_id=new.application_id)
    # The draft is serialised in the same way as stored drafts (tuples become arrays), so that the two can be compared.
    encoded_draft = orjson.loads(orjson.dumps(row.draft, default=str))
    own = ScheduledStatus.objects.filter(account_id=new.author.id, held__isnull=False)
    for scheduled in own[:HELD_LIMIT]:
        if scheduled.draft == encoded_draft:
            if claimed is not None:
                idempotency.remember(claimed, scheduled=scheduled)
            return
    _check_room(new.author)
    store_draft(row, lock_media(new.author, new.media_ids), claimed)
    _hold(new, screening, limited_by, scheduled=row)


def hold_scheduled(
    scheduled: ScheduledStatus, new: Composed, screening: Screening, *, limited_by: Sequence[SpamRule]
) -> None:
    """Hold a scheduled post that is due, in the caller's transaction, which has locked its row."""
    _hold(new, screening, limited_by, scheduled=scheduled)


def hold_received(
    new: Composed,
    screening: Screening,
    document: Mapping[str, Any],
    *,
    recipient: Account | None,
    request_uri: str | None = None,
) -> bool:
    """Hold the document of a remote post that matches a rule, in place of an earlier held document; return whether the post is
    held. The caller's transaction holds `lock("object:<uri>")`. `request_uri` is the id of the activity that asks to reply.
    Raises Invalid.
    """
    if screening.held_by is None and not load_rules(RuleSubject.POSTS):
        return False
    held_post = HeldPost.objects.select_for_update().filter(uri=new.uri, status=None).first()
    if held_post is not None and held_post.approved_at is None:
        delivery: dict[str, Any] = {"announced": True, "recipient": recipient} if new.publish_event else {}
        if request_uri is not None:
            delivery["request_uri"] = request_uri
        HeldPost.objects.filter(id=held_post.id).update(
            document=_encode_document(document), **_review_columns(new, screening), **delivery
        )
        return True
    if held_post is not None or screening.held_by is None or Status.objects.filter(uri=new.uri).exists():
        return False
    _check_room(new.author)
    _hold(
        new,
        screening,
        limit_author(new, screening),
        uri=new.uri,
        request_uri=request_uri,
        document=_encode_document(document),
        recipient=recipient,
        announced=new.publish_event,
    )
    return True


def hold_edit(
    status: Status,
    new: Composed,
    screening: Screening,
    *,
    draft: Draft | None = None,
    media: Sequence[MediaAttachment] = (),
    previews: Mapping[MediaAttachment, MediaAttachment] | None = None,
    document: Mapping[str, Any] | None = None,
    recipient: Account | None = None,
) -> None:
    """Hold an edit that matches a rule, in place of an earlier held edit. The caller's transaction has locked the post. A local
    edit has a `draft`, files (`media`) and new `previews` for some of them; a remote edit has the `document` that its server
    sent. Raises Invalid if the author has HELD_LIMIT held posts already.
    """
    source = {
        "draft": None if draft is None else encode_edit(draft),
        "document": None if document is None else _encode_document(document),
        "recipient": recipient,
    }
    columns = _review_columns(new, screening) | {"written_at": new.edited_at or clock.now()}
    if not HeldPost.objects.filter(status=status).update(**source, **columns, approved_at=None):
        _check_room(new.author)
        limited_by = limit_author(new, screening)
        _hold(new, screening, limited_by, status=status, uri=new.uri, **source, written_at=columns["written_at"])
    held_post = HeldPost.objects.get(status=status)
    HeldMedia.objects.filter(held=held_post).delete()
    for item in media:
        if item.status_id is None and item.former_status_id is None:
            HeldMedia.objects.create(held=held_post, media=item)
    for item, drawn in (previews or {}).items():
        drawn.account, drawn.type = new.author, item.type
        drawn.save(force_insert=True)
        HeldMedia.objects.create(held=held_post, media=drawn, preview_of=item)


def hold_boost(*, account: Account, post_uri: str, uri: str, visibility: str, created_at: datetime) -> bool:
    """Store a boost of a held remote post, at most BOOSTS_LIMIT for each post. Return whether the post is held."""
    with transaction.atomic():
        held_post = HeldPost.objects.select_for_update().filter(uri=post_uri, status=None).first()
        if held_post is None:
            return False
        if held_post.boosts.count() < BOOSTS_LIMIT:
            HeldBoost.objects.get_or_create(
                uri=uri,
                defaults={"held": held_post, "account": account, "visibility": visibility, "created_at": created_at},
            )
    return True


def forget_boost(*, account: Account, uri: str) -> bool:
    """Delete the stored boost of a held post after the boost was undone. Return whether there was such a boost."""
    count, _of = HeldBoost.objects.filter(account=account, uri=uri).delete()
    return count > 0


def forget_received(*, uri: str, author_uri: str) -> None:
    """Delete a held post that its author has deleted."""
    delete_rows(HeldPost.objects.filter(uri=uri, account__uri=author_uri))


def _check_room(author: Account) -> None:
    if HeldPost.objects.filter(account_id=author.id).count() >= HELD_LIMIT:
        raise Invalid.sentence(_("Too many of your posts are already waiting for review."))


def _hold(new: Composed, screening: Screening, limited_by: Sequence[SpamRule], **source: Any) -> None:
    rule = screening.held_by
    assert rule is not None  # the caller has checked that a rule holds the post
    stored_rule = rule if keep_rows(SpamRule, [rule.id]) else None
    HeldPost.objects.create(
        account_id=new.author.id, rule=stored_rule, rule_name=rule.name, **_review_columns(new, screening) | source
    )
    record_matches(account_id=new.author.id, rules=screening.rules, limited_by=limited_by, reported=())


def _review_columns(new: Composed, screening: Screening) -> dict[str, Any]:
    facts = screening.facts
    return {
        "visibility": new.visibility,
        "excerpt": (facts.text if facts is not None else "").replace("\0", "")[:EXCERPT_LIMIT],
        "link_hosts": list(facts.hosts)[:HOSTS_LIMIT] if facts is not None else [],
        "mentions_count": facts.mentions if facts is not None else 0,
        "written_at": new.created_at,
    }


def _encode_document(document: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(document)).decode()
