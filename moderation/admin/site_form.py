"""Form for the settings of this server, in sections, with a search."""

from collections.abc import Collection
from typing import Any, Final

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.pages.forms import ServiceForm
from accounts.queries.site_settings import fixed_site_settings
from moderation.policies import documents
from social.api.staff_forms import Lines, Styled, text_field
from social.api.staff_navigation import links_to
from social.kernel.media import images
from social.kernel.text.languages import LANGUAGE_NAMES
from timelines.policies.access import Openness

_AUDIENCE_NAMES = {"disabled": _("Nobody"), "users": _("People who are signed in"), "all": _("Everybody")}


def _text(label: Any) -> forms.CharField:
    return forms.CharField(label=label, required=False, widget=forms.TextInput({"dir": "auto"}))


def _switch(label: Any, help_text: Any = "") -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text)


def _audience(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value, _AUDIENCE_NAMES[value]) for value in documents.AUDIENCES])


_OPENNESS_NAMES = {
    Openness.PUBLIC: _("Everybody"),
    Openness.AUTHENTICATED: _("People who are signed in"),
    Openness.DISABLED: _("Only people who may see closed timelines"),
}


def _openness(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value.value, words) for value, words in _OPENNESS_NAMES.items()])


REGISTRATIONS: Final = {"open": _("Everybody"), "approval": _("People whom staff approve"), "closed": _("Nobody")}


_UNLIMITED = _("0: forever")


def _days(label: Any, words: Any = _UNLIMITED) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=words, min_value=0, max_value=documents.DAYS_LIMIT)


_LANDING_NAMES = {
    "trends": _("Popular posts, or the newest posts from this server if there are none"),
    "local_feed": _("The newest posts from this server"),
    "about": _("Only the description"),
}
#: The sections of the page, keyed by the name of their first field: key, title, and linked lists (such as rules).
_SECTIONS: Final[dict[str, tuple[str, Any, tuple[str, ...]]]] = {
    "site_title": ("identity", _("Name and look"), ()),
    "site_landing_page": (
        "about",
        _("What this server says about itself"),
        ("moderation.instancerule", "moderation.termsofservice"),
    ),
    "site_registrations": (
        "sign_up",
        _("Signing up"),
        ("accounts.invite", "accounts.emaildomainblock", "accounts.usernameblock"),
    ),
    "site_limited_federation": (
        "federation",
        _("Other servers"),
        ("federation.relay", "moderation.domainallow", "moderation.domainrule", "moderation.webhook"),
    ),
    "site_access_live_feeds_local": ("visibility", _("Who sees what"), ()),
    "site_remote_media_megabytes": ("retention", _("How long data is kept"), ()),
}


