"""The forms of the settings except for the profile. Errors that services find are shown beside the fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.pages.forms import ServiceForm, check_field, text_field
from accounts.policies import mails
from accounts.policies.visibility import DEFAULTS, QUOTE_POLICIES, default_visibility
from accounts.services.preferences import PreferencesChange
from accounts.services.profiles import ProfileChange
from social.kernel import clock
from social.kernel.text.languages import known_language

Choices = Iterable[tuple[str, str | Promise]]

VISIBILITIES: Final[dict[str, str | Promise]] = dict(
    zip(
        map(str, DEFAULTS),
        (
            _("Everybody"),
            _("Everybody, but not in public timelines and search"),
            _("Your followers"),
        ),
        strict=True,
    )
)
QUOTERS: Final[dict[str, str | Promise]] = dict(
    zip(QUOTE_POLICIES, (_("Everybody"), _("Your followers"), _("Only you")), strict=True)
)
_MEDIA: Final[Choices] = (
    ("default", _("Hide media that is marked as sensitive")),
    ("show_all", _("Always show media")),
    ("hide_all", _("Always hide media")),
)


class PreferencesForm(ServiceForm):
    """Preferences for reading and posting. Only changed values are saved."""

    locale = forms.ChoiceField(
        label=_("Language of these pages"), required=False, choices=(), help_text=_("Also used for e-mails.")
    )
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False, choices=())
    privacy = forms.ChoiceField(label=_("Who may read your posts"), choices=list(VISIBILITIES.items()))
    quote_policy = forms.ChoiceField(label=_("Who may quote your posts"), choices=list(QUOTERS.items()))
    language = forms.ChoiceField(label=_("Language of your posts"), required=False, choices=())
    sensitive = check_field(_("Mark media as sensitive"), _("People have to click to see them."))
    show_application = check_field(_("Show which app you used to post"))
    expand_media = forms.ChoiceField(label=_("Media"), choices=_MEDIA)
    expand_spoilers = check_field(_("Always open posts with a content warning"))
    autoplay_gifs = check_field(_("Play animations without being asked"))
    live_posts = check_field(
        _("Show new posts at the top of a page as they arrive"), _("Otherwise you only see how many there are.")
    )
    noindex = check_field(_("Ask search engines not to index your profile"))
    staff_mails = check_field(mails.SWITCHES[mails.STAFF])
    sign_up_mails = check_field(mails.SWITCHES[mails.SIGN_UPS])
    digest_mails = check_field(mails.SWITCHES[mails.DIGEST], _("In the morning, unless nothing waits."))

    parts = {
        "pages": ("locale", "time_zone", "live_posts"),
        "posting": ("privacy", "quote_policy", "language", "sensitive", "show_application"),
        "reading": ("expand_media", "expand_spoilers", "autoplay_gifs"),
        "privacy": ("noindex",),
        "staff": ("staff_mails", "sign_up_mails", "digest_mails"),
    }

    def __init__(self, user: User, data: Any = None) -> None:
        kept = user.preferences
        values = {
            "locale": user.locale or "",
            "time_zone": user.time_zone or "",
            "privacy": default_visibility(user.default_privacy, locked=user.account.locked),
            "quote_policy": user.default_quote_policy,
            "language": user.default_language or "",
            "sensitive": user.default_sensitive,
            "show_application": kept.get("show_application", True),
            "expand_media": kept.get("expand_media", "default"),
            "expand_spoilers": bool(kept.get("expand_spoilers")),
            "autoplay_gifs": bool(kept.get("autoplay_gifs")),
            "live_posts": kept.get("live_posts", True),
            "noindex": bool(kept.get("noindex")),
            **{name: mails.is_on(kept, name) for name in mails.SWITCHES},
        }
        super().__init__(data, initial=values)
        if not user.is_staff:
            for name in self.parts["staff"]:
                del self.fields[name]
        names = [(code, str(LANG_INFO[code]["name_local"])) for code, _name in settings.LANGUAGES]
        self._choices("locale", [("", _("As set in the browser")), *names])
        zones = sorted(clock.time_zones())
        self._choices("time_zone", [("", _("UTC")), *((zone, zone.replace("_", " ")) for zone in zones)])
        self._choices("language", [("", _("The language of these pages")), *language_choices(values["language"])])

    def _choices(self, name: str, choices: Choices) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)

    def profile_change(self) -> ProfileChange:
        """Return the changed defaults for posting."""
        names = ("privacy", "quote_policy", "language", "sensitive")
        return ProfileChange(**{name: self.cleaned_data[name] for name in names if name in self.changed_data})

    def change(self) -> PreferencesChange:
        names = (
            *("locale", "time_zone", "expand_media", "expand_spoilers", "autoplay_gifs"),
            *("live_posts", "noindex", "show_application"),
        )
        sent = {name: self.cleaned_data[name] for name in self.changed_data}
        return PreferencesChange(
            **{name: sent[name] for name in names if name in sent},
            mails={name: sent[name] for name in mails.SWITCHES if name in sent},
        )


class NotificationMailsForm(ServiceForm):
    """Form for the choice of the notifications that a user gets by mail."""

    notification_mails = forms.ChoiceField(
        label=_("How often you get e-mails"),
        choices=[
            (mails.SINGLE, _("An e-mail for each, after two minutes if you have not read it here")),
            (mails.DAILY, _("One e-mail a day")),
            (mails.NO_MAILS, _("No e-mails")),
        ],
        widget=forms.RadioSelect,
    )
    mails_when_online = check_field(
        _("Also while you are active"), _("Otherwise you get no e-mails about what happens while an app is open.")
    )
    summary_mails = check_field(mails.SWITCHES[mails.SUMMARIES], _("Once a week, for two months."))

    def __init__(self, user: User, data: Any = None) -> None:
        kept = user.preferences
        values: dict[str, Any] = {name: mails.is_on(kept, name) for name in mails.SWITCHES}
        values |= {mails.NOTIFICATIONS: mails.mode_of(kept), "mails_when_online": bool(kept.get("mails_when_online"))}
        super().__init__(data, initial=values)
        for name in map(mails.type_switch, mails.MAILED_TYPES):
            self.fields[name] = check_field(mails.SWITCHES[name])

    def types(self) -> list[forms.BoundField]:
        """Return the fields of the types of notifications."""
        return [self[mails.type_switch(kind)] for kind in mails.MAILED_TYPES]

    def change(self) -> PreferencesChange:
        """Return the changed values. Saving also resumes mails to an address that mail servers had refused."""
        sent = {name: self.cleaned_data[name] for name in self.changed_data}
        online = sent.pop("mails_when_online", None)
        return PreferencesChange(mails=sent, mails_when_online=online, refused_address="")


def language_choices(current: str) -> list[tuple[str, str]]:
    """Return the codes of the languages in which people can post, with their own names, and the current choice."""
    found = {}
    for code, info in LANG_INFO.items():
        known = known_language(code)
        if known is not None and "name_local" in info and known.lower() == code.lower():
            found[known] = str(info["name_local"])
    if current:
        found.setdefault(current, current)
    return sorted(found.items(), key=lambda pair: pair[1].casefold())


_USES: Final[Choices] = [
    ("", _("Any number of people")),
    *((str(number), str(number)) for number in (1, 5, 10, 25, 50, 100)),
]
_ENDS: Final[Choices] = [
    ("1800", _("30 minutes")),
    ("3600", _("1 hour")),
    ("21600", _("6 hours")),
    ("86400", _("1 day")),
    ("604800", _("1 week")),
    ("", _("Forever")),
]


class InvitationForm(ServiceForm):
    max_uses = forms.ChoiceField(label=_("Number of people who can use it"), required=False, choices=_USES)
    expires_in = forms.ChoiceField(label=_("How long it can be used"), required=False, choices=_ENDS, initial="86400")
    autofollow = check_field(_("Everybody who joins with it follows you"))
    comment = text_field(_("Comment"), help_text=_("A note about what it is for. Only you and the staff see it."))
