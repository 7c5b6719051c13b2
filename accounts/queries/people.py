"""Reads users and lists of people around an account."""

from __future__ import annotations

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from accounts.models import Account, FollowRequest, User
from accounts.queries.accounts import list_accounts, split_address
from social.kernel.errors import NotFound


def find_user(user_id: int | None) -> User:
    """The user with everything their own account's entity needs: one query. Raises NotFound."""
    user = (
        User.objects.select_related("account__stat", "role")
        .prefetch_related("account__moved_to")
        .filter(id=user_id or 0)
        .first()
    )
    if user is None:
        raise NotFound
    # The account's way back to its user is known: asking for it again would join both tables a second time.
    user.account.user = user
    return user


def find_own_account(account_id: int | None) -> Account:
    """One's own account, bare: for acts that show none of it. Raises NotFound."""
    account = Account.objects.filter(id=account_id or 0).first()
    if account is None:
        raise NotFound
    return account


def count_follow_requests(account_id: int, at_most: int = 40) -> int:
    """How many people wait to follow, counted no further than clients are told."""
    return len(FollowRequest.objects.filter(target_id=account_id).values_list("id")[:at_most])


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
    found = list_accounts().filter(condition, suspended_at=None).exclude(blocks__target_id=viewer_id)
    found = found.exclude(Q(blocked_by__account_id=viewer_id) & ~exact)
    if following:
        found = found.filter(followers__account_id=viewer_id)
    rank = Case(When(exact, then=Value(0)), default=Value(1), output_field=IntegerField())
    return found.annotate(rank=rank).order_by("rank", "-stat__followers_count", "id")
