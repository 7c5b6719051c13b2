"""The forms of the settings. The rules are those of the services: what these find wrong is shown beside the fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.core.files.uploadedfile import UploadedFile
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, ActorType, User
from accounts.pages.forms import ServiceForm
from accounts.policies.mails import (
    DAILY,
    MAILED_TYPES,
    NO_MAILS,
    NOTIFICATIONS,
    SIGN_UPS,
    SINGLE,
    STAFF,
    SUMMARIES,
    SWITCHES,
    is_on,
    mode_of,
    type_switch,
)
from accounts.policies.transfers import FILE_LIMIT, LINES_LIMIT
from accounts.policies.visibility import DEFAULTS, QUOTE_POLICIES, default_visibility
from accounts.services.portable_lists import all_lists
from accounts.services.preferences import PreferencesChange
from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload
from accounts.services.profiles import (
    DESCRIPTION_LIMIT,
    DISPLAY_NAME_LIMIT,
    FIELDS_LIMIT,
    NOTE_LIMIT,
    ProfileChange,
)
from social.kernel import clock
from social.kernel.text.languages import known_language
from social.kernel.text.names import is_hashtag
from social.kernel.text.scan import clean_input

MEBIBYTE: Final = 1024 * 1024
PROFILE_MAX_BODY: Final = 4 * PICTURE_SIZE_LIMIT + MEBIBYTE
"""Larger pictures than are taken arrive, so that it can be said beside their field; far larger ones are refused unread."""
IMPORT_MAX_BODY: Final = 4 * FILE_LIMIT
_PICTURES: Final = ("avatar", "header")
Choices = Iterable[tuple[str, str | Promise]]


def _text(label: Any, limit: int | None = None, **options: Any) -> forms.CharField:
    help_text = options.pop("help_text", "")
    widget = options.pop("widget", None) or forms.TextInput({"dir": "auto"})
    # Counted by the service as people count: a character may be several code points.
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text, **options)


def _check(label: Any, help_text: Any = "") -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text)


def _picture(label: Any, help_text: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": "image/jpeg,image/png,image/gif,image/webp"})
    return forms.FileField(label=label, required=False, widget=widget, help_text=help_text, allow_empty_file=True)


class ProfileForm(ServiceForm):
    """The profile of an account. Only what differs from the account is changed."""

    renamed = {
        **{f"{name}_{part}": name for name in _PICTURES for part in ("content_type", "file_size")},
        "fields": "field_name_1",
    }

    display_name = _text(_("Display name"))
    note = _text(_("Biography"), widget=forms.Textarea({"rows": 5, "dir": "auto"}))
    avatar = _picture(_("Picture"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is cut to a square of 400 pixels."))
    avatar_description = _text(_("What the picture shows"), help_text=_("For people who cannot see it."))
    remove_avatar = _check(_("Remove the picture"))
    header = _picture(_("Header"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is fitted into 1500 by 500 pixels."))
    header_description = _text(_("What the header shows"), help_text=_("For people who cannot see it."))
    remove_header = _check(_("Remove the header"))
    locked = _check(_("Approve followers yourself"), _("Nobody follows you before you have said yes."))
    discoverable = _check(
        _("Be suggested to others"),
        _("Your profile may stand in the directory and in suggestions, here and elsewhere."),
    )
    indexable = _check(_("Let your public posts be found by search"), _("By anybody on this network, not only by you."))
    hide_collections = _check(_("Hide whom you follow and who follows you"))
    bot = _check(_("This account is a bot"), _("It mostly does things by itself."))
    show_media = _check(_("Show a section with pictures and videos"))
    show_media_replies = _check(_("Show those of your replies there, too"))
    show_featured = _check(_("Show a section with what you recommend"))
    attribution_domains = _text(
        _("Sites that may name you as an author"),
        help_text=_("One domain in each line, for example news.example. Links to articles there show your name."),
        widget=forms.Textarea({"rows": 3, "dir": "ltr", "spellcheck": "false", "autocapitalize": "none"}),
    )

    parts = {
        "identity": ("display_name", "note"),
        "pictures": (
            *("avatar", "avatar_description", "remove_avatar"),
            *("header", "header_description", "remove_header"),
        ),
        "pairs": tuple(f"field_{part}_{number + 1}" for number in range(FIELDS_LIMIT) for part in ("name", "value")),
        "reach": ("locked", "discoverable", "indexable", "hide_collections", "bot"),
        "sections": ("show_media", "show_media_replies", "show_featured"),
        "authorship": ("attribution_domains",),
    }

    def __init__(self, account: Account, data: Any = None, files: Any = None) -> None:
        self.account = account
        super().__init__(data, files, initial=_profile_values(account))
        for number in range(1, FIELDS_LIMIT + 1):
            self.fields[f"field_name_{number}"] = _text(_("Label %(number)d") % {"number": number})
            self.fields[f"field_value_{number}"] = _text(_("Content %(number)d") % {"number": number})
        self.fields["display_name"].help_text = gettext("At most %(limit)d characters.") % {"limit": DISPLAY_NAME_LIMIT}
        self.fields["note"].help_text = gettext("At most %(limit)d characters. A link counts as 23.") % {
            "limit": NOTE_LIMIT
        }
        for name in _PICTURES:
            self.fields[f"{name}_description"].widget.attrs["maxlength"] = DESCRIPTION_LIMIT
            if not getattr(account, name):
                del self.fields[f"remove_{name}"]

    def section(self, name: str) -> list[forms.BoundField]:
        """The fields of a part of the page."""
        return [self[field] for field in self.parts[name] if field in self.fields]

    def change(self) -> ProfileChange:
        """The differences from the account."""
        sent = self.cleaned_data
        changed = set(self.changed_data)
        values: dict[str, Any] = {
            name: sent[name]
            for name in (
                *("locked", "discoverable", "indexable", "hide_collections", "bot"),
                *("show_media", "show_media_replies", "show_featured"),
            )
            if name in changed
        }
        for name in ("display_name", "note", "avatar_description", "header_description"):
            if name in changed:
                values[name] = clean_input(sent[name])
        if "attribution_domains" in changed:
            lines = (line.strip() for line in clean_input(sent["attribution_domains"]).splitlines())
            values["attribution_domains"] = [line for line in lines if line]
        if any(name.startswith("field_") for name in changed):
            values["fields"] = [
                (clean_input(sent[f"field_name_{number}"]), clean_input(sent[f"field_value_{number}"]))
                for number in range(1, FIELDS_LIMIT + 1)
            ]
        for name in _PICTURES:
            file = sent.get(name)
            if isinstance(file, UploadedFile):
                # One byte beyond the limit tells as much as all of them.
                values[name] = PictureUpload(file.read(PICTURE_SIZE_LIMIT + 1), file.content_type or "")
        return ProfileChange(**values)

    def pictures_to_remove(self) -> list[str]:
        """The pictures that are to go: those that no new one takes the place of."""
        sent = self.cleaned_data
        return [name for name in _PICTURES if sent.get(f"remove_{name}") and not sent.get(name)]


def _profile_values(account: Account) -> dict[str, Any]:
    names = (
        *("display_name", "note", "avatar_description", "header_description", "locked", "discoverable", "indexable"),
        *("hide_collections", "show_media", "show_media_replies", "show_featured"),
    )
    values: dict[str, Any] = {name: getattr(account, name) for name in names}
    values["bot"] = account.actor_type in (ActorType.SERVICE, ActorType.APPLICATION)
    values["attribution_domains"] = "\n".join(account.attribution_domains)
    for number, item in enumerate(account.fields[:FIELDS_LIMIT], 1):
        values |= {f"field_name_{number}": item["name"], f"field_value_{number}": item["value"]}
    return values


class FeaturedTagForm(ServiceForm):
    """A hashtag to be shown on one's profile."""

    name = forms.CharField(
        label=_("Hashtag"), widget=forms.TextInput({"dir": "auto", "autocapitalize": "none", "spellcheck": "false"})
    )

    def clean_name(self) -> str:
        """The hashtag without its sign."""
        name = str(self.cleaned_data["name"]).removeprefix("#")
        if not is_hashtag(name):
            raise forms.ValidationError(
                _("A hashtag is one word of letters, digits and underscores, not of digits alone.")
            )
        return name


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
_QUOTERS: Final[dict[str, str | Promise]] = dict(
    zip(QUOTE_POLICIES, (_("Everybody"), _("Your followers"), _("Nobody but you")), strict=True)
)
_MEDIA: Final[Choices] = (
    ("default", _("Hide media that is marked as sensitive")),
    ("show_all", _("Always show media")),
    ("hide_all", _("Always hide media")),
)


