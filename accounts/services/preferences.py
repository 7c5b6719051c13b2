"""Changes a user's preferences: language and time zone of pages, and the settings that clients read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.mails import MODES, NOTIFICATIONS, off_value
from accounts.services.changing import change_account
from social.kernel import clock
from social.kernel.errors import FieldError, require_valid

EXPAND_MEDIA: Final = ("default", "show_all", "hide_all")
"""Choices for which media clients show without a click (contract, entities "Preferences")."""
# Preferences that affect what others see of the account or its posts; cached bodies therefore depend on them.
_SHOWN: Final = frozenset({"noindex", "show_application"})


@dataclass(frozen=True)
class PreferencesChange:
    """Changes of preferences; None leaves a value as it is, an empty string resets it.

    `noindex`: search engines are asked not to index the profile. `show_application`: posts show which application wrote
    them. `mails` are values of `accounts.policies.mails`. `refused_address`: an e-mail address that the mail server has
    refused for good. `interaction_policies`: policies for new posts by visibility (`statuses.policies.interactions`).
    `digest_on`: the day of the last mail about pending decisions of staff.
    """

    locale: str | None = None
    time_zone: str | None = None
    expand_media: str | None = None
    expand_spoilers: bool | None = None
    autoplay_gifs: bool | None = None
    live_posts: bool | None = None
    noindex: bool | None = None
    show_application: bool | None = None
    mails: Mapping[str, Any] = field(default_factory=dict)
    mails_when_online: bool | None = None
    refused_address: str | None = None
    interaction_policies: Mapping[str, int] | None = None
    digest_on: str | None = None


def change_preferences(*, user: User, change: PreferencesChange) -> None:
    """Apply a change completely or not at all. Raises Invalid with `details`."""
    allowed = {
        "locale": {code for code, _name in settings.LANGUAGES} | {""},
        "time_zone": clock.time_zones() | {""},
        "expand_media": set(EXPAND_MEDIA),
    }
    message = _("is not included in the list")
    errors = [
        FieldError(name, "ERR_INCLUSION", message)
        for name, values in allowed.items()
        if getattr(change, name) is not None and getattr(change, name) not in values
    ]
    if change.mails.get(NOTIFICATIONS, MODES[0]) not in MODES:
        errors.append(FieldError(NOTIFICATIONS, "ERR_INCLUSION", message))
    require_valid(errors, details=True)
    preferences: dict[str, Any] = {
        name: getattr(change, name)
        for name in (
            *("expand_media", "expand_spoilers", "autoplay_gifs", "live_posts", "noindex", "show_application"),
            *("mails_when_online", "refused_address", "interaction_policies", "digest_on"),
        )
        if getattr(change, name) is not None
    } | dict(change.mails)
    with transaction.atomic():
        # The user's row is locked, so that a concurrent change of other preferences is not lost.
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        columns: dict[str, Any] = {"preferences": locked.preferences | preferences}
        for name in ("locale", "time_zone"):
            value = getattr(change, name)
            if value is not None:
                columns[name] = value or None
        User.objects.filter(pk=user.pk).update(**columns)
        if any(locked.preferences.get(name) != value for name, value in preferences.items() if name in _SHOWN):
            change_account(user.account_id)


def end_mails(*, user_id: int, switch: str) -> None:
    """Switch off a kind of mail (`accounts.policies.mails`), for its unsubscribe link; a deleted user is not an error."""
    for user in User.objects.filter(pk=user_id):
        change_preferences(user=user, change=PreferencesChange(mails={switch: off_value(switch)}))
