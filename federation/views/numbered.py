"""Documents at addresses with the number of an account instead of its username (contract, federation sections 1 and 2)."""

from __future__ import annotations

from functools import wraps

from django.http import HttpRequest, HttpResponse

from accounts.models import Account
from federation.views.negotiation import View
from social.kernel.ids import parse_id


def numbered(view: View) -> View:
    """Return a view that answers `/ap/users/:number/...` as `view` answers `/users/:username/...`; a redirect to a page is 302
    instead of 301.
    """

    @wraps(view)
    def answer(request: HttpRequest, number: str, **rest: str) -> HttpResponse:
        found = Account.objects.filter(id=parse_id(number) or 0, domain=None).values_list("username", flat=True)
        response = view(request, username=found.first() or "", **rest)
        if response.status_code == 301:
            response.status_code = 302
        return response

    return answer
