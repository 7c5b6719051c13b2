"""The forms of the settings. Errors that services find are shown next to the fields."""

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
from accounts.pages.forms import ServiceForm, check_field, text_field
from accounts.policies import mails
from accounts.policies.visibility import DEFAULTS, QUOTE_POLICIES, default_visibility
from accounts.services.preferences import PreferencesChange
from accounts.services.profile_pictures import PICTURE_SIZE_LIMIT, PictureUpload
from accounts.services.profiles import DESCRIPTION_LIMIT, DISPLAY_NAME_LIMIT, FIELDS_LIMIT, NOTE_LIMIT, ProfileChange
from social.api.parsers import MEBIBYTE
from social.kernel import clock
from social.kernel.text.languages import known_language
from social.kernel.text.names import clean_input, is_hashtag

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
    autoplay_gifs = check_field(_("Play animations automatically"))
    live_posts = check_field(
        _("Show new posts at the top of a page as they arrive"), _("Otherwise you only see how many there are.")
    )
    noindex = check_field(_("Ask search engines not to index your profile"))
    staff_mails = check_field(mails.SWITCHES[mails.STAFF])
    sign_up_mails = check_field(mails.SWITCHES[mails.SIGN_UPS])
    digest_mails = check_field(mails.SWITCHES[mails.DIGEST], _("In the morning, if anything is waiting."))

    parts = {
        "pages": ("locale", "time_zone", "live_posts"),
        "posting": ("privacy", "quote_policy", "language", "sensitive", "show_application"),
        "reading": ("expand_media", "expand_spoilers", "autoplay_gifs"),
        "privacy": ("noindex",),
        "staff": ("staff_mails", "sign_up_mails", "digest_mails"),
    }

    def __init__(self, user: User, data: Any = None) -> None:
        stored = user.preferences
        values = {
            "locale": user.locale or "",
            "time_zone": user.time_zone or "",
            "privacy": default_visibility(user.default_privacy, locked=user.account.locked),
            "quote_policy": user.default_quote_policy,
            "language": user.default_language or "",
            "sensitive": user.default_sensitive,
            "show_application": stored.get("show_application", True),
            "expand_media": stored.get("expand_media", "default"),
            "expand_spoilers": bool(stored.get("expand_spoilers")),
            "autoplay_gifs": bool(stored.get("autoplay_gifs")),
            "live_posts": stored.get("live_posts", True),
            "noindex": bool(stored.get("noindex")),
            **{name: mails.is_on(stored, name) for name in mails.SWITCHES},
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
    """Form for choosing the notifications that a user gets by mail."""

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
        stored = user.preferences
        values: dict[str, Any] = {name: mails.is_on(stored, name) for name in mails.SWITCHES}
        values |= {
            mails.NOTIFICATIONS: mails.mode_of(stored),
            "mails_when_online": bool(stored.get("mails_when_online")),
        }
        super().__init__(data, initial=values)
        for name in map(mails.type_switch, mails.MAILED_TYPES):
            self.fields[name] = check_field(mails.SWITCHES[name])

    def types(self) -> list[forms.BoundField]:
        return [self[mails.type_switch(kind)] for kind in mails.MAILED_TYPES]

    def change(self) -> PreferencesChange:
        """Return the changed values. Saving also resumes mails to an address that mail servers had refused."""
        sent = {name: self.cleaned_data[name] for name in self.changed_data}
        online = sent.pop("mails_when_online", None)
        return PreferencesChange(mails=sent, mails_when_online=online, refused_address="")


def language_choices(current: str) -> list[tuple[str, str]]:
    """Return the choices of languages in which people can post (code and native name), including the `current` choice."""
    names = {}
    for code, info in LANG_INFO.items():
        known = known_language(code)
        if known is not None and "name_local" in info and known.lower() == code.lower():
            names[known] = str(info["name_local"])
    if current:
        names.setdefault(current, current)
    return sorted(names.items(), key=lambda pair: pair[1].casefold())


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


PROFILE_MAX_BODY: Final = 4 * PICTURE_SIZE_LIMIT + MEBIBYTE
"""Maximum number of bytes of a request: pictures somewhat above their limit are still received, so that the error is
shown next to their field; far larger requests are refused unread.
"""
_PICTURES: Final = ("avatar", "header")


def _picture(label: Any, help_text: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": "image/jpeg,image/png,image/gif,image/webp"})
    return forms.FileField(label=label, required=False, widget=widget, help_text=help_text, allow_empty_file=True)


class ProfileForm(ServiceForm):
    """The profile of an account. Only changed values are saved."""

    renamed = {
        **{f"{name}_{part}": name for name in _PICTURES for part in ("content_type", "file_size")},
        "fields": "field_name_1",
    }

    display_name = text_field(_("Display name"))
    note = text_field(_("Biography"), widget=forms.Textarea({"rows": 5, "dir": "auto"}))
    avatar = _picture(_("Picture"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is cut to a square of 400 pixels."))
    avatar_description = text_field(_("What the picture shows"), help_text=_("For people who cannot see it."))
    remove_avatar = check_field(_("Remove the picture"))
    header = _picture(_("Header"), _("JPEG, PNG, GIF or WebP, less than 8 MB. It is scaled to 1500 by 500 pixels."))
    header_description = text_field(_("What the header shows"), help_text=_("For people who cannot see it."))
    remove_header = check_field(_("Remove the header"))
    locked = check_field(_("Approve followers yourself"), _("Nobody can follow you until you accept their request."))
    discoverable = check_field(
        _("Be suggested to others"),
        _("Your profile may appear in the directory and in suggestions, here and on other servers."),
    )
    indexable = check_field(
        _("Let your public posts be found by search"), _("Anybody on any server can find them, not only you.")
    )
    hide_collections = check_field(_("Hide whom you follow and who follows you"))
    bot = check_field(_("This account is a bot"), _("The account mainly performs automated actions."))
    show_media = check_field(_("Show a section with pictures and videos"))
    show_media_replies = check_field(_("Include media from your replies"))
    show_featured = check_field(_("Show a section with your recommendations"))
    attribution_domains = text_field(
        _("Sites that may credit you as an author"),
        help_text=_("One domain per line, for example news.example. Links to articles there show your name."),
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
            self.fields[f"field_name_{number}"] = text_field(_("Label %(number)d") % {"number": number})
            self.fields[f"field_value_{number}"] = text_field(_("Content %(number)d") % {"number": number})
        self.fields["display_name"].help_text = gettext("At most %(limit)d characters.") % {"limit": DISPLAY_NAME_LIMIT}
        self.fields["note"].help_text = gettext("At most %(limit)d characters. A link counts as 23.") % {
            "limit": NOTE_LIMIT
        }
        for name in _PICTURES:
            self.fields[f"{name}_description"].widget.attrs["maxlength"] = DESCRIPTION_LIMIT
            if not getattr(account, name):
                del self.fields[f"remove_{name}"]

    def change(self) -> ProfileChange:
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
                # One byte beyond the limit is enough to refuse the file.
                values[name] = PictureUpload(file.read(PICTURE_SIZE_LIMIT + 1), file.content_type or "")
        return ProfileChange(**values)

    def pictures_to_remove(self) -> list[str]:
        """Return the names of the pictures to remove, except pictures that a new upload replaces."""
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
    name = forms.CharField(
        label=_("Hashtag"), widget=forms.TextInput({"dir": "auto", "autocapitalize": "none", "spellcheck": "false"})
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).removeprefix("#")
        if not is_hashtag(name):
            raise forms.ValidationError(
                _("A hashtag is one word of letters, digits and underscores; it cannot consist only of digits.")
            )
        return name