def _picture(label: Any, help_text: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": ",".join(images.ACCEPTED)})
    return forms.FileField(label=label, required=False, help_text=help_text, widget=widget)


def _number(name: str, label: Any, help_text: Any) -> forms.IntegerField:
    least, most = documents.NUMBERS[name]
    return forms.IntegerField(label=label, help_text=help_text, min_value=least, max_value=most)


class SiteForm(Styled, ServiceForm):
    """Form for the texts and switches of the instance documents, in the order of the page; the service validates them."""

    site_title = _text(_("Name of this server"))
    site_short_description = text_field(_("Short description"), rows=3)
    thumbnail = _picture(
        _("Picture"), _("Cut to 1200 by 630 pixels; shown on the front page and where links are shared")
    )
    remove_thumbnail = _switch(_("Remove the picture"))
    icon = _picture(_("Icon"), _("Square, 512 by 512 pixels or more; shown on top of each page and on home screens"))
    remove_icon = _switch(_("Remove the icon"))
    favicon = _picture(_("Icon of the browser tab"), _("Square; if there is none, the icon above is shown instead"))
    remove_favicon = _switch(_("Remove the icon of the browser tab"))
    site_colour = forms.CharField(
        label=_("Colour"),
        required=False,
        widget=forms.TextInput({"dir": "ltr", "placeholder": "#0b6e66", "spellcheck": "false"}),
        help_text=_(
            "The colour of links and buttons, for example #7a1fa2. It is made darker or lighter where it "
            "would be hard to read. Leave empty for the default colour"
        ),
    )
    site_custom_css = forms.CharField(
        label=_("Your own style sheet"),
        required=False,
        widget=forms.Textarea({"rows": 8, "dir": "ltr", "spellcheck": "false"}),
        help_text=_(
            "CSS for all pages except the administration. It cannot load anything from other servers, "
            "but it can hide or move anything on a page: use only what you understand"
        ),
    )
    site_landing_page = forms.ChoiceField(
        label=_("What visitors see on the front page"),
        choices=[(value, _LANDING_NAMES[value]) for value in documents.LANDING_PAGES],
    )
    site_extended_description = text_field(_("Long description"), rows=10, help_text=_("Markdown"))
    site_contact_username = _text(_("Username of the contact"))
    site_contact_email = _text(_("E-mail address of the contact"))
    site_languages = forms.MultipleChoiceField(
        label=_("Languages"),
        required=False,
        choices=list(LANGUAGE_NAMES.items()),
        widget=forms.CheckboxSelectMultiple,
    )
    add_languages = forms.CharField(
        label=_("Add languages"),
        required=False,
        help_text=_("Start typing the name of a language; separate several by commas"),
        widget=forms.TextInput({"dir": "auto", "list": "languages", "autocomplete": "off"}),
    )
    site_default_language = forms.ChoiceField(label=_("Default language"), required=False, choices=settings.LANGUAGES)
    site_status_page_url = _text(_("Address of the status page"))
    site_privacy_policy = text_field(
        _("Privacy policy"), rows=10, help_text=_("Markdown. If empty, the default policy of this software is shown")
    )
    site_registrations = forms.ChoiceField(
        label=_("Who may sign up"),
        required=False,
        choices=REGISTRATIONS.items(),
        help_text=_("People with an invitation can always sign up"),
    )
    site_confirm_email = _switch(
        _("Addresses must be confirmed"),
        _("People who sign up get an e-mail with a link, which proves that the address is theirs"),
    )
    site_minimum_age = _number("site_minimum_age", _("Minimum age in years to sign up"), _("0: no limit"))
    site_suggested_accounts = Lines(
        _("Accounts suggested to new members"),
        _("One address per line, for example @ada or @news@social.example: they come first among the suggestions"),
    )
    site_closed_message = text_field(_("Message shown while sign-up is closed"), rows=3, help_text=_("Markdown"))
    site_limited_federation = _switch(
        _("Federate with allowed servers only"),
        _("All other servers are treated as suspended, and documents are served to signed requests only"),
    )
    site_access_live_feeds_local = _openness(_("Public timeline: posts from this server"))
    site_access_live_feeds_remote = _openness(_("Public timeline: posts from other servers"))
    site_access_hashtag_feeds_local = _openness(_("Timelines of hashtags: posts from this server"))
    site_access_hashtag_feeds_remote = _openness(_("Timelines of hashtags: posts from other servers"))
    site_access_trending_link_feeds_local = _openness(_("Timelines of links: posts from this server"))
    site_access_trending_link_feeds_remote = _openness(_("Timelines of links: posts from other servers"))
    site_trends_without_review = _switch(
        _("Show trends before they are reviewed"),
        _("Popular posts, hashtags and links are shown unless you reject them"),
    )
    site_publish_activity = _switch(_("Publish activity statistics"))
    site_publish_peers = _switch(_("Publish the list of known servers"))
    site_show_domain_blocks = _audience(_("Who can see which servers are limited"))
    site_show_domain_blocks_rationale = _audience(_("Who can see the reasons"))
    site_remote_media_megabytes = _number(
        "site_remote_media_megabytes",
        _("Space in megabytes for copies of other servers' files"),
        _("The files that nobody has viewed for the longest time are removed first"),
    )
    site_keep_addresses_days = _days(_("Days for which people's IP addresses are kept"))
    site_keep_audit_log_days = _days(_("Days for which the audit log is kept"), _("0: forever; otherwise at least 30"))
    site_keep_closed_reports_days = _days(_("Days for which resolved reports are kept"))
    site_keep_held_posts_days = _days(_("Days after which held posts that nobody has reviewed are discarded"))
    site_keep_remote_posts_days = _days(
        _("Days for which posts from other servers are kept"),
        _(
            "0: forever; otherwise at least 7. Posts of accounts that somebody here follows or has in a "
            "list, and posts that somebody here has replied to, favourited, boosted, bookmarked or "
            "quoted, are always kept"
        ),
    )
    site_remote_posts_limit = _number(
        "site_remote_posts_limit",
        _("Number of posts from other servers that are kept"),
        _(
            "0: no limit. If there are more, the oldest are removed, with the same exceptions as above, but "
            "none from the last week"
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer_default("site_registrations", REGISTRATIONS[settings.REGISTRATIONS])
        self._offer_default("site_default_language", dict(settings.LANGUAGES)[settings.DEFAULT_LANGUAGE])
        for name in fixed_site_settings():
            self.fields[name].disabled = True
            words = gettext("This is set in the server's environment as %(name)s, and can only be changed there.")
            self.fields[name].help_text = words % {"name": name.removeprefix("site_").upper()}
        chosen = self["site_languages"].value() or ()
        languages: Any = self.fields["site_languages"]
        # Further languages are typed by name, because a list of all languages would be very long.
        languages.widget.choices = [choice for choice in languages.choices if choice[0] in chosen]

    def _offer_default(self, name: str, default: Any) -> None:
        field: Any = self.fields[name]
        field.choices = [("", gettext("The default: %(choice)s") % {"choice": default}), *field.choices]

    @property
    def languages(self) -> Collection[str]:
        return LANGUAGE_NAMES.values()

    def clean_add_languages(self) -> list[str]:
        """Return the codes of the languages in the field, which are typed as names or codes. Raises ValidationError."""
        codes = {name.casefold(): code for code, name in LANGUAGE_NAMES.items()}
        codes |= {code.casefold(): code for code in LANGUAGE_NAMES}
        named = [name.strip() for name in self.cleaned_data["add_languages"].split(",") if name.strip()]
        unknown = [name for name in named if name.casefold() not in codes]
        if unknown:
            raise forms.ValidationError(gettext("There is no language %(name)s.") % {"name": ", ".join(unknown)})
        return [codes[name.casefold()] for name in named]

    def shown_parts(self, wanted: str, request: HttpRequest) -> list[dict[str, Any]]:
        """Return the sections with their fields and linked lists (title, path), and which of these match a search (`found`)."""
        words = wanted.casefold().split()
        parts: list[dict[str, Any]] = []
        for field in self:
            if field.name in _SECTIONS:
                key, title, lists = _SECTIONS[field.name]
                parts.append({"key": key, "title": title, "fields": [], "lists": links_to(request, *lists)})
            parts[-1]["fields"].append(field)
        for part in parts:
            offered = [
                (
                    f"{field.label} {field.help_text} {field.name}",
                    field.label,
                    f"#{field.id_for_label or field.auto_id}",
                )
                for field in part["fields"]
            ]
            offered += [(title, title, path) for title, path in part["lists"]]
            part["found"] = [
                (title, path)
                for text, title, path in offered
                if words and all(word in text.casefold() for word in words)
            ]
        return parts

    @property
    def texts(self) -> documents.SiteTexts:
        sent = {name: value for name, value in self.cleaned_data.items() if name.startswith("site_")}
        languages = dict.fromkeys([*sent["site_languages"], *self.cleaned_data["add_languages"]])
        lists = {"site_languages": tuple(languages), "site_suggested_accounts": tuple(sent["site_suggested_accounts"])}
        return documents.SiteTexts(**sent | lists)