class PreferencesForm(ServiceForm):
    """Preferences of reading and posting. Only what differs is changed."""

    renamed = {"privacy": "privacy", "language": "language"}

    locale = forms.ChoiceField(
        label=_("Language of these pages"), required=False, choices=(), help_text=_("Mails are written in it, too.")
    )
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False, choices=())
    privacy = forms.ChoiceField(label=_("Who may read your posts"), choices=list(VISIBILITIES.items()))
    quote_policy = forms.ChoiceField(label=_("Who may quote your posts"), choices=list(_QUOTERS.items()))
    language = forms.ChoiceField(label=_("Language of your posts"), required=False, choices=())
    sensitive = _check(_("Mark media as sensitive"), _("They are shown when somebody asks to see them."))
    show_application = _check(_("Show which application you have posted with"))
    expand_media = forms.ChoiceField(label=_("Media"), choices=_MEDIA)
    expand_spoilers = _check(_("Always open posts with a content warning"))
    autoplay_gifs = _check(_("Play animations without being asked"))
    noindex = _check(_("Ask search engines to leave your profile alone"))
    staff_mails = _check(SWITCHES[STAFF])
    sign_up_mails = _check(SWITCHES[SIGN_UPS])

    parts = {
        "pages": ("locale", "time_zone"),
        "posting": ("privacy", "quote_policy", "language", "sensitive", "show_application"),
        "reading": ("expand_media", "expand_spoilers", "autoplay_gifs"),
        "privacy": ("noindex",),
        "staff": ("staff_mails", "sign_up_mails"),
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
            "noindex": bool(kept.get("noindex")),
            **{name: is_on(kept, name) for name in SWITCHES},
        }
        super().__init__(data, initial=values)
        if not user.is_staff:
            del self.fields["staff_mails"], self.fields["sign_up_mails"]
        names = [(code, str(LANG_INFO[code]["name_local"])) for code, _name in settings.LANGUAGES]
        self._choices("locale", [("", _("As the browser asks")), *names])
        zones = sorted(clock.time_zones())
        self._choices("time_zone", [("", _("UTC")), *((zone, zone.replace("_", " ")) for zone in zones)])
        self._choices("language", [("", _("The language of these pages")), *_languages(values["language"])])

    def _choices(self, name: str, choices: Choices) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)

    def section(self, name: str) -> list[forms.BoundField]:
        """The fields of a part of the page."""
        return [self[field] for field in self.parts[name] if field in self.fields]

    def profile_change(self) -> ProfileChange:
        """The differences in how one posts."""
        names = ("privacy", "quote_policy", "language", "sensitive")
        return ProfileChange(**{name: self.cleaned_data[name] for name in names if name in self.changed_data})

    def change(self) -> PreferencesChange:
        """The differences in the rest."""
        names = (
            *("locale", "time_zone", "expand_media", "expand_spoilers", "autoplay_gifs"),
            *("noindex", "show_application"),
        )
        sent = {name: self.cleaned_data[name] for name in self.changed_data}
        return PreferencesChange(
            **{name: sent[name] for name in names if name in sent},
            mails={name: sent[name] for name in SWITCHES if name in sent},
        )


