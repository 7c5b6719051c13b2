"""Makes the rows of hashtags."""

from __future__ import annotations

from collections.abc import Sequence

from accounts.models import Tag


def ensure_tags(tags: Sequence[tuple[str, str]]) -> list[Tag]:
    """The rows of these hashtags, (normalised, as written), in their order; missing ones are made, once for all.

    A post or a collection names a bounded number of them.
    """
    known = {tag.name: tag for tag in Tag.objects.filter(name__in=[name for name, _shown in tags])}
    missing = sorted((name, shown) for name, shown in tags if name not in known)
    if missing:
        # Sorted, so that two writers of the same new hashtags cannot wait for each other.
        Tag.objects.bulk_create((Tag(name=name, display_name=shown) for name, shown in missing), ignore_conflicts=True)
        known |= {tag.name: tag for tag in Tag.objects.filter(name__in=[name for name, _shown in missing])}
    return [known[name] for name, _shown in tags]
