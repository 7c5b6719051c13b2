"""Attaches previews of links to posts, stores fetched previews, and removes unused previews."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from typing import Final

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from accounts.copies.models import QuarantineSource
from accounts.copies.services.quarantine import Origin, is_clean
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address, split_address
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.errors import Invalid
from social.kernel.events import publish
from social.kernel.media import recordings, storage
from social.kernel.runner import enqueue
from statuses.events import CardAttached, StatusEdited, StatusFetched, StatusPublished
from statuses.models import CardFetch, CardType, MediaAttachment, PreviewCard, Quote, Status, StatusCard
from statuses.policies.cards import CARD_LIFETIME, card_url, find_link, host_of, is_stale
from statuses.policies.previews import Preview
from statuses.services.changing import lock_status

logger = logging.getLogger("social.cards")

FOLDER: Final = "preview_cards"
SPREAD_SECONDS: Final = 60
"""Seconds over which fetches for remote posts are spread, because all servers that received the post request the same page."""
STREAMED_AGE: Final = timedelta(hours=6)
"""Maximum age of posts that are sent to streams again when their preview arrives."""
_BATCH_SIZE: Final = 200


def attach_cards(events: Sequence[StatusPublished | StatusEdited | StatusFetched]) -> None:
    """Attach to each post the preview of its first link, request the preview if it is unknown or old, and remove a preview that
    the post's current version should not show. Idempotent. Publishes CardAttached for previews that are already stored.
    """
    for status_id in sorted({event.status_id for event in events}):
        attach_card(status_id)


def attach_card(status_id: int) -> None:
    """Attach the preview of one post, as `attach_cards` does."""
    link = _link_of(status_id)
    url = card_url(link) if link is not None else None
    with transaction.atomic():
        if link is None or url is None:
            StatusCard.objects.filter(status_id=status_id).delete()
            return
        if not lock_status(status_id):
            return
        card, _is_new = PreviewCard.objects.get_or_create(url=url)
        is_attached = StatusCard.objects.filter(status_id=status_id, card=card, url=link).exists()
        if not is_attached:
            StatusCard.objects.update_or_create(status_id=status_id, defaults={"card": card, "url": link})
        if is_stale(card):
            _request(card, Status.objects.values_list("local", flat=True).get(id=status_id))
        if card.is_shown and not is_attached:
            publish(CardAttached(status_id=status_id, card_id=card.id))


def _link_of(status_id: int) -> str | None:
    # A post with files or a quote shows no preview (behaviours section 9 "Cards").
    contents = (
        Status.objects.filter(id=status_id, deleted_at=None, reblog_of=None)
        .exclude(Exists(MediaAttachment.objects.filter(status_id=OuterRef("id"))))
        .exclude(Exists(Quote.objects.filter(status_id=OuterRef("id"))))
    )
    content = contents.values_list("content", flat=True).first()
    return find_link(content) if content else None


def _request(card: PreviewCard, local: bool) -> None:
    if not CardFetch.objects.filter(card=card).exists():
        due_at = None if local else clock.now() + timedelta(seconds=1 + card.id % SPREAD_SECONDS)
        enqueue(CardFetch(card=card, host=host_of(card.url)), due_at=due_at)


@dataclass(frozen=True)
class Picture:
    path: str
    byte_count: int
    width: int
    height: int
    blurhash: str


def store_card(*, card_id: int, preview: Preview | None, host: str = "", image: bytes | None = None) -> None:
    """Store the preview of a page, fetched from `host`. `preview` is None or without a title if the page offers no preview.
    `image` has the bytes of the page's first picture. If this fetch found no preview, the values of the previous fetch remain.
    Publishes CardAttached for recent posts if the preview was not shown before. Raises OSError when the picture cannot be
    stored, Unavailable when it cannot be scanned.
    """
    found = preview if preview is not None and preview.title else None
    picture = _stored_picture(image, found.pictures[0].url) if found is not None and image else None
    unused = picture.path if picture is not None else ""
    try:
        with transaction.atomic():
            card = PreviewCard.objects.select_for_update(no_key=True).filter(id=card_id).first()
            if card is None:
                return
            was_shown, replaced = card.is_shown, card.image
            card.fetched_at = clock.now()
            if found is not None:
                card.host = host
                _fill(card, found, picture)
            card.save()
            if card.is_shown and not was_shown:
                _publish_attached(card.id)
            unused = replaced if found is not None else ""
    finally:
        storage.remove(unused)
    if found is not None and found.creator:
        _request_creator(found.creator, host)


def _request_creator(creator: str, host: str) -> None:
    # The account is looked up only if it is unknown.
    address = split_address(creator)
    port = remote_accounts.find()
    if address is None or address[1] is None or port is None:
        return
    address = (address[0].lower(), address[1])
    if not by_address([address]):
        port.seek([address], wanted_by=host)


def _stored_picture(image: bytes, url: str) -> Picture | None:
    origin = Origin(QuarantineSource.CARD, url=url)
    try:
        if not is_clean(BytesIO(image), content_type="", origin=origin):
            return None
        with recordings.draw_cover(BytesIO(image)) as cover:
            preview = cover.preview
            path = storage.store(preview.file, folder=FOLDER, extension=preview.extension)
            return Picture(path, preview.byte_count, preview.width, preview.height, cover.blurhash)
    except Invalid as error:
        logger.info("the picture of a page is not taken: %s", error)
        return None


def _fill(card: PreviewCard, preview: Preview, picture: Picture | None) -> None:
    card.title, card.description, card.language = preview.title, preview.description, preview.language
    card.author_name, card.author_url = preview.author_name, preview.author_url
    card.provider_name, card.provider_url = preview.provider_name, preview.provider_url
    card.creator, card.published_at = preview.creator, preview.published_at
    card.player_url = preview.player_url
    # A photo whose picture could not be fetched is shown as a plain link.
    card.type = CardType.LINK if preview.type == CardType.PHOTO and picture is None else CardType(preview.type)
    card.image_description = preview.pictures[0].description if picture is not None else ""
    card.image, card.image_size, card.blurhash = "", 0, None
    card.width, card.height = preview.width, preview.height
    if picture is not None:
        card.image, card.image_size, card.blurhash = picture.path, picture.byte_count, picture.blurhash
        if not card.player_url:
            card.width, card.height = picture.width, picture.height


def _publish_attached(card_id: int) -> None:
    recent = StatusCard.objects.filter(card_id=card_id, status__created_at__gte=clock.now() - STREAMED_AGE)
    numbers = recent.order_by("-status_id").values_list("status_id", flat=True)
    for ids in in_batches(list(numbers), _BATCH_SIZE):
        publish(*(CardAttached(status_id=status_id, card_id=card_id) for status_id in ids))


def remove_unused_cards() -> int:
    """Remove previews that no post shows and that are older than CARD_LIFETIME, counted from the last fetch; return how many.
    Run by the scheduler hourly.
    """
    before = clock.now() - CARD_LIFETIME
    removed = 0
    while True:
        with transaction.atomic():
            unused = list(
                PreviewCard.objects.select_for_update(skip_locked=True, of=("self",))
                .filter(~Exists(StatusCard.objects.filter(card_id=OuterRef("id"))), created_at__lt=before)
                .exclude(fetched_at__gte=before)
                .order_by("id")[:_BATCH_SIZE]
            )
            PreviewCard.objects.filter(id__one_of=[card.id for card in unused]).delete()
        storage.remove(*(card.image for card in unused))
        removed += len(unused)
        if len(unused) < _BATCH_SIZE:
            return removed


def count_old_pictures(older_than: timedelta) -> tuple[int, int]:
    """Return the number of pictures of previews that were fetched longer than `older_than` ago, and their size in bytes."""
    figures = _with_old_pictures(older_than).aggregate(count=Count("id"), size=Sum("image_size"))
    return figures["count"], figures["size"] or 0


def remove_old_pictures(older_than: timedelta) -> Iterator[int]:
    """Remove pictures of previews fetched longer than `older_than` ago, in batches, and yield the size of each batch."""
    while True:
        with transaction.atomic():
            rows = _with_old_pictures(older_than).select_for_update(skip_locked=True).order_by("fetched_at")
            pictures = dict(rows.values_list("id", "image")[:_BATCH_SIZE])
            PreviewCard.objects.filter(id__one_of=list(pictures)).update(image="", image_size=0)
        storage.remove(*pictures.values())
        if pictures:
            yield len(pictures)
        if len(pictures) < _BATCH_SIZE:
            return


def _with_old_pictures(older_than: timedelta) -> QuerySet[PreviewCard]:
    return PreviewCard.objects.filter(fetched_at__lt=clock.now() - older_than).exclude(image="")
