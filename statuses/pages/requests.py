"""The page on which a signed-in person accepts or rejects requests to reply to, boost and favourite posts."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.pages.member import back, refuse
from accounts.pages.person import shown_author
from accounts.pages.settings import counted, signed_in
from accounts.queries.users import forget_waiting
from accounts.serializers.account import present_accounts
from social.api import limits
from social.kernel.errors import Forbidden, NotFound, require_found
from social.kernel.ids import parse_id
from social.pages.frame import show
from social.pages.paging import read_page
from statuses.models import Interaction
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.requests import list_requests
from statuses.services.requests import decide_request

_TITLES: Final[dict[str, str | Promise]] = {
    Interaction.REPLY: gettext_lazy("wants to publish this reply"),
    Interaction.REBLOG: gettext_lazy("wants to boost this post"),
    Interaction.FAVOURITE: gettext_lazy("wants to favourite this post"),
}
_ACTS: Final = {"accept": True, "reject": False}


@require_http_methods(["GET", "HEAD", "POST"])
def interaction_requests(request: HttpRequest) -> HttpResponse:
    """`/interaction_requests`: requests to the reader. POST accepts or rejects (`act`) the request `id`. Raises NotFound."""
    user = signed_in(request)
    if request.method == "POST":
        accepted = _ACTS.get(request.POST.get("act", ""))
        if accepted is None:
            raise NotFound
        counted(limits.INTERACTIONS, user)
        number = require_found(parse_id(request.POST.get("id", "")))
        try:
            decide_request(account_id=user.account_id, request_id=number, accepted=accepted)
        except Forbidden as refusal:
            refuse(request, refusal)
        except NotFound:
            messages.info(request, _("This has already been done."))
        forget_waiting(user, "interaction_requests")
        return back(request)
    rows, paging = read_page(request, list_requests(user.account_id))
    people = present_accounts([row.account_id for row in rows], user.account_id)
    numbers = {row.answer_id or row.status_id for row in rows}
    posts = {post["number"]: post for post in load_shown(sorted(numbers), reader_of(user, ""))}
    shown: list[dict[str, Any]] = [
        {
            "id": row.id,
            "title": _TITLES[row.kind],
            "person": shown_author(people[row.account_id], member=True),
            "post": posts.get(row.answer_id or row.status_id),
        }
        for row in rows
        if row.account_id in people
    ]
    return show(request, "statuses/requests.html", {**paging, "requests": shown})
