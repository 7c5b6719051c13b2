"""Reads hashtags as far as a viewer may know of them."""

from __future__ import annotations

from typing import Final

from accounts.models import Tag, TagFollow
from accounts.queries.tags import named_tag
from statuses.models import StatusTag
from statuses.policies.visibility import visible_to

_POSTS_LOOKED_AT: Final = 100


def find_tag(name: str, viewer_id: int | None) -> Tag:
    """The hashtag that is called so, in whatever spelling; without an id if nobody has used it (contract, entities "Tag").

    So is one that was never used where everybody can read it, for who neither follows it nor may read one of its last
    posts: a name says what somebody wrote about. Raises NotFound for what is no hashtag. One query, up to three for a
    private hashtag.
    """
    tag = named_tag(name)
    found = Tag.objects.filter(name=tag.name).first()
    if found is None or (found.private and not _may_know(found, viewer_id)):
        return tag
    return found


def _may_know(tag: Tag, viewer_id: int | None) -> bool:
    if viewer_id is None:
        return False
    if TagFollow.objects.filter(account_id=viewer_id, tag=tag).exists():
        return True
    used = StatusTag.objects.filter(tag=tag).order_by("-status_id")
    last = StatusTag.objects.filter(id__in=used.values("id")[:_POSTS_LOOKED_AT])
    return last.filter(visible_to(viewer_id, prefix="status__")).exists()
