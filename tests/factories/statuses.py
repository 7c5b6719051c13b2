"""Helpers that create posts for tests through the services that create real ones."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from PIL import Image

from accounts.copies.models import CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import digest_of, host_of
from accounts.models import Account, Block, Follow, Mute
from social.kernel import clock
from social.kernel.media import storage
from social.kernel.plans import Plan, Slot
from statuses.models import (
    Bookmark,
    Favourite,
    Filter,
    FilterStatus,
    MediaAttachment,
    MediaType,
    Poll,
    ScheduledStatus,
    Status,
    StatusStat,
)
from statuses.policies.polls import PollDraft
from statuses.queries.posts import load_posts
from statuses.services.composing import Draft
from statuses.services.filters import FilterDraft, KeywordDraft, add_status, create_filter
from statuses.services.interactions import bookmark_status, favourite_status, reblog_status
from statuses.services.media import MediaUpload, SentFile, upload_media
from statuses.services.publishing import publish_status
from statuses.services.revising import edit_status
from statuses.services.scheduling import schedule_status
from statuses.services.storing import Composed, store_status

_AUTHOR = Plan(lambda: Account.objects.select_related("user", "stat").filter(id=Slot("id", Account._meta.pk)))


def _author(author: Account) -> Account:
    return _AUTHOR.run(id=author.id)[0]


def make_status(
    author: Account,
    text: str = "hello",
    *,
    reply_to: Status | None = None,
    media: list[MediaAttachment] | None = None,
    application_id: int | None = None,
    **draft: Any,
) -> Status:
    """Publish a post of a local account as a client would; further keyword arguments go to the draft."""
    return publish_status(
        author=_author(author),
        draft=Draft(
            text=text,
            in_reply_to_id=reply_to.id if reply_to is not None else None,
            media_ids=tuple(item.id for item in media or ()),
            **draft,
        ),
        application_id=application_id,
    )


def edit(status: Status, text: str, **draft: Any) -> None:
    """Edit a local post as its author would."""
    edit_status(author=_author(status.account), status_id=status.id, draft=Draft(text=text, **draft))


def make_remote_status(
    author: Account, content: str = "<p>hello</p>", *, created_at: datetime | None = None, **values: Any
) -> Status:
    """Create a post of a remote account, as if it had been received."""
    values.setdefault("visibility", "public")
    moment = created_at or clock.now()
    number = Status.objects.count()
    values.setdefault("uri", f"{author.uri}/statuses/{number}-{moment.timestamp():.6f}")
    with transaction.atomic():
        return store_status(Composed(author=author, content=content, created_at=moment, **values))


def make_reblog(account: Account, status: Status, visibility: str | None = None, **values: Any) -> Status:
    if not account.local:
        values.setdefault("uri", f"{account.uri}/announces/{status.id}")
    booster = _author(account) if account.local else account
    return Status.objects.get(id=reblog_status(account=booster, status=status, visibility=visibility, **values))


def make_favourite(account: Account, status: Status) -> Favourite:
    favourite_status(account_id=account.id, status=status)
    return Favourite.objects.get(account=account, status=status.reblog_of or status)


def make_bookmark(account: Account, status: Status) -> Bookmark:
    bookmark_status(account_id=account.id, status=load_posts([status.id])[0])
    return Bookmark.objects.get(account=account, status=status.reblog_of or status)


def make_scheduled(author: Account, text: str = "later", *, media: Sequence[MediaAttachment] = ()) -> ScheduledStatus:
    """Create a scheduled post for the next day."""
    made = schedule_status(
        author=_author(author),
        draft=Draft(text=text, media_ids=tuple(item.id for item in media)),
        scheduled_at=clock.now() + timedelta(days=1),
    )
    assert isinstance(made, ScheduledStatus)
    return made


def make_poll(author: Account, *options: str, visibility: str = "public", **values: Any) -> Poll:
    draft = PollDraft(options=options or ("red", "green"), expires_in=600, **values)
    return Poll.objects.get(status=make_status(author, "Which?", poll=draft, visibility=visibility))


def make_filter(account: Account, *keywords: str, title: str = "Filter", **values: Any) -> Filter:
    """Create a filter for these whole words."""
    draft = FilterDraft(title=title, context=("home",), keywords=[KeywordDraft(keyword=word) for word in keywords])
    return create_filter(account_id=account.id, draft=replace(draft, **values))


def make_filter_status(wanted: Filter, status: Status | None = None) -> FilterStatus:
    """Add a post to a filter, by default a post of the filter's owner."""
    return add_status(found=wanted, status_id=(status or make_status(wanted.account)).id)


def picture(width: int = 40, height: int = 30, image_format: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (120, 40, 200)).save(buffer, image_format, **options)
    return buffer.getvalue()


def make_media(account: Account, description: str | None = None, **options: Any) -> MediaAttachment:
    """Create an uploaded picture that has not been attached to a post yet."""
    upload = MediaUpload(SentFile(io.BytesIO(picture(**options)), "image/png"), description=description)
    return upload_media(account_id=account.id, upload=upload)


def make_remote_media(status: Status, url: str = "", *, copied: bool = True, **media: Any) -> MediaAttachment:
    """Attach a picture of a remote server to a post; `copied` means that its file has been cached here."""
    name = url or f"https://files.example/{status.id}.png"
    if copied:
        paths = [storage.store(picture(), folder="cache/attachment", extension="png") for _ in range(2)]
        RemoteCopy.objects.create(
            digest=digest_of(CopyPurpose.ATTACHMENT, name),
            purpose=CopyPurpose.ATTACHMENT,
            url=name,
            host=host_of(name),
            state=CopyState.READY,
            file=paths[0],
            file_size=len(picture()),
            preview=paths[1],
            preview_size=len(picture()),
        )
    values = {"type": MediaType.IMAGE, "content_type": "image/png", "remote_url": name} | media
    return MediaAttachment.objects.create(account=status.account, status=status, **values)


def follow(account: Account, target: Account, **options: Any) -> Follow:
    """Create a follow without updating counters or publishing an event."""
    return Follow.objects.create(account=account, target=target, **options)


def block(account: Account, target: Account) -> Block:
    """Create the row of a block, without ending follows or updating counters."""
    return Block.objects.create(account=account, target=target)


def mute(account: Account, target: Account, **options: Any) -> Mute:
    return Mute.objects.create(account=account, target=target, **options)


def counts(status: Status) -> tuple[int, int, int]:
    """Return the stored numbers of replies, boosts and favourites."""
    stat = StatusStat.objects.filter(status=status).first()
    return (stat.replies_count, stat.reblogs_count, stat.favourites_count) if stat is not None else (0, 0, 0)
