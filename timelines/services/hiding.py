"""Publishes to open streams what a mute or a block takes out of feeds (contract, behaviours section 16, event `delete`),
and keeps the feeds that say what these streams have shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from timelines.models import List
from timelines.services.broadcasting import broadcast_deletions
from timelines.services.home import load_hidden_home_ids, load_hidden_list_ids, rebuild_home, rebuild_list
from timelines.stores import channels
from timelines.stores.audience import subscribed_channels


def withdraw_hidden_posts(account_ids: Collection[int]) -> None:
    """Delete from the open home and list streams of these accounts what their feeds hold and may show no more.

    Call it before the feeds are forgotten. Nothing is read for people who are not listening.
    """
    readers, lists = _open_streams(account_ids)
    homes: dict[int, list[int]] = defaultdict(list)
    of_lists: dict[int, list[int]] = defaultdict(list)
    for account_id in readers:
        for status_id in load_hidden_home_ids(account_id):
            homes[status_id].append(account_id)
    for found in lists:
        for status_id in load_hidden_list_ids(found):
            of_lists[status_id].append(found.id)
    broadcast_deletions(homes, {}, of_lists)


def rebuild_open_feeds(account_ids: Collection[int]) -> None:
    """Build the feeds of open home and list streams again, after they were forgotten.

    Else the next mute would find nothing to withdraw: who reads a stream does not ask for the timeline in between.
    """
    readers, lists = _open_streams(account_ids)
    for account_id in readers:
        rebuild_home(account_id)
    for found in lists:
        rebuild_list(found)


def build_open_feed(account_id: int, list_id: int | None = None) -> None:
    """Build the home feed, or that of a list, of somebody who opens its stream, if there is none: fan-out writes only to feeds
    that are there, and the stream shows more than the feed would know of. One command of Redis when it is there.
    """
    if list_id is None:
        rebuild_home(account_id)
        return
    found = List.objects.filter(id=list_id, account_id=account_id).first()
    if found is not None:
        rebuild_list(found)


def _open_streams(account_ids: Collection[int]) -> tuple[list[int], list[List]]:
    """Those of the accounts whose home stream somebody reads, and those of their lists."""
    names = {channels.of_list(found.id): found for found in List.objects.filter(account_id__one_of=account_ids)}
    subscribed = subscribed_channels([*map(channels.home, account_ids), *names])
    readers = [account_id for account_id in account_ids if channels.home(account_id) in subscribed]
    return readers, [found for name, found in names.items() if name in subscribed]
