"""Shows hashtags on profiles, and keeps how often they are used (contract, parameters section 2; SEED-034, SEED-079)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext as _

from accounts.events import ProfileUpdated
from accounts.models import Account, FeaturedTag, Tag
from accounts.models.featured_tag import FEATURED_TAGS_LIMIT
from accounts.models.tag import TAG_LIMIT
from accounts.services.tags import ensure_tags, kept_spelling
from social.kernel.errors import FieldError, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import is_hashtag, normalise_hashtag


def feature_tag(*, account: Account, name: str) -> tuple[FeaturedTag, bool]:
    """Show a hashtag on one's profile, with its `tag` loaded; whether it is new. One shown already is answered as it is.

    Raises Invalid for what is no hashtag and for more than FEATURED_TAGS_LIMIT. Announces ProfileUpdated.
    """
    shown = name.strip().removeprefix("#")
    if not is_hashtag(shown) or len(normalise_hashtag(shown)) > TAG_LIMIT:
        raise Invalid.of([FieldError("name", "ERR_INVALID", _("is invalid"))])
    with transaction.atomic():
        lock(f"featured_tags:{account.id}")
        tag = ensure_tags([(normalise_hashtag(shown), shown)])[0]
        existing = FeaturedTag.objects.filter(account=account, tag=tag).first()
        if existing is not None:
            existing.tag = tag
            return existing, False
        if FeaturedTag.objects.filter(account=account).count() >= FEATURED_TAGS_LIMIT:
            raise Invalid.sentence(_("You have already featured the maximum number of hashtags"))
        made = FeaturedTag.objects.create(account=account, tag=tag, name=kept_spelling(tag.name, shown))
        publish(ProfileUpdated(account_id=account.id))
    return made, True


def unfeature_tag(*, account: Account, featured_tag_id: int) -> None:
    """Take a hashtag off one's profile. Raises NotFound, also for somebody else's. Announces ProfileUpdated."""
    with transaction.atomic():
        ended, _rows = FeaturedTag.objects.filter(id=featured_tag_id, account=account).delete()
        if not ended:
            raise NotFound
        publish(ProfileUpdated(account_id=account.id))


def unfeature_tag_named(*, account: Account, tag: Tag) -> None:
    """Take a hashtag off one's profile; one that is not on it is no error. Announces ProfileUpdated."""
    with transaction.atomic():
        ended, _rows = FeaturedTag.objects.filter(account=account, tag_id=tag.id).delete()
        if ended:
            publish(ProfileUpdated(account_id=account.id))


def set_use(featured: FeaturedTag, *, statuses_count: int, last_status_at: datetime | None) -> None:
    """Write how often the account has used the hashtag so far."""
    featured.statuses_count, featured.last_status_at = statuses_count, last_status_at
    featured.save(update_fields=["statuses_count", "last_status_at"])


def count_featured_use(account_id: int, tag_ids: Sequence[int] | QuerySet[Any], used_at: datetime, change: int) -> None:
    """Count a post more or less (`change` is 1 or -1) for those of the hashtags that the account shows.

    The day of the last use stays when a post is deleted. The caller holds a transaction.
    """
    shown = FeaturedTag.objects.filter(account_id=account_id, tag_id__in=tag_ids)
    # Locked in the order of their ids: two posts at once cannot wait for each other.
    ids = list(shown.select_for_update().order_by("id").values_list("id", flat=True))
    if not ids:
        return
    rows = FeaturedTag.objects.filter(id__one_of=ids)
    if change > 0:
        latest = Greatest(Coalesce("last_status_at", used_at), used_at)
        rows.update(statuses_count=F("statuses_count") + change, last_status_at=latest)
    else:
        rows.update(statuses_count=Greatest(F("statuses_count") + change, 0))
