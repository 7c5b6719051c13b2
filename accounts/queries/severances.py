"""Reads which follows of somebody were ended from outside, for that person."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models.severance import SeveredAccount, SeveredFollow
from social.kernel.errors import NotFound


def list_severances(account_id: int) -> QuerySet[SeveredAccount]:
    """The acts that ended follows of the account, the latest first, with what each cost it."""
    return SeveredAccount.objects.filter(account_id=account_id).select_related("severance").order_by("-id")


def find_severance(account_id: int, severed_id: int) -> SeveredAccount:
    """One of them. Raises NotFound, for somebody else's too."""
    found = list_severances(account_id).filter(id=severed_id).first()
    if found is None:
        raise NotFound
    return found


def list_ended_follows(severed: SeveredAccount) -> QuerySet[SeveredFollow]:
    """Whom the account followed until then, with `target`."""
    rows = SeveredFollow.objects.filter(severance_id=severed.severance_id, account_id=severed.account_id)
    return rows.select_related("target")


def list_ended_followers(severed: SeveredAccount) -> QuerySet[SeveredFollow]:
    """Who followed the account until then, with `account`."""
    rows = SeveredFollow.objects.filter(severance_id=severed.severance_id, target_id=severed.account_id)
    return rows.select_related("account")