class NotificationMailsForm(ServiceForm):
    """Choice of what is mailed to somebody of what happens to them."""

    notification_mails = forms.ChoiceField(
        label=_("How you get mails"),
        choices=[
            (SINGLE, _("A mail for each, two minutes later if you have not read it here")),
            (DAILY, _("All of a day in one mail")),
            (NO_MAILS, _("No mails")),
        ],
        widget=forms.RadioSelect,
    )
    mails_when_online = _check(
        _("Also while you are here"), _("Otherwise what happens while an app is open is not mailed.")
    )
    summary_mails = _check(SWITCHES[SUMMARIES], _("Once a week, for two months."))

    def __init__(self, user: User, data: Any = None) -> None:
        kept = user.preferences
        values: dict[str, Any] = {name: is_on(kept, name) for name in SWITCHES}
        values |= {NOTIFICATIONS: mode_of(kept), "mails_when_online": bool(kept.get("mails_when_online"))}
        super().__init__(data, initial=values)
        for name in map(type_switch, MAILED_TYPES):
            self.fields[name] = _check(SWITCHES[name])

    def types(self) -> list[forms.BoundField]:
        """The fields of the types of notifications."""
        return [self[type_switch(kind)] for kind in MAILED_TYPES]

    def change(self) -> PreferencesChange:
        """The differences. Saving also has mails sent again to an address that had been refused."""
        sent = {name: self.cleaned_data[name] for name in self.changed_data}
        online = sent.pop("mails_when_online", None)
        return PreferencesChange(mails=sent, mails_when_online=online, refused_address="")


