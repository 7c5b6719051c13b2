"""Previews of the pages that posts link to."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, PATH_LIMIT, WORD_LIMIT, lengths
from social.kernel.runner import WaitingRow
from statuses.events import CardsDue
from statuses.models.status import Status

URL_LIMIT: Final = 2048
TITLE_LIMIT: Final = 500
DESCRIPTION_LIMIT: Final = 2000
NAME_LIMIT: Final = 300

_TEXTS: Final = {
    "title": TITLE_LIMIT,
    "description": DESCRIPTION_LIMIT,
    "image_description": DESCRIPTION_LIMIT,
    "author_name": NAME_LIMIT,
    "provider_name": NAME_LIMIT,
    "creator": NAME_LIMIT,
    "url": URL_LIMIT,
    "author_url": URL_LIMIT,
    "provider_url": URL_LIMIT,
    "player_url": URL_LIMIT,
    "host": HOST_LIMIT,
    "type": WORD_LIMIT,
    "language": WORD_LIMIT,
    "image": PATH_LIMIT,
    "blurhash": NAME_LIMIT,
}


class CardType(models.TextChoices):
    """The types of the entity "PreviewCard" that this server uses."""

    LINK = "link"
    PHOTO = "photo"
    VIDEO = "video"


class PreviewCard(models.Model):
    """Preview of a web page, as the page describes itself: one row for all posts that link to it.

    `url` is the fetched address (`social.kernel.http.addresses.parse_url`), `host` the server that answered after redirects. A
    card has no `title`, and is not shown, if the page has not been fetched yet (`fetched_at` is None) or does not describe
    itself. `player_url` is the address of a player that may be embedded. `creator` is the account that the page names as its
    author, confirmed or not. `image` is a path in the media storage.
    """

    id = SnowflakeField(primary_key=True)
    url = models.TextField(unique=True)
    host = models.TextField(default="")
    type = models.TextField(choices=CardType.choices, default=CardType.LINK)
    title = models.TextField(default="")
    description = models.TextField(default="")
    language = models.TextField(null=True)
    author_name = models.TextField(default="")
    author_url = models.TextField(default="")
    provider_name = models.TextField(default="")
    provider_url = models.TextField(default="")
    creator = models.TextField(default="")
    player_url = models.TextField(default="")
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    image = models.TextField(default="")
    image_size = models.BigIntegerField(default=0)
    image_description = models.TextField(default="")
    blurhash = models.TextField(null=True)
    published_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("preview card")
        verbose_name_plural = _("preview cards")
        constraints = [
            lengths("statuses_previewcard_lengths", **_TEXTS),
        ]
        indexes = [
            models.Index(fields=["fetched_at"], name="statuses_previewcard_fetched"),
        ]

    @property
    def is_shown(self) -> bool:
        return bool(self.title)


class StatusCard(models.Model):
    """Link between `status` and the `card` it shows; `url` is the link as written in the post."""

    status = models.OneToOneField(Status, primary_key=True, on_delete=models.CASCADE, related_name="status_card")
    card = models.ForeignKey(PreviewCard, on_delete=models.CASCADE, related_name="status_cards", db_index=False)
    url = models.TextField()

    class Meta:
        constraints = [lengths("statuses_statuscard_lengths", url=URL_LIMIT)]
        indexes = [models.Index(fields=["card", "-status"], name="statuses_statuscard_card")]


class CardFetch(WaitingRow):
    """Queued fetch of a card's page from `host`. All posts that link to the page share one row."""

    queue = "cards"
    due = CardsDue

    card = models.OneToOneField(PreviewCard, on_delete=models.CASCADE, related_name="fetch")

    class Meta(WaitingRow.Meta):
        constraints = [lengths("statuses_cardfetch_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT)]
