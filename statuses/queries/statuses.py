"""Reads single posts and lists of them, always as somebody in particular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.models import Account, Block, Mute, Tag
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import normalise_hashtag
from statuses.models import Favourite, MediaAttachment, Status, StatusTag, Visibility
from statuses.policies.visibility import ANYBODY, visible_to


def list_statuses(viewer_id: int | None) -> QuerySet[Status]:
    """All posts the viewer may read."""
    return Status.objects.filter(visible_to(viewer_id))


def find_status(status_id: Any, viewer_id: int | None) -> Status:
    """The post with this id, its author and what it boosts, if the viewer may read it; one query.

    Raises NotFound alike for what does not exist and what may not be read (security row 19).
    """
    number = parse_id(status_id)
    status = (
        list_statuses(viewer_id).select_related("account", "reblog_of__account").filter(id=number).first()
        if number is not None
        else None
    )
    if status is None:
        raise NotFound
    return status


def find_own_status(status_id: Any, account_id: int) -> Status:
    """The account's own post. Raises NotFound for anybody else's, as if there were none."""
    status = find_status(status_id, account_id)
    if status.account_id != account_id:
        raise NotFound
    return status


@dataclass(frozen=True)
class AccountStatusesFilter:
    """What of an account's posts is wanted (contract, parameters section 2 "Reading accounts")."""

    only_media: bool = False
    exclude_replies: bool = False
    exclude_reblogs: bool = False
    exclude_direct: bool = False
    pinned: bool = False
    tagged: str | None = None


def list_account_statuses(
    account: Account, viewer_id: int | None, wanted: AccountStatusesFilter
) -> QuerySet[Status, int]:
    """The ids of an account's posts that the viewer may read, unordered (contract, behaviours section 11).

    Boosts of accounts the viewer blocks or mutes are left out; a suspended account, and one that blocks the viewer, has
    none.
    """
    ids = Status.objects.values_list("id", flat=True)
    if account.suspended or wanted.pinned:
        # Nothing can be pinned yet.
        return ids.none()
    found = ids.filter(visible_to(viewer_id), account_id=account.id)
    if wanted.exclude_reblogs:
        found = found.filter(reblog_of=None)
    elif viewer_id is not None:
        boosted_author = OuterRef("reblog_of__account_id")
        hidden = Exists(Block.objects.filter(account_id=viewer_id, target_id=boosted_author)) | Exists(
            Mute.objects.filter(account_id=viewer_id, target_id=boosted_author).filter(
                Q(expires_at=None) | Q(expires_at__gt=clock.now())
            )
        )
        found = found.filter(Q(reblog_of=None) | ~Q(hidden))
    if wanted.only_media:
        found = found.filter(Exists(MediaAttachment.objects.filter(status_id=OuterRef("id"))))
    if wanted.exclude_replies:
        no_reply = Q(in_reply_to=None, in_reply_to_uri=None)
        found = found.filter(no_reply | Q(in_reply_to_account_id=F("account_id")))
    if wanted.exclude_direct:
        found = found.exclude(visibility__in=(Visibility.DIRECT, Visibility.LIMITED))
    if wanted.tagged is not None:
        tag = Tag.objects.filter(name=normalise_hashtag(wanted.tagged)).values("id")
        found = found.filter(Exists(StatusTag.objects.filter(status_id=OuterRef("id"), tag_id__in=tag)))
    return found


def list_favourites_of(status: Status, viewer_id: int | None) -> QuerySet[Favourite]:
    """Who likes a post, as far as the viewer may be shown them: favourites with their accounts, unordered."""
    return Favourite.objects.filter(status_id=status.reblog_of_id or status.id).filter(_shown_to(viewer_id))


def list_reblogs_of(status: Status, viewer_id: int | None) -> QuerySet[Status]:
    """Who has boosted a post for everybody to see, as far as the viewer may be shown them: boosts, unordered."""
    return Status.objects.filter(
        _shown_to(viewer_id),
        reblog_of_id=status.reblog_of_id or status.id,
        deleted_at=None,
        visibility__in=ANYBODY,
    )


def _shown_to(viewer_id: int | None) -> Q:
    """Accounts that a list of people shows: not suspended, and no block or mute between them and the viewer."""
    shown = Q(account__suspended_at=None)
    if viewer_id is None:
        return shown
    person = OuterRef("account_id")
    active = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    hidden = (
        Exists(Block.objects.filter(account_id=viewer_id, target_id=person))
        | Exists(Block.objects.filter(account_id=person, target_id=viewer_id))
        | Exists(Mute.objects.filter(active, account_id=viewer_id, target_id=person))
    )
    return shown & ~Q(hidden)
