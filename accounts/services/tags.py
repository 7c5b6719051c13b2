"""Makes the rows of hashtags, and counts their use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db import connection

from accounts.models import Tag, TagUse
from accounts.models.tag import TAG_LIMIT
from accounts.queries.tags import HISTORY_DAYS, named_tag
from social.kernel import clock
from social.kernel.batches import BATCH

_COUNT = """
INSERT INTO accounts_taguse (tag_id, day, account_id, uses)
SELECT tag_id, %s, %s, 1 FROM unnest(%s::bigint[]) WITH ORDINALITY AS t (tag_id, place) ORDER BY place
ON CONFLICT (tag_id, day, account_id) DO UPDATE SET uses = accounts_taguse.uses + 1
"""


def count_use(*, tags: Sequence[Tag], account_id: int, used_at: datetime) -> None:
    """Count a public post with these hashtags for the day it was written on; one older than HISTORY_DAYS counts nothing.

    Rows are locked in the order of the hashtags' ids: two posts at once cannot wait for each other.
    """
    if clock.now() - used_at > timedelta(days=HISTORY_DAYS):
        return
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [used_at.astimezone(UTC).date(), account_id, sorted(tag.id for tag in tags)])


def forget_old_uses(*, batch: int = 5000) -> int:
    """Delete what no history shows any more; returns how many rows. Call it again until it is 0."""
    oldest = clock.now().date() - timedelta(days=HISTORY_DAYS)
    rows = TagUse.objects.filter(day__lt=oldest).values("id")[:batch]
    return TagUse.objects.filter(id__in=rows).delete()[0]


def ensure_tags(tags: Sequence[tuple[str, str]], *, private: bool = False) -> list[Tag]:
    """The rows of these hashtags, (normalised, as written), in their order; missing ones are made, once for all.

    `private`: they are used where not everybody can read it; else none of them is private any more. A post or a
    collection names a bounded number of them.
    """
    known = {tag.name: tag for tag in Tag.objects.filter(name__one_of=[name for name, _shown in tags])}
    missing = sorted((name, shown) for name, shown in tags if name not in known)
    if missing:
        # Sorted, so that two writers of the same new hashtags cannot wait for each other.
        rows = (Tag(name=name, display_name=kept_spelling(name, shown), private=private) for name, shown in missing)
        Tag.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
        known |= {tag.name: tag for tag in Tag.objects.filter(name__one_of=[name for name, _shown in missing])}
    if not private and (shown_now := [tag.id for tag in known.values() if tag.private]):
        Tag.objects.filter(id__one_of=sorted(shown_now)).update(private=False)
    return [known[name] for name, _shown in tags]


def kept_spelling(name: str, shown: str) -> str:
    """How a hashtag was written, unless that is too long: combining letters take more room than the normalised name."""
    return shown if len(shown) <= TAG_LIMIT else name


def ensure_tag(name: str) -> Tag:
    """The row of the hashtag that is called so, made if nobody has used it yet, then private. Raises NotFound for what is no
    hashtag."""
    tag = named_tag(name)
    return ensure_tags([(tag.name, tag.display_name)], private=True)[0]
