"""The settings pages: who may see each of them, and the navigation between them.

A new page is listed in GROUPS (by `add_entry` if it is in another app) and wrapped by `settings_page` in the URLs, and
its template extends `pages/settings.html`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.models import User
from accounts.models.user import Permission
from accounts.pages.member import LET_IN, member_page
from social.api import admission, limits
from social.pages.views import View


def _allow_everybody(user: User) -> bool:
    return True


@dataclass(frozen=True)
class Entry:
    """Settings page: its URL name and title, the URL names of its subpages (`steps`), and who may use it."""

    url_name: str
    title: str | Promise
    steps: tuple[str, ...] = ()
    shown_to: Callable[[User], bool] = _allow_everybody


@dataclass(frozen=True)
class Group:
    title: str | Promise
    entries: tuple[Entry, ...]


def _may_invite(user: User) -> bool:
    return user.role.can(Permission.INVITE_USERS)


def _has_issuers(user: User) -> bool:
    return bool(settings.ISSUERS)


def _uses_passwords(user: User) -> bool:
    return not settings.ISSUERS_ONLY


GROUPS: Final[list[Group]] = [
    Group(
        _("You"),
        (
            Entry("settings_profile", _("Profile"), ("settings_feature_tag",)),
            Entry("settings_preferences", _("Preferences")),
            Entry("settings_notification_mails", _("E-mail notifications")),
            Entry("strikes", _("Moderation")),
            Entry("invitations", _("Invitations"), shown_to=_may_invite),
        ),
    ),
    Group(
        _("Security"),
        (
            Entry("account_change_password", _("Password"), ("account_set_password",), shown_to=_uses_passwords),
            Entry("change_email", _("E-mail address"), ("confirm_new_email",)),
            Entry(
                "mfa_index",
                _("Second factor and passkeys"),
                (
                    "mfa_activate_totp",
                    "mfa_deactivate_totp",
                    "recovery_codes",
                    "mfa_add_webauthn",
                    "mfa_edit_webauthn",
                    "mfa_remove_webauthn",
                ),
            ),
            Entry("identities", _("Sign-in with an organisation"), shown_to=_has_issuers),
            Entry("usersessions_list", _("Signed-in browsers")),
            Entry("oauth_authorized_applications", _("Authorized applications")),
        ),
    ),
    Group(
        _("Your data"),
        (
            Entry("settings_imports", _("Import"), ("settings_import",)),
            Entry("settings_past_imports", _("Import old posts"), ("settings_past_import",)),
            Entry("settings_export", _("Export")),
            Entry("severances", _("Ended follows")),
            Entry("settings_aliases", _("Move from another account")),
            Entry("settings_migration", _("Move to another account")),
            Entry("settings_delete", _("Delete the account")),
        ),
    ),
]


def add_entry(before: str, entry: Entry) -> None:
    """Add a page of another app before the entry with the URL name `before`, when the process starts."""
    for place, group in enumerate(GROUPS):
        names = [known.url_name for known in group.entries]
        if before in names and entry not in group.entries:
            at = names.index(before)
            GROUPS[place] = replace(group, entries=(*group.entries[:at], entry, *group.entries[at:]))


def navigation(user: User, current: str = "") -> list[dict[str, Any]]:
    """Return the groups as `pages/settings_links.html` shows them; `current` is the URL name of the current page."""
    groups = [
        {
            "title": group.title,
            "entries": [
                {
                    "title": entry.title,
                    "url": reverse(entry.url_name),
                    "current": current == entry.url_name,
                    "within": current in entry.steps,
                }
                for entry in group.entries
                if entry.shown_to(user)
            ],
        }
        for group in GROUPS
    ]
    return [group for group in groups if group["entries"]]


def signed_in(request: HttpRequest) -> User:
    """Return the signed-in user of a request to a page wrapped by `settings_page`."""
    assert isinstance(request.user, User)
    return request.user


def counted(rule: limits.Rule, user: User) -> None:
    """Count an action of a user on a page. Raises RateLimited when there are too many."""
    limits.refuse_exceeded([admission.count(rule, subject=str(user.pk))])


def settings_page(
    view: View, *, asks_again: bool = False, states: Collection[SignInState] = LET_IN, max_body: int = 0
) -> View:
    """Wrap a settings page (a `member_page`), and show the navigation; `asks_again`: the page requires reauthentication."""
    if asks_again:
        view = reauthentication_required(app="accounts")(view)

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if isinstance(response, TemplateResponse):
            user, match = signed_in(request), request.resolver_match
            waits = not user.approved and find_sign_in_state(user) is SignInState.UNAPPROVED
            groups = [] if waits else navigation(user, (match.url_name if match else None) or "")
            response.context_data = {**(response.context_data or {}), "settings_groups": groups}
        return response

    return member_page(wrapped, states=states, max_body=max_body)
