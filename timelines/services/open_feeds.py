"""Keeps the feeds of open streams: they say what a stream has shown, and so what a mute or a block withdraws from it."""

from __future__ import annotations

from collections.abc import Collection

from timelines.models import List
from timelines.services.hiding import withdraw_hidden_posts
from timelines.services.home import FeedSource, home_feed, list_feed, load_held_ids, load_lost_ids, rebuild
from timelines.stores import channels, feed
from timelines.stores.audience import subscribed_channels


def forget_feeds(names: Collection[str], account_ids: Collection[int]) -> None:
    """Forget these feeds of these accounts; those of open streams are built again, and what a mute or a block has taken out
    is deleted from the streams. Nothing is read for people who are not listening. Raises RedisError.
    """
    held = [(source, load_held_ids(source)) for source in _open_feeds(account_ids) if source.name in names]
    feed.drop(names)
    # Asked once more: who has begun to listen meanwhile may have built the feed that is gone now.
    for source in _open_feeds(account_ids):
        rebuild(source)
    # Judged last. A mute of this moment, whose own turn comes later, finds a feed without the posts.
    for source, status_ids in held:
        withdraw_hidden_posts(source.reader_id, load_lost_ids(source, status_ids), list_id=source.list_id)


def build_open_feed(account_id: int, list_id: int | None = None) -> None:
    """Build the home feed, or that of a list, of somebody who opens its stream, if there is none: fan-out writes only to feeds
    that are there, and the stream shows more than the feed would know of. One command of Redis when it is there.
    """
    if list_id is None:
        rebuild(home_feed(account_id))
        return
    found = List.objects.filter(id=list_id, account_id=account_id).first()
    if found is not None:
        rebuild(list_feed(found))


def _open_feeds(account_ids: Collection[int]) -> list[FeedSource]:
    """The home feeds of those of the accounts whose home stream somebody reads, and the feeds of such lists of theirs."""
    lists = {channels.of_list(found.id): found for found in List.objects.filter(account_id__one_of=account_ids)}
    homes = {channels.home(account_id): account_id for account_id in account_ids}
    subscribed = subscribed_channels([*homes, *lists])
    return [
        *(home_feed(account_id) for name, account_id in homes.items() if name in subscribed),
        *(list_feed(found) for name, found in lists.items() if name in subscribed),
    ]