def _languages(current: str) -> list[tuple[str, str]]:
    """The languages people post in that have a name, by their own names; and the one that is chosen."""
    found = {}
    for code, info in LANG_INFO.items():
        known = known_language(code)
        if known is not None and "name_local" in info and known.lower() == code.lower():
            found[known] = str(info["name_local"])
    if current:
        found.setdefault(current, current)
    return sorted(found.items(), key=lambda pair: pair[1].casefold())


class ImportForm(ServiceForm):
    """A file with a list."""

    MERGE, REPLACE = "merge", "overwrite"

    kind = forms.ChoiceField(label=_("What is in the file"), choices=())
    mode = forms.ChoiceField(
        label=_("What is to be done with it"),
        choices=[(MERGE, _("Add it to what I have here")), (REPLACE, _("Replace what I have here"))],
    )
    file = forms.FileField(label=_("File"), widget=forms.FileInput({"accept": ".csv,text/csv"}), allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [(portable.name, portable.title) for portable in all_lists()]
        self.fields["file"].help_text = gettext(
            "A table (CSV) of at most %(lines)s lines, exported by a server like this."
        ) % {"lines": f"{LINES_LIMIT:,}"}


class AliasForm(ServiceForm):
    """Form for another account of the same person."""

    renamed = {"alias": "acct"}

    acct = forms.CharField(
        label=_("Address of the old account"),
        max_length=2400,
        help_text=_("For example name@server.example"),
        widget=forms.TextInput({"dir": "ltr", "autocapitalize": "none", "autocorrect": "off", "spellcheck": "false"}),
    )


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
    ("", _("For ever")),
]


class InvitationForm(ServiceForm):
    """A new invitation."""

    max_uses = forms.ChoiceField(label=_("Who can use it"), required=False, choices=_USES)
    expires_in = forms.ChoiceField(label=_("How long it can be used"), required=False, choices=_ENDS, initial="86400")
    autofollow = _check(_("Whoever comes by it follows you"))
    comment = _text(_("Comment"), help_text=_("So that you know later what it was for. Only you and the staff see it."))
