"""Tells followers elsewhere what people here have put on their profiles, and taken off (contract, federation section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.events import FeaturedTagChanged
from accounts.models import Account, FeaturedTag, Tag
from federation.documents import activities
from federation.documents.actors import featured_tag
from federation.outbound.audience import followers_inboxes
from federation.outbound.queueing import drop_waiting, enqueue
from statuses.events import StatusPinChanged
from statuses.models import Pin
from statuses.queries.posts import load_posts


def send_pins(events: Sequence[StatusPinChanged]) -> None:
    """Add or Remove of a post, as it is now; its own Delete says enough of a deleted one."""
    posts = [post for post in load_posts(event.status_id for event in events) if not post.is_deleted]
    pinned = set(Pin.objects.filter(status_id__one_of=[post.id for post in posts]).values_list("status_id", flat=True))
    accounts = Account.objects.filter(id__one_of=[post.account_id for post in posts]).in_bulk()
    for post in posts:
        _send(accounts[post.account_id], post.object_uri, f"status:{post.id}", shown=post.id in pinned)


def send_featured_tags(events: Sequence[FeaturedTagChanged]) -> None:
    """Add or Remove of a hashtag, as it is now."""
    accounts = Account.objects.filter(id__one_of=[event.account_id for event in events]).in_bulk()
    tags = Tag.objects.filter(id__one_of=[event.tag_id for event in events]).in_bulk()
    rows = FeaturedTag.objects.filter(account_id__one_of=accounts).values_list("account_id", "tag_id", "name")
    shown = {(account_id, tag_id): name for account_id, tag_id, name in rows}
    for event in events:
        account, tag = accounts.get(event.account_id), tags.get(event.tag_id)
        if account is not None and tag is not None:
            name = shown.get((account.id, tag.id))
            item = featured_tag(account, tag, name or tag.display_name)
            _send(account, item, f"featured_tag:{account.id}:{tag.id}", shown=name is not None)


def _send(account: Account, target: str | dict[str, Any], key: str, *, shown: bool) -> None:
    inboxes = followers_inboxes(account.id) if account.deleted_at is None and not account.suspended else set()
    for kind in ("Add", "Remove"):
        drop_waiting(key, inboxes, kind)
    enqueue(account=account, document=activities.featuring(account, target, shown=shown), inboxes=inboxes, key=key)
