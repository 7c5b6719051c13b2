"""Reads the hashtags that people show on their profiles."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models import Account, FeaturedTag


def list_featured_tags(account: Account) -> QuerySet[FeaturedTag]:
    """The account's, most used first; none of a suspended one."""
    found = FeaturedTag.objects.filter(account=account).select_related("tag").order_by("-statuses_count", "id")
    return found.none() if account.suspended else found
