"""Reads accounts that somebody may like to follow: the directory, and suggestions (contract, behaviours section 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from accounts.models import Account, AccountStat, DismissedSuggestion, Follow, FollowRequest
from accounts.policies.relations import hidden_from
from accounts.queries.accounts import list_accounts
from accounts.queries.relations import list_blocked_domains

SUGGESTIONS_LIMIT: Final = 80
"""No more are ever suggested, whatever page is asked for."""

FOLLOWS_LOOKED_AT: Final = 150
"""Whose follows make suggestions: those that were followed last."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An account with the reason why it is suggested, as the interface names reasons."""

    account_id: int
    source: str


def list_directory(viewer_id: int | None, *, order: str, local: bool) -> QuerySet[Account]:
    """The ids of accounts that want to be found: `order` "active" (last post first), "new" (newest account first) or
    anything else (none in particular); with `local` of this server only.

    Left out are limited, suspended and moved accounts, those who never posted, followed or were followed, and whom the
    viewer hides.
    """
    lively = AccountStat.objects.filter(account_id=OuterRef("id")).filter(
        Q(statuses_count__gt=0) | Q(following_count__gt=0) | Q(followers_count__gt=0)
    )
    found = _discoverable().filter(Exists(lively))
    if local:
        found = found.filter(domain=None)
    if viewer_id is not None:
        found = _not_hidden(found, viewer_id)
    if order == "active":
        return found.order_by(F("stat__last_status_at").desc(nulls_last=True), "-id")
    return found.order_by("-id") if order == "new" else found


def load_suggestions(viewer_id: int) -> list[Suggestion]:
    """Whom the viewer may like to follow, best first: accounts that several of those follow whom the viewer followed
    last, then the most followed ones. At most SUGGESTIONS_LIMIT, in two queries.

    Left out are oneself, whom one follows, has asked to follow, hides or has dismissed.
    """
    wanted = _suggestable(viewer_id)
    followed = Follow.objects.filter(account_id=viewer_id).order_by("-id")
    friends = list(
        wanted.filter(followers__account_id__in=followed.values("target_id")[:FOLLOWS_LOOKED_AT])
        .exclude(followers__account__hide_collections=True)
        .annotate(friends=Count("followers"))
        .order_by("-friends", "-stat__followers_count", "-id")
        .values_list("id", flat=True)[:SUGGESTIONS_LIMIT]
    )
    popular: Sequence[int] = []
    if len(friends) < SUGGESTIONS_LIMIT:
        popular = list(
            wanted.filter(stat__followers_count__gt=0)
            .order_by("-stat__followers_count", "-id")
            .values_list("id", flat=True)[:SUGGESTIONS_LIMIT]
        )
    sources = dict.fromkeys(popular, "most_followed") | dict.fromkeys(friends, "friends_of_friends")
    return [Suggestion(number, sources[number]) for number in dict.fromkeys([*friends, *popular])][:SUGGESTIONS_LIMIT]


def _discoverable() -> QuerySet[Account]:
    found = list_accounts().prefetch_related(None).select_related(None)
    return found.filter(discoverable=True, suspended_at=None, limited_at=None, moved_to=None, user__disabled_at=None)


def _suggestable(viewer_id: int) -> QuerySet[Account]:
    shown = _not_hidden(_discoverable(), viewer_id)
    return (
        shown.exclude(id=viewer_id)
        .exclude(Exists(Follow.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
        .exclude(Exists(FollowRequest.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
        .exclude(Exists(DismissedSuggestion.objects.filter(account_id=viewer_id, target_id=OuterRef("id"))))
    )


def _not_hidden(accounts: QuerySet[Account], viewer_id: int) -> QuerySet[Account]:
    shown = accounts.exclude(hidden_from(viewer_id, "id"))
    return shown.exclude(domain__in=list_blocked_domains(viewer_id).values("domain"))
