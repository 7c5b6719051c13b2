"""Makes encoded bodies of posts stale when something they show has changed (`social.kernel.fragments`)."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F

from statuses.models import Mention, Status


def show_statuses_anew(status_ids: Iterable[int]) -> None:
    """Raise the versions of these posts, in the caller's transaction: what changed shows at once."""
    Status.objects.filter(id__in=list(status_ids)).update(version=F("version") + 1)


def show_mentions_anew(account_id: int) -> None:
    """Raise the versions of all posts that mention an account: its name or address has changed, in this transaction."""
    Status.objects.filter(id__in=Mention.objects.filter(account_id=account_id).values("status_id")).update(
        version=F("version") + 1
    )
