"""Deletes old posts of authors who have enabled this, in bounded steps, each of which continues where the last step ended."""

from datetime import timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.forms.models import model_to_dict
from django.utils.translation import gettext as _

from accounts.policies.audience import is_present
from accounts.transfers.past import UNDO_PERIOD
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import first_at
from statuses.models import Bookmark, Favourite, ImportedPost, MediaAttachment, Pin, Poll, RetentionPolicy, Status
from statuses.policies.visibility import ADDRESSED_VISIBILITIES
from statuses.services.deleting import delete_status

AGES: Final = (7, 14, 30, 60, 90, 180, 365, 730)
"""Ages in days after which authors can have their posts deleted."""
COUNT_LIMIT: Final = 1_000_000
"""Maximum of the thresholds for favourites and boosts."""
ACCOUNTS_PER_RUN: Final = 20
"""Maximum number of authors handled in one run."""
DELETIONS_PER_RUN: Final = 50
"""Maximum number of posts of one author that are deleted in one run."""
READS_PER_RUN: Final = 2000
"""Maximum number of posts of one author that are checked in one run."""
RESTART_INTERVAL: Final = timedelta(days=1)
"""Time after which an author's posts are checked again, starting with the oldest."""
_LEASE: Final = timedelta(minutes=30)


def find_retention(account_id: int) -> dict[str, Any]:
    """Return the values of the account's policy by name, or the defaults if the account has no policy."""
    policy = RetentionPolicy.objects.filter(account_id=account_id).first()
    return model_to_dict(policy or RetentionPolicy(), exclude=["account", "due_at", "after_id"])


def change_retention(policy: RetentionPolicy) -> None:
    """Store a new row in place of the account's earlier policy, so that its posts are checked immediately, the oldest first.
    Raises Invalid for an age that is not in AGES, and for a number outside 1 to COUNT_LIMIT.
    """
    if policy.min_age not in AGES:
        raise Invalid.sentence(_("Choose one of the ages."))
    for number in (policy.min_favourites, policy.min_reblogs):
        if number is not None and not 1 <= number <= COUNT_LIMIT:
            raise Invalid.sentence(_("The number must be between 1 and %(largest)d.") % {"largest": COUNT_LIMIT})
    policy.save()


def delete_old_posts() -> int:
    """Delete old posts of the authors whose check is due, and return how many. Run by the scheduler every ten minutes: at most
    DELETIONS_PER_RUN posts of each of at most ACCOUNTS_PER_RUN authors. An author is checked again a day later. Any number of
    processes may run this; the lease of a killed process expires after half an hour.
    """
    deleted = 0
    for _turn in range(ACCOUNTS_PER_RUN):
        policy = _claim()
        if policy is None:
            break
        deleted += _delete_of_account(policy)
    return deleted


def _claim() -> RetentionPolicy | None:
    now = clock.now()
    due_policies = RetentionPolicy.objects.filter(
        is_present("account"), enabled=True, due_at__lte=now, account__domain=None
    )
    for policy in due_policies.order_by("due_at", "account_id")[:ACCOUNTS_PER_RUN]:
        # Of two processes that read the same row, only one updates it.
        claimed = RetentionPolicy.objects.filter(account_id=policy.account_id, due_at=policy.due_at, enabled=True)
        if claimed.update(due_at=now + _LEASE):
            policy.due_at = now + _LEASE
            return policy
    return None


def _delete_of_account(policy: RetentionPolicy) -> int:
    end = first_at(clock.now() - timedelta(days=policy.min_age))
    old = Status.objects.filter(
        account_id=policy.account_id, deleted_at=None, id__gt=policy.after_id, id__lt=end
    ).order_by("id")
    looked_at = list(old.values_list("id", flat=True)[:READS_PER_RUN])
    found = deletable(policy).filter(id__one_of=looked_at).order_by("id").values_list("id", flat=True)
    ids = list(found[:DELETIONS_PER_RUN])
    for status_id in ids:
        delete_status(status_id=status_id, delete_media=True)
    if len(ids) == DELETIONS_PER_RUN:
        after_id, due_at = ids[-1], clock.now()
    elif len(looked_at) == READS_PER_RUN:
        after_id, due_at = looked_at[-1], clock.now()
    else:
        after_id, due_at = 0, clock.now() + RESTART_INTERVAL
    # A policy that its owner changed in the meantime is not updated, because its check starts again.
    mine = RetentionPolicy.objects.filter(account_id=policy.account_id, due_at=policy.due_at)
    mine.update(after_id=after_id, due_at=due_at)
    return len(ids)


def deletable(policy: RetentionPolicy) -> QuerySet[Status]:
    """Return the author's posts, of any age, that the policy does not keep, except posts whose import can be undone."""
    itself, owner = OuterRef("id"), policy.account_id
    young = Q(batch__finished_at=None) | Q(batch__finished_at__gt=clock.now() - UNDO_PERIOD)
    exceptions = [
        (True, Q(Exists(ImportedPost.objects.filter(young, status_id=itself, batch__isnull=False)), from_archive=True)),
        (policy.keep_pinned, Exists(Pin.objects.filter(status_id=itself))),
        (policy.keep_direct, Q(visibility__in=ADDRESSED_VISIBILITIES)),
        (policy.keep_favourited, Exists(Favourite.objects.filter(status_id=itself, account_id=owner))),
        (policy.keep_bookmarked, Exists(Bookmark.objects.filter(status_id=itself, account_id=owner))),
        (policy.keep_media, Exists(MediaAttachment.objects.filter(status_id=itself))),
        (policy.keep_polls, Exists(Poll.objects.filter(status_id=itself))),
        (policy.min_favourites is not None, Q(stat__favourites_count__gte=policy.min_favourites or 0)),
        (policy.min_reblogs is not None, Q(stat__reblogs_count__gte=policy.min_reblogs or 0)),
    ]
    found = Status.objects.filter(account_id=policy.account_id, deleted_at=None)
    for applies, condition in exceptions:
        if applies:
            found = found.exclude(condition)
    return found
