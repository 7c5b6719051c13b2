"""Follows hashtags (contract, parameters section 2; behaviours section 11)."""

from __future__ import annotations

from django.db import transaction

from accounts.events import TagFollowed, TagUnfollowed
from accounts.models import Tag, TagFollow
from accounts.services.tags import ensure_tag
from social.kernel.events import publish
from social.kernel.locks import lock


def follow_tag(*, account_id: int, name: str) -> Tag:
    """Follow a hashtag, used by anybody or not; twice is as good as once.

    Raises NotFound for what is no hashtag. Publishes TagFollowed.
    """
    with transaction.atomic():
        tag = ensure_tag(name)
        lock(f"tag_follow:{account_id}:{tag.id}")
        _row, is_new = TagFollow.objects.get_or_create(account_id=account_id, tag=tag)
        if is_new:
            publish(TagFollowed(account_id=account_id, tag_id=tag.id))
    return tag


def unfollow_tag(*, account_id: int, tag: Tag) -> None:
    """End a follow; without one nothing happens, nor for a hashtag that nobody has used. Publishes TagUnfollowed."""
    with transaction.atomic():
        ended, _rows = TagFollow.objects.filter(account_id=account_id, tag_id=tag.id).delete()
        if ended:
            publish(TagUnfollowed(account_id=account_id, tag_id=tag.id))
