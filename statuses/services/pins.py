"""Pins posts to profiles and features hashtags on them, for local accounts and as reported by other servers."""

import contextlib
from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, FeaturedTag
from accounts.services.tags import feature_tag, set_use
from social.kernel.errors import Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import normalise_hashtag
from statuses.events import StatusPinChanged
from statuses.models import Pin, Status
from statuses.policies.posts import Post
from statuses.policies.visibility import FOLLOWER_VISIBILITIES
from statuses.queries.tags import load_use
from statuses.services.changing import lock_status

PINS_LIMIT: Final = 5
"""Maximum number of pinned posts of an account (contract, behaviours section 7 "Pins")."""


def pin_status(*, account_id: int, status: Post) -> None:
    """Pin a post that the account may read; the newest pin comes first. Publishes StatusPinChanged. Raises Invalid with all
    reasons that apply: the post is another account's, is a boost, is only for addressed accounts, or is pinned already, or
    PINS_LIMIT is reached (contract, parameters section 3 "Other status calls"); NotFound if the post was deleted in the
    meantime.
    """
    with transaction.atomic():
        lock(f"pins:{account_id}")
        pinned = set(Pin.objects.filter(account_id=account_id).values_list("status_id", flat=True))
        reasons = []
        if status.original is not None:
            reasons.append(_("A boost cannot be pinned"))
        if status.proper.account_id != account_id:
            reasons.append(_("Someone else's post cannot be pinned"))
        if status.visibility not in FOLLOWER_VISIBILITIES:
            reasons.append(_("Posts that are only visible to mentioned users cannot be pinned"))
        if len(pinned) >= PINS_LIMIT:
            reasons.append(_("You have already pinned the maximum number of posts"))
        if reasons:
            raise Invalid.sentence(", ".join(reasons))
        if status.id in pinned:
            raise Invalid(_("Duplicate record"))
        if not lock_status(status.id):
            raise NotFound
        Pin.objects.create(account_id=account_id, status_id=status.id)
        publish(StatusPinChanged(status_id=status.id, local=status.local))


def unpin_status(*, account_id: int, status: Post) -> None:
    """Unpin a post from the account's profile. Idempotent; other accounts' pins stay. Publishes StatusPinChanged."""
    with transaction.atomic():
        lock(f"pins:{account_id}")
        ended, _rows = Pin.objects.filter(account_id=account_id, status_id=status.id).delete()
        if ended:
            publish(StatusPinChanged(status_id=status.id, local=status.local))


def keep_pins(*, account_id: int, status_ids: Sequence[int]) -> None:
    """Replace the pins of a remote account with the first PINS_LIMIT posts that the account may pin, newest first."""
    with transaction.atomic():
        lock(f"pins:{account_id}")
        _write_pins(account_id, status_ids)


def pin_remote_status(*, account_id: int, status_id: int) -> None:
    """Pin a post of a remote account before its other pins, under the rules of `keep_pins`. Idempotent."""
    with transaction.atomic():
        lock(f"pins:{account_id}")
        before = _pinned_ids(account_id)
        if status_id not in before:
            _write_pins(account_id, [status_id, *before])


def _write_pins(account_id: int, status_ids: Sequence[int]) -> None:
    pinnable = Status.objects.filter(
        id__one_of=status_ids, account_id=account_id, reblog_of=None, visibility__in=FOLLOWER_VISIBILITIES
    )
    found = set(pinnable.values_list("id", flat=True))
    pinned_ids = [number for number in dict.fromkeys(status_ids) if number in found][:PINS_LIMIT]
    locked_ids = [number for number in pinned_ids if lock_status(number)]
    if locked_ids == _pinned_ids(account_id):
        return
    Pin.objects.filter(account_id=account_id).delete()
    for number in reversed(locked_ids):
        Pin.objects.create(account_id=account_id, status_id=number)


def _pinned_ids(account_id: int) -> list[int]:
    return list(Pin.objects.filter(account_id=account_id).order_by("-id").values_list("status_id", flat=True))


def feature_used_tag(*, account: Account, name: str) -> FeaturedTag:
    """Feature a hashtag on the account's profile, with the count of the account's existing posts. Raises Invalid like
    `feature_tag`.
    """
    with transaction.atomic():
        featured, is_new = feature_tag(account=account, name=name)
        if is_new:
            count, last = load_use(account.id, featured.tag_id)
            set_use(featured, statuses_count=count, last_status_at=last)
    return featured


def keep_featured_tags(*, account: Account, names: Sequence[str]) -> None:
    """Replace the featured hashtags of a remote account with `names`, skipping invalid names and names beyond the limit."""
    with transaction.atomic():
        lock(f"featured_tags:{account.id}")
        tag_names = {normalise_hashtag(name.removeprefix("#")) for name in names}
        FeaturedTag.objects.filter(account=account).exclude(tag__name__one_of=tag_names).delete()
        for name in names:
            with contextlib.suppress(Invalid):
                feature_used_tag(account=account, name=name)
