"""Makes posts for tests, through the same services that posts go through."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

from django.db import transaction
from PIL import Image

from accounts.models import Account, Block, Follow, Mute
from social.kernel import clock
from statuses.models import Favourite, MediaAttachment, Status, StatusStat
from statuses.services.composing import StatusDraft
from statuses.services.interactions import favourite_status, reblog_status
from statuses.services.media import MediaUpload, upload_media
from statuses.services.publishing import publish_status
from statuses.services.storing import NewStatus, store_status


def _author(author: Account) -> Account:
    return Account.objects.select_related("user", "stat").get(id=author.id)


def make_status(
    author: Account,
    text: str = "hello",
    *,
    reply_to: Status | None = None,
    media: list[MediaAttachment] | None = None,
    application_id: int | None = None,
    **draft: Any,
) -> Status:
    """A post of a local account, published as a client would; more keyword arguments go to the draft."""
    return publish_status(
        author=_author(author),
        draft=StatusDraft(
            text=text,
            in_reply_to_id=reply_to.id if reply_to is not None else None,
            media_ids=tuple(item.id for item in media or ()),
            **draft,
        ),
        application_id=application_id,
    )


def make_remote_status(
    author: Account, content: str = "<p>hello</p>", *, created_at: datetime | None = None, **values: Any
) -> Status:
    """A post of an account elsewhere, as if received."""
    values.setdefault("visibility", "public")
    moment = created_at or clock.now()
    number = Status.objects.count()
    values.setdefault("uri", f"{author.uri}/statuses/{number}-{moment.timestamp():.6f}")
    with transaction.atomic():
        return store_status(NewStatus(author=author, content=content, created_at=moment, **values))


def make_reblog(account: Account, status: Status, visibility: str | None = None, **values: Any) -> Status:
    """A boost."""
    if not account.local:
        values.setdefault("uri", f"{account.uri}/announces/{status.id}")
    booster = _author(account) if account.local else account
    return Status.objects.get(id=reblog_status(account=booster, status=status, visibility=visibility, **values))


def make_favourite(account: Account, status: Status) -> Favourite:
    """A like."""
    favourite_status(account_id=account.id, status=status)
    return Favourite.objects.get(account=account, status=status.reblog_of or status)


def picture(width: int = 40, height: int = 30, image_format: str = "PNG", **options: Any) -> bytes:
    """A small picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (120, 40, 200)).save(buffer, image_format, **options)
    return buffer.getvalue()


def make_media(account: Account, description: str | None = None, **options: Any) -> MediaAttachment:
    """An uploaded picture that waits to be attached."""
    upload = MediaUpload(data=picture(**options), content_type="image/png", description=description)
    return upload_media(account_id=account.id, upload=upload)


def follow(account: Account, target: Account, **options: Any) -> Follow:
    """`account` follows `target`, without counting or announcing it."""
    return Follow.objects.create(account=account, target=target, **options)


def block(account: Account, target: Account) -> Block:
    """`account` blocks `target`, as far as reading posts goes."""
    return Block.objects.create(account=account, target=target)


def mute(account: Account, target: Account, **options: Any) -> Mute:
    """`account` mutes `target`."""
    return Mute.objects.create(account=account, target=target, **options)


def counts(status: Status) -> tuple[int, int, int]:
    """Replies, boosts and favourites as counted."""
    stat = StatusStat.objects.filter(status=status).first()
    return (stat.replies_count, stat.reblogs_count, stat.favourites_count) if stat is not None else (0, 0, 0)
