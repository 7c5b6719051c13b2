"""Reads users and lists of people around an account."""

from __future__ import annotations

from typing import Final

from django.db.models import Case, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When

from accounts.models import Account, FollowRequest, User
from accounts.policies.relations import blocked, shut_out
from accounts.queries.accounts import list_accounts, split_address
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
    """The user, and how many wait to follow, counted no further than clients are told: one query. Raises NotFound."""
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


def search_accounts(query: str, *, viewer_id: int, following: bool = False) -> QuerySet[Account]:
    """Accounts whose username or display name begins with the query, exact address first.

    Who has blocked the viewer is not found (SEED-128); whom the viewer has blocked is found by the exact address only.
    """
    text = query.strip().removeprefix("@")
    pair = split_address(text)
    username = pair[0] if pair is not None else text
    by_name = Q(username__istartswith=username)
    exact = Q(username__iexact=username, domain=pair[1]) if pair is not None else Q(pk=None)
    if "@" in text and pair is not None:
        condition = exact
    else:
        condition = by_name | Q(display_name__istartswith=text) | Q(display_name__icontains=f" {text}")
    found = list_accounts().filter(condition, suspended_at=None).exclude(shut_out(viewer_id, OuterRef("id")))
    found = found.filter(exact | ~blocked(viewer_id, OuterRef("id")))
    if following:
        found = found.filter(followers__account_id=viewer_id)
    rank = Case(When(exact, then=Value(0)), default=Value(1), output_field=IntegerField())
    return found.annotate(rank=rank).order_by("rank", "-stat__followers_count", "id")
