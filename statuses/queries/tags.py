"""Reads hashtags that a viewer may know, and the use of hashtags by an account."""

from datetime import datetime
from typing import Final

from django.db.models import Count, Max

from accounts.models import FeaturedTag, Tag, TagFollow
from accounts.queries.tags import named_tag
from statuses.models import Status, StatusTag
from statuses.policies.audience import visible_to
from statuses.policies.visibility import OPEN_VISIBILITIES

_PRIVATE_TAG_POSTS_LIMIT: Final = 100


def find_tag(name: str, viewer_id: int | None) -> Tag:
    """Return the hashtag with this name in any spelling; without an id if it has never been used (contract, entities "Tag").
    Raises NotFound for an invalid hashtag. One query, up to three for a private hashtag.

    A hashtag without public or unlisted posts counts as unused, because its name reveals a topic, unless the viewer follows it
    or may read one of its last posts. For visitors, a hashtag that only local-only posts use also counts as unused.
    """
    tag = named_tag(name)
    found = Tag.objects.filter(name=tag.name).first()
    if found is None or (viewer_id is None and found.local_only):
        return tag
    if found.private and not _may_know(found, viewer_id):
        return tag
    return found


def _may_know(tag: Tag, viewer_id: int | None) -> bool:
    if viewer_id is None:
        return False
    if TagFollow.objects.filter(account_id=viewer_id, tag=tag).exists():
        return True
    used = StatusTag.objects.filter(tag=tag).order_by("-status_id")
    last = StatusTag.objects.filter(id__in=used.values("id")[:_PRIVATE_TAG_POSTS_LIMIT])
    return last.filter(visible_to(viewer_id, prefix="status__")).exists()


SUGGESTION_POSTS_LIMIT: Final = 1000
SUGGESTIONS_LIMIT: Final = 10


def load_use(account_id: int, tag_id: int) -> tuple[int, datetime | None]:
    """Return how many public and unlisted posts of the account use the hashtag, and the time of the last such post."""
    used = StatusTag.objects.filter(
        tag_id=tag_id,
        status__account_id=account_id,
        status__deleted_at=None,
        status__visibility__in=OPEN_VISIBILITIES,
    ).aggregate(count=Count("id"), last=Max("status__created_at"))
    return used["count"], used["last"]


def load_suggested_tags(account_id: int) -> list[Tag]:
    """Return the hashtags of the account's last SUGGESTION_POSTS_LIMIT posts, except featured hashtags (SEED-080)."""
    recent = Status.objects.filter(account_id=account_id, deleted_at=None, reblog_of=None).order_by("-id")
    featured = FeaturedTag.objects.filter(account_id=account_id).values("tag_id")
    found = (
        StatusTag.objects.filter(status_id__in=recent.values("id")[:SUGGESTION_POSTS_LIMIT])
        .exclude(tag_id__in=featured)
        .values("tag_id")
        .annotate(uses=Count("id"), last=Max("status_id"))
        .order_by("-uses", "-last")[:SUGGESTIONS_LIMIT]
    )
    ids = [row["tag_id"] for row in found]
    tags = Tag.objects.filter(id__one_of=ids).in_bulk()
    return [tags[number] for number in ids]
