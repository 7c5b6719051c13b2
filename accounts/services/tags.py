"""Creates, counts, follows, features and reviews hashtags (contract, parameters section 2; behaviours section 11)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext as _

from accounts.events import FeaturedTagChanged, TagFollowed, TagUnfollowed
from accounts.models import Account, FeaturedTag, Tag, TagFollow, TagUse
from accounts.models.tag import FEATURED_TAGS_LIMIT, TAG_LIMIT
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.tags import HISTORY_DAYS, named_tag
from accounts.services.audit import differences, record_about
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import FieldError, Invalid, NotFound, require_found
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import is_hashtag, normalise_hashtag

_COUNT = """
INSERT INTO accounts_taguse (tag_id, day, account_id, uses)
SELECT tag_id, %s, %s, 1 FROM unnest(%s::bigint[]) WITH ORDINALITY AS t (tag_id, place) ORDER BY place
ON CONFLICT (tag_id, day, account_id) DO UPDATE SET uses = accounts_taguse.uses + 1
"""


def count_use(*, tags: Sequence[Tag], account_id: int, used_at: datetime) -> None:
    """Count a public post with these hashtags for the day of its creation, unless it is older than HISTORY_DAYS."""
    if clock.now() - used_at > timedelta(days=HISTORY_DAYS):
        return
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [used_at.astimezone(UTC).date(), account_id, sorted(tag.id for tag in tags)])


def forget_old_uses(*, batch: int = 5000) -> int:
    """Delete a batch of counts that are too old for the history; return how many. Call it again until it returns 0."""
    oldest = clock.now().date() - timedelta(days=HISTORY_DAYS)
    rows = TagUse.objects.filter(day__lt=oldest).values("id")[:batch]
    return TagUse.objects.filter(id__in=rows).delete()[0]


def ensure_tags(tags: Sequence[tuple[str, str]], *, private: bool = False, local_only: bool = False) -> list[Tag]:
    """Return the rows of these hashtags, given as (normalised, as written), in the same order; missing rows are created.

    Unless the post is `private` (not public) or `local_only` (for people of this server), the hashtags become known to
    everybody. The caller must limit the number of hashtags.
    """
    known = {tag.name: tag for tag in Tag.objects.filter(name__one_of=[name for name, _shown in tags])}
    missing = sorted((name, shown) for name, shown in tags if name not in known)
    here = local_only and not private
    if missing:
        # The names are sorted, so that two writers of the same new hashtags do not deadlock.
        rows = (
            Tag(name=name, display_name=spelling_of(name, shown), private=private, local_only=here)
            for name, shown in missing
        )
        Tag.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
        known |= {tag.name: tag for tag in Tag.objects.filter(name__one_of=[name for name, _shown in missing])}
    shown_now = [tag.id for tag in known.values() if tag.private or (tag.local_only and not local_only)]
    if shown_now and not private:
        seen = Tag.objects.filter(id__one_of=sorted(shown_now))
        # Another writer may have used the hashtag in public meanwhile.
        (seen.filter(private=True) if local_only else seen).update(private=False, local_only=local_only)
    return [known[name] for name, _shown in tags]


def spelling_of(name: str, shown: str) -> str:
    """Return the hashtag as it was written, or `name` if the written form is too long (with combining characters)."""
    return shown if len(shown) <= TAG_LIMIT else name


def ensure_tag(name: str) -> Tag:
    """Return the row of the hashtag with this name, created as private if it is unknown. Raises NotFound if it is invalid."""
    tag = named_tag(name)
    return ensure_tags([(tag.name, tag.display_name)], private=True)[0]


def follow_tag(*, account_id: int, name: str) -> Tag:
    """Follow a hashtag, even if nobody has used it. Raises NotFound for an invalid name. Publishes TagFollowed."""
    with transaction.atomic():
        tag = ensure_tag(name)
        lock(f"tag_follow:{account_id}:{tag.id}")
        _row, is_new = TagFollow.objects.get_or_create(account_id=account_id, tag=tag)
        if is_new:
            publish(TagFollowed(account_id=account_id, tag_id=tag.id))
    return tag


def unfollow_tag(*, account_id: int, tag: Tag) -> None:
    """End the follow of a hashtag, if there is one. Publishes TagUnfollowed."""
    with transaction.atomic():
        ended, _rows = TagFollow.objects.filter(account_id=account_id, tag_id=tag.id).delete()
        if ended:
            publish(TagUnfollowed(account_id=account_id, tag_id=tag.id))


def feature_tag(*, account: Account, name: str) -> tuple[FeaturedTag, bool]:
    """Feature a hashtag on the account's profile; return it, with its `tag`, and whether it is new.

    Raises Invalid for an invalid name and for more than FEATURED_TAGS_LIMIT. Publishes FeaturedTagChanged.
    """
    shown = name.strip().removeprefix("#")
    if not is_hashtag(shown) or len(normalise_hashtag(shown)) > TAG_LIMIT:
        raise Invalid.of([FieldError.invalid("name")])
    with transaction.atomic():
        lock(f"featured_tags:{account.id}")
        tag = ensure_tags([(normalise_hashtag(shown), shown)])[0]
        existing = FeaturedTag.objects.filter(account=account, tag=tag).first()
        if existing is not None:
            existing.tag = tag
            return existing, False
        if FeaturedTag.objects.filter(account=account).count() >= FEATURED_TAGS_LIMIT:
            raise Invalid.sentence(_("You have already featured the maximum number of hashtags"))
        featured = FeaturedTag.objects.create(account=account, tag=tag, name=spelling_of(tag.name, shown))
        publish(FeaturedTagChanged(account_id=account.id, tag_id=tag.id, local=account.local))
    return featured, True


def unfeature_tag(*, account: Account, featured_tag_id: int) -> None:
    """Remove a hashtag from the account's profile. Raises NotFound, also for another account's hashtag. Publishes
    FeaturedTagChanged.
    """
    if not _unfeature(account, FeaturedTag.objects.filter(id=featured_tag_id)):
        raise NotFound


def unfeature_tag_named(*, account: Account, tag: Tag) -> None:
    """Remove a hashtag from the account's profile, if it is featured there. Publishes FeaturedTagChanged."""
    _unfeature(account, FeaturedTag.objects.filter(tag__name=tag.name))


