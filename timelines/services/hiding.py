"""Publishes to open streams what a mute or a block takes out of feeds (contract, behaviours section 16, event `delete`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from timelines.models import List
from timelines.services.broadcasting import broadcast_deletions
from timelines.services.home import load_hidden_home_ids, load_hidden_list_ids
from timelines.stores import channels
from timelines.stores.audience import subscribed_channels


def withdraw_hidden_posts(account_ids: Collection[int]) -> None:
    """Delete from the open home and list streams of these accounts what their feeds hold and may show no more.

    Call it before the feeds are forgotten. Nothing is read for people who are not listening.
    """
    lists = List.objects.filter(account_id__one_of=account_ids)
    names = {channels.of_list(found.id): found for found in lists}
    subscribed = subscribed_channels([*map(channels.home, account_ids), *names])
    homes: dict[int, list[int]] = defaultdict(list)
    of_lists: dict[int, list[int]] = defaultdict(list)
    for account_id in account_ids:
        if channels.home(account_id) in subscribed:
            for status_id in load_hidden_home_ids(account_id):
                homes[status_id].append(account_id)
    for name, found in names.items():
        if name in subscribed:
            for status_id in load_hidden_list_ids(found):
                of_lists[status_id].append(found.id)
    broadcast_deletions(homes, {}, of_lists)
