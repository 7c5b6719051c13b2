"""Paths of Mastodon's own pages about accounts; `social.pages.known_paths` has the paths that need no query."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.pages.settings import signed_in
from accounts.queries.accounts import find_account
from social.kernel.errors import require_found
from social.kernel.ids import parse_id

_TABS: Final = ("followers", "following")


@require_safe
def person(request: HttpRequest, id: str, tab: str = "") -> HttpResponse:
    """`/accounts/:id` and the pages below it: redirects to the account's page. Raises NotFound."""
    account = find_account(require_found(parse_id(id)))
    if account.domain is not None:
        return redirect("remote_profile", acct=account.acct)
    if tab in _TABS:
        return redirect("profile_tab", username=account.username, name=tab)
    return redirect("profile", username=account.username)


@require_safe
def relationships(request: HttpRequest) -> HttpResponse:
    """`/relationships`: redirects to the list of the accounts that the signed-in user follows, or of the user's followers."""
    name = "followers" if request.GET.get("relationship") == "followed_by" else "following"
    return redirect("profile_tab", username=signed_in(request).account.username, name=name)


@require_safe
def pinned(request: HttpRequest) -> HttpResponse:
    """`/pinned`: redirects to the signed-in user's profile, which begins with the pinned posts."""
    return redirect("profile", username=signed_in(request).account.username)
