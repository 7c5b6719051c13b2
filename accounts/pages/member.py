"""Pages for signed-in people: access checks, and the navigation. `member_page` wraps their views in the URLs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import capfirst

from accounts.identity.pages.account_state import show_account_state
from accounts.identity.pages.steps import to_sign_in
from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.models import User
from accounts.models.user import WAITING_COUNTS
from accounts.pages.person import Person, shown_person
from accounts.queries.users import count_waiting
from social.kernel.errors import KernelError
from social.pages.frame import is_local_path, stream_url, url_of
from social.pages.navigation import entries
from social.pages.typed import store_form, values_of, with_key
from social.pages.views import View, page

#: Every state except waiting for approval, because even people who cannot use their account can export their data.
LET_IN: Final = tuple(state for state in SignInState if state is not SignInState.UNAPPROVED)
ACTIVE: Final = (SignInState.ACTIVE,)
MOVING: Final = (SignInState.ACTIVE, SignInState.MOVED)
#: Higher counts are shown as "99+".
_COUNT_LIMIT: Final = 99


@dataclass(frozen=True)
class Member:
    """The signed-in reader of a page, and the navigation; `waiting` is the sum of the counts in the phone menu, as text."""

    person: Person
    links: list[dict[str, Any]]
    waiting: str
    admin_url: str
    apps_url: str
    client_url: str
    stream_url: str
    live_posts: bool

    @property
    def main_links(self) -> list[dict[str, Any]]:
        """Return the entries of the navigation that are shown at every width of the window."""
        return [link for link in self.links if link["main"]]

    @property
    def other_links(self) -> list[dict[str, Any]]:
        """Return the entries of the navigation that phones show only in the menu."""
        return [link for link in self.links if not link["main"]]


def member(request: HttpRequest) -> dict[str, Callable[[], Member | None]]:
    """Context processor for the signed-in reader of a page; it runs a query only if the page's frame is shown."""

    @cache
    def find() -> Member | None:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or not isinstance(request.user, User):
            return None
        match = request.resolver_match
        counts = {name: count_waiting(request.user, name) for name in WAITING_COUNTS}
        shown = {name: _count_as_text(count) for name, count in counts.items()}
        return Member(
            person=shown_person(request.user.account),
            links=entries((match.url_name if match else None) or "", shown),
            waiting=_count_as_text(sum(count for name, count in counts.items() if name != "notifications")),
            admin_url=url_of("admin:index") if request.user.is_staff else "",
            apps_url=url_of("apps"),
            client_url=url_of("web_client") if settings.WEB_CLIENT else "",
            stream_url=stream_url(),
            live_posts=request.user.preferences.get("live_posts", True),
        )

    return {"member": find}


def _count_as_text(count: int) -> str:
    return f"{_COUNT_LIMIT}+" if count > _COUNT_LIMIT else str(count or "")


def viewer_of(request: HttpRequest) -> User | None:
    """Return the signed-in user of a page that visitors may also read; None for a visitor, without a query."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or not isinstance(request.user, User):
        return None
    return request.user if find_sign_in_state(request.user) is SignInState.ACTIVE else None


def refusal(request: HttpRequest, states: Collection[SignInState]) -> HttpResponse | None:
    """Return the response for a person who may not see a page; None for a person who may.

    Visitors are redirected to the sign-in page, which leads back to the page or its submitted form. Users whose account is in
    none of the `states` get a page with the reason (403).
    """
    if isinstance(request.user, User):
        # An approved user is always in one of the states LET_IN; therefore no query is needed.
        if states is LET_IN and request.user.approved:
            return None
        state = find_sign_in_state(request.user)
        return None if state in states else show_account_state(request, request.user, state, back=_return_path(request))
    return to_sign_in(request, _return_path(request))


def _return_path(request: HttpRequest) -> str:
    return request.get_full_path() if request.method in ("GET", "HEAD") else back_path(request)


def member_page(view: View, *, states: Collection[SignInState] = ACTIVE, max_body: int = 0) -> View:
    """Wrap a page for signed-in people; `max_body` is the maximum size of its requests in bytes, if larger than usual."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return refusal(request, states) or view(request, *args, **kwargs)

    shown = page(wrapped)
    shown.max_body = max_body  # type: ignore[attr-defined]  # read from the URL pattern by the web server
    return shown


def back_path(request: HttpRequest) -> str:
    """Return the local path of the page with the submitted form (its field `next`), or the path of the front page."""
    path = request.POST.get("next") or values_of(request).get("next") or ""
    return path if is_local_path(path) else reverse("front")


def refuse(request: HttpRequest, reason: KernelError | str) -> None:
    """Show a message with the reason why a form was refused; `back` then shows the form with the submitted values."""
    messages.error(request, capfirst(reason.said if isinstance(reason, KernelError) else reason))
    request.refused = True  # type: ignore[attr-defined]  # read below


def back(request: HttpRequest, anchor: str = "") -> HttpResponse:
    """Redirect (303) to the page with the submitted form, at the element with the id `anchor`."""
    path = back_path(request).partition("#")[0]
    if getattr(request, "refused", False):
        path = with_key(path, store_form(request))
    return redirect(f"{path}#{anchor}" if anchor else path)
