"""The front page for visitors and for signed-in people, the page about apps, and the page that lists the settings."""

from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.identity.pages.account_state import show_account_state, text_of
from accounts.identity.pages.steps import registrations
from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.models import User
from accounts.pages.person import load_entities, person, shown_author, shown_biography
from accounts.pages.settings import counted, navigation, signed_in
from accounts.ports import welcome
from accounts.queries.accounts import find_account
from accounts.queries.discovery import load_suggestions
from accounts.queries.site_settings import load_site_texts
from accounts.services.following import FollowChange, follow_account
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, require_found
from social.kernel.ids import parse_id
from social.kernel.text.markup import plain
from social.pages.frame import allow_caching, sharing_of_site, show, url_of

SUGGESTIONS_SHOWN: Final = 5
#: Web clients by name, with the address that opens the client for a server.
_WEB_APPS: Final = {
    "Phanpy": "https://phanpy.social/#/login?instance={server}&submit=1",
    "Elk": "https://elk.zone/{server}/public/local",
}
_PHONE_APPS: Final = {
    "Android": ("Mastodon", "Tusky", "Moshidon", "Fedilab"),
    "iPhone, iPad": ("Mastodon", "Ice Cubes", "Ivory", "Mona"),
}


@require_safe
def front(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, User):
        return allow_caching(show(request, "pages/welcome.html", _for_visitors()))
    state = find_sign_in_state(request.user)
    if state is SignInState.UNAPPROVED:
        # Before their approval, people can use neither apps nor the settings.
        return show_account_state(request, request.user, state, back="/", status=200)
    context: dict[str, Any] = {
        **person(request.user.account),
        "standing": text_of(state),
        "can_resend": state is SignInState.UNCONFIRMED,
        "admin_url": url_of("admin:index") if request.user.is_staff else "",
    }
    return show(request, "pages/front.html", context)


@require_safe
def apps(request: HttpRequest) -> HttpResponse:
    """`/apps`: which apps work with this server, and how to sign in with them."""
    context = {
        "server": settings.WEB_DOMAIN,
        "web_apps": {name: url.format(server=quote(settings.WEB_DOMAIN, safe=":")) for name, url in _WEB_APPS.items()},
        "phone_apps": {system: ", ".join(names) for system, names in _PHONE_APPS.items()},
    }
    return show(request, "pages/apps.html", context)


def _for_visitors() -> dict[str, Any]:
    """Return the template values of the front page for visitors: texts that staff have written, the values of the port
    `welcome`, and who may sign up.
    """
    texts = load_site_texts(raw=True)
    title, description = texts.get("site_title"), plain(texts.get("site_short_description") or "")
    load = welcome.find()
    return {
        **(load() if load is not None else {}),
        **registrations(),
        "server_title": title or settings.LOCAL_DOMAIN,
        "server_description": description,
        "sharing": sharing_of_site("/", title=title or "", description=description),
    }


def suggestions(account_id: int) -> list[dict[str, Any]]:
    """Return suggested accounts in the form that `pages/suggestions.html` expects."""
    ids = [each.account_id for each in load_suggestions(account_id)[:SUGGESTIONS_SHOWN]]
    return [
        {"id": entity["id"], "person": shown_author(entity), "note": shown_biography(entity)}
        for entity in load_entities(ids)
    ]


@require_http_methods(["GET", "HEAD", "POST"])
def follow(request: HttpRequest) -> HttpResponse:
    """Follow a suggested account, or request to; GET redirects to the suggestions. Raises NotFound, RateLimited."""
    if request.method != "POST":
        return redirect("front")
    user = signed_in(request)
    counted(limits.INTERACTIONS, user)
    target = find_account(require_found(parse_id(request.POST.get("id", ""))))
    try:
        follow_account(account=user.account, target=target, change=FollowChange())
    except (Forbidden, Invalid) as refusal:
        messages.error(request, refusal.message)
    else:
        sentence = _("You have requested to follow %(name)s.") if target.locked else _("You follow %(name)s.")
        messages.success(request, sentence % {"name": f"@{target.acct}"})
    return redirect("front")


@require_safe
def settings_index(request: HttpRequest) -> HttpResponse:
    """`/settings`: all pages of the settings."""
    context = {"groups": navigation(signed_in(request))}
    return show(request, "pages/settings_index.html", context)
