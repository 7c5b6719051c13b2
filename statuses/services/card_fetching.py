"""Fetches the pages of queued previews, with their oEmbed documents and pictures.

Source: DESIGN "Lanes"; contract, federation section 16; security rows 4, 10 and 58.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from social.kernel.errors import KernelError, Unavailable
from social.kernel.http import client
from social.kernel.media.images import ACCEPTED
from social.kernel.media.types import HEAD, media_type
from social.kernel.reasons import Reason
from social.kernel.refusals import count_refusals
from social.kernel.runner import Failed, Job, Steps, Work
from statuses.models import CardFetch, PreviewCard
from statuses.policies.cards import host_of
from statuses.policies.embeds import EMBED_BYTES, read_embed
from statuses.policies.previews import IMAGE_BYTES, PAGE_BYTES, PAGE_TYPES, PageReason, Preview, read_page
from statuses.services.cards import store_card

logger = logging.getLogger("social.cards")

#: Time-out of one request, in seconds.
DEADLINE: Final = 10.0
_SCHEMES: Final = ("https", "http")
_TEMPORARY_CODES: Final = (408, 425, 429)


class _Missing(client.FetchError):
    reason = PageReason.PAGE_MISSING


def _begin(jobs: Sequence[Job[CardFetch]]) -> Iterator[Steps]:
    cards = PreviewCard.objects.filter(id__one_of=[job.row.card_id for job in jobs])
    urls = dict(cards.values_list("id", "url"))
    for job in jobs:
        yield _fetch(job, urls.get(job.row.card_id, ""))


def _fetch(job: Job[CardFetch], url: str) -> Steps:
    card_id = job.row.card_id
    refused: Counter[tuple[str, Reason]] = Counter()
    try:
        preview, host, image = yield _gather(url, refused)
    except client.FetchError as error:
        if isinstance(error, (client.TimedOut, client.Exhausted, client.Unreachable)) and not isinstance(
            error, client.Untrusted
        ):
            job.answers[job.row.host] = str(error)
            raise Failed(str(error)) from None
        logger.info("card %d: %s", card_id, error)
        count_refusals(job.row.host, {error.reason: 1})
        store_card(card_id=card_id, preview=None)
    else:
        if not preview.title:
            refused[job.row.host, PageReason.PAGE_WITHOUT_TITLE] += 1
        for (sender, reason), number in refused.items():
            count_refusals(sender, {reason: number})
        try:
            store_card(card_id=card_id, preview=preview, host=host, image=image)
        except Unavailable as error:
            raise Failed(error.message) from None
    job.answers[job.row.host] = ""


async def _gather(url: str, refused: Counter[tuple[str, Reason]]) -> tuple[Preview, str, bytes | None]:
    """Fetch a page, its oEmbed document, and its pictures one after the other, until one of them can be shown. Return the
    preview (with only that picture), the page's host, and the picture's bytes. `refused` counts failed requests by host and
    reason, except the request for the page.
    """
    page = await _ask(url, PAGE_BYTES, accept=PAGE_TYPES, cut=True)
    preview = await asyncio.to_thread(read_page, page.body, page.headers.get("Content-Type", ""), page.url)
    if preview.embed_url:
        preview = await _with_embed(preview, refused)
    image = None
    for picture in preview.pictures if preview.title else ():
        try:
            image = await _image(picture.url)
        except client.FetchError as error:
            refused[_host_named(picture.url), PageReason.PICTURE_MISSING] += 1
            if isinstance(error, (client.TimedOut, client.Exhausted, client.Unreachable)):
                break
        else:
            preview = replace(preview, pictures=(picture,))
            break
    return preview, host_of(page.url), image


async def _ask(url: str, most: int, *, accept: Sequence[str] = (), cut: bool = False) -> client.Response:
    """Request an address. Raises Unreachable if a retry may succeed, otherwise FetchError. Only pages need a media type in
    `accept`, as in Mastodon; oEmbed documents and pictures are recognised by their bytes (security row 1).
    """
    answer = await client.fetch_async(
        client.Request(url, accept=accept, max_bytes=most, deadline=DEADLINE, schemes=_SCHEMES, cut=cut)
    )
    if answer.status >= 500 or answer.status in _TEMPORARY_CODES:
        raise client.Unreachable(f"{answer.status} from {url[:200]}")
    if answer.status != 200:
        raise _Missing(f"{answer.status} from {url[:200]}")
    return answer


async def _with_embed(preview: Preview, refused: Counter[tuple[str, Reason]]) -> Preview:
    try:
        answer = await _ask(preview.embed_url, EMBED_BYTES)
    except client.FetchError as error:
        refused[_host_named(preview.embed_url), error.reason] += 1
        return preview
    return await asyncio.to_thread(read_embed, answer.body, preview)


async def _image(url: str) -> bytes:
    answer = await _ask(url, IMAGE_BYTES)
    if (media_type(answer.body[:HEAD]) or "") not in ACCEPTED:
        raise _Missing(f"no picture at {url[:200]}")
    return answer.body


def _host_named(url: str) -> str:
    try:
        return host_of(url)
    except KernelError:
        return ""


CARDS: Final = Work(CardFetch, _begin)
