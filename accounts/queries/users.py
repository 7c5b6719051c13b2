"""Reads users and lists of people around an account."""

from __future__ import annotations

from typing import Final

from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery

from accounts.models import Account, FollowRequest, User
from accounts.models.user import Permission
from social.kernel.errors import NotFound
from social.kernel.plans import Plan, Slot

FOLLOW_REQUESTS_SHOWN: Final = 40


class _CountOf(Subquery):
    """How many rows a query has, its limit included."""

    template = "(SELECT count(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def _users() -> QuerySet[User]:
    return User.objects.select_related("account__stat", "role").filter(id=Slot("id", User._meta.pk))


def _users_with_requests() -> QuerySet[User]:
    waiting = FollowRequest.objects.filter(target_id=OuterRef("account_id")).values("id")[:FOLLOW_REQUESTS_SHOWN]
    return _users().annotate(requests=_CountOf(waiting))


_USER = Plan(_users)
_USER_WITH_REQUESTS = Plan(_users_with_requests)
_OWN_ACCOUNT = Plan(lambda: Account.objects.filter(id=Slot("id", Account._meta.pk)))


def find_user(user_id: int | None) -> User:
    """The user with everything their own account's entity needs: one query. Raises NotFound."""
    return _known(_USER.first(id=user_id or 0))


def find_user_with_requests(user_id: int | None) -> tuple[User, int]:
    """The user, and the number of requests to follow, counted up to the largest number clients get: one query. Raises
    NotFound.
    """
    user = _known(_USER_WITH_REQUESTS.first(id=user_id or 0))
    return user, user.__dict__["requests"]


def _known(user: User | None) -> User:
    if user is None:
        raise NotFound
    # The account's way back to its user is known: asking for it again would join both tables a second time.
    user.account.user = user
    return user


def find_own_account(account_id: int | None) -> Account:
    """One's own account, bare: for acts that show none of it. Raises NotFound."""
    account = _OWN_ACCOUNT.first(id=account_id or 0)
    if account is None:
        raise NotFound
    return account


def list_staff(permission: Permission) -> QuerySet[User]:
    """Everybody whose role grants a permission and who can use their account, with account and role."""
    return (
        User.objects.select_related("account", "role")
        .alias(granted=F("role__permissions").bitand(Permission.ADMINISTRATOR | permission))
        .exclude(granted=0)
        .filter(disabled_at=None, approved=True, activated_at__isnull=False, account__suspended_at=None)
        .order_by("pk")
    )


def find_user_of_account(account_id: int) -> User:
    """The user whose account this is, with account and role. Raises NotFound for an account of another server."""
    user = User.objects.select_related("account", "role").filter(account_id=account_id).first()
    if user is None:
        raise NotFound
    return user
