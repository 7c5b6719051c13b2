"""The page that says which follows were ended by a block or a suspension, with tables of them to take along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from accounts.models.severance import SeveranceType
from accounts.pages.settings import counted, signed_in
from accounts.pages.tables import table
from accounts.queries.severances import find_severance, list_ended_followers, list_ended_follows, list_severances
from accounts.services.portable_lists import ADDRESS, FOLLOWS, follow_cells, full_address, in_order
from social.api import limits
from social.pages.frame import show

SHOWN = 20


@require_safe
def severances(request: HttpRequest) -> HttpResponse:
    """`/severed_relationships`, where clients lead from the notification."""
    page = Paginator(list_severances(signed_in(request).account_id), SHOWN).get_page(request.GET.get("page"))
    return show(request, "accounts/settings/severances.html", {"page": page, "own": SeveranceType.USER_DOMAIN_BLOCK})


@require_safe
def ended_follows(request: HttpRequest, severed_id: int) -> HttpResponseBase:
    """Whom one followed, as the export of follows has it: the file can be imported. Raises NotFound."""
    user = signed_in(request)
    rows = in_order(list_ended_follows(find_severance(user.account_id, severed_id)))
    counted(limits.EXPORTS, user)

    def lines() -> Iterator[Sequence[str]]:
        yield FOLLOWS.columns
        for row in rows:
            yield follow_cells(row)

    return table(FOLLOWS.file_name, lines())


@require_safe
def ended_followers(request: HttpRequest, severed_id: int) -> HttpResponseBase:
    """Who followed one. Raises NotFound."""
    user = signed_in(request)
    rows = in_order(list_ended_followers(find_severance(user.account_id, severed_id)))
    counted(limits.EXPORTS, user)

    def lines() -> Iterator[Sequence[str]]:
        yield (ADDRESS,)
        for row in rows:
            yield (full_address(row.account),)

    return table("followers.csv", lines())