def _unfeature(account: Account, rows: QuerySet[FeaturedTag]) -> bool:
    with transaction.atomic():
        lock(f"featured_tags:{account.id}")
        ended = list(rows.filter(account=account).values_list("tag_id", flat=True))
        rows.filter(account=account).delete()
        publish(*(FeaturedTagChanged(account_id=account.id, tag_id=number, local=account.local) for number in ended))
    return bool(ended)


def set_use(featured: FeaturedTag, *, statuses_count: int, last_status_at: datetime | None) -> None:
    """Store the number of the account's posts with the featured hashtag, and the time of the last post."""
    featured.statuses_count, featured.last_status_at = statuses_count, last_status_at
    featured.save(update_fields=["statuses_count", "last_status_at"])


def count_featured_use(account_id: int, tag_ids: Sequence[int] | QuerySet[Any], used_at: datetime, change: int) -> None:
    """Add `change` (1 for a new post, -1 for a deleted one) to the counts of hashtags that the account features.

    The day of the last use stays when a post is deleted. Call it in a transaction.
    """
    shown = FeaturedTag.objects.filter(account_id=account_id, tag_id__in=tag_ids)
    # The rows are locked in the order of their ids, so that two concurrent posts do not deadlock.
    ids = list(shown.select_for_update().order_by("id").values_list("id", flat=True))
    if not ids:
        return
    rows = FeaturedTag.objects.filter(id__one_of=ids)
    if change > 0:
        latest = Greatest(Coalesce("last_status_at", used_at), used_at)
        rows.update(statuses_count=F("statuses_count") + change, last_status_at=latest)
    else:
        rows.update(statuses_count=Greatest(F("statuses_count") + change, 0))


_SHOWN: Final = ("display_name", "usable", "listable", "trendable")


@dataclass(frozen=True, slots=True)
class TagChange:
    """Changes of a hashtag; None leaves a value as it is."""

    display_name: str | None = None
    usable: bool | None = None
    listable: bool | None = None
    trendable: bool | None = None


def review_tag(*, by: Staff, tag: Tag, change: TagChange) -> None:
    """Apply a change to a hashtag, and mark it as reviewed. Raises Forbidden, NotFound; Invalid for a display name that
    does not match the hashtag.
    """
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        current = require_found(Tag.objects.select_for_update().filter(pk=tag.pk).first())
        before = _state(current)
        values = {name: value for name, value in asdict(change).items() if value is not None}
        name = values.get("display_name")
        if name is not None and normalise_hashtag(name.removeprefix("#")) != current.name:
            raise Invalid.of([FieldError("display_name", "ERR_INVALID", _("does not match the previous name"))])
        if name is not None:
            values["display_name"] = name.removeprefix("#")
        for column, value in values.items():
            setattr(current, column, value)
        current.reviewed_at = clock.now()
        current.save(update_fields=[*values, "reviewed_at"])
        after = _state(current)
        record_about(by, "update", current, **differences(before, after))


def _state(tag: Tag) -> dict[str, Any]:
    return {name: getattr(tag, name) for name in _SHOWN}
