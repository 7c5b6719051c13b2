"""Settings of this server, for staff: a form in sections, with a search that finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import SiteSetting
from accounts.models.user import Permission
from accounts.pages.forms import ServiceForm
from accounts.queries.site_settings import fixed_site_settings, load_site_texts
from moderation.policies.documents import (
    ACCESS_NAMES,
    AUDIENCES,
    AUDIT_LOG_DAYS,
    DAYS_LIMIT,
    LANDING_PAGES,
    NUMBERS,
    RETENTION_NAMES,
    SiteTexts,
)
from moderation.services.documents import (
    THUMBNAIL_LIMIT,
    change_icon,
    change_site,
    change_thumbnail,
    hide_first_steps,
)
from social.api.staff import takes
from social.api.staff_forms import Styled
from social.kernel.errors import Invalid, KernelError
from social.kernel.media import images
from social.kernel.text.languages import LANGUAGE_NAMES
from timelines.policies.access import Openness

#: Maximum size of the texts of the settings page in bytes, without its pictures.
FORM_BYTES: Final = 1024 * 1024

_AUDIENCE_NAMES = {"disabled": _("Nobody"), "users": _("Who is signed in"), "all": _("Everybody")}


def _text(label: Any, rows: int = 1, help_text: Any = "") -> forms.CharField:
    widget = forms.Textarea({"rows": rows, "dir": "auto"}) if rows > 1 else forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


def _audience(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value, _AUDIENCE_NAMES[value]) for value in AUDIENCES])


_OPENNESS_NAMES = {
    Openness.PUBLIC: _("Everybody"),
    Openness.AUTHENTICATED: _("Who is signed in"),
    Openness.DISABLED: _("Nobody but who may see closed timelines"),
}


def _openness(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value.value, words) for value, words in _OPENNESS_NAMES.items()])


REGISTRATIONS: Final = {"open": _("Everybody"), "approval": _("Whom staff let in"), "closed": _("Nobody")}


def _days(label: Any, least: int = 1) -> forms.IntegerField:
    words = _("0: for ever") if least == 1 else _("0: for ever, else 30 at least")
    return forms.IntegerField(label=label, help_text=words, min_value=0, max_value=DAYS_LIMIT)


_LANDING_NAMES = {
    "trends": _("What many people like at the moment, or else the newest posts of this server"),
    "local_feed": _("The newest posts of this server"),
    "about": _("The description alone"),
}
_PART_NAMES: Final = {
    "identity": _("Name and look"),
    "about": _("What this server says about itself"),
    "sign_up": _("Signing up"),
    "visibility": _("Who sees what"),
    "retention": _("How long data is kept"),
}


def _picture(label: Any, help_text: Any) -> forms.FileField:
    widget = forms.FileInput({"accept": ",".join(images.ACCEPTED)})
    return forms.FileField(label=label, required=False, help_text=help_text, widget=widget)


def _number(name: str, label: Any, help_text: Any) -> forms.IntegerField:
    least, most = NUMBERS[name]
    return forms.IntegerField(label=label, help_text=help_text, min_value=least, max_value=most)


class SiteForm(Styled, ServiceForm):
    """Texts and switches of the instance documents; the service validates them."""

    site_title = _text(_("Name of this server"))
    site_short_description = _text(_("Short description"), 3)
    site_extended_description = _text(_("Long description"), 10, _("Markdown"))
    site_privacy_policy = _text(_("Privacy policy"), 10, _("Markdown; without one, that of this software is shown"))
    site_contact_username = _text(_("Username of the contact"))
    site_contact_email = _text(_("E-mail address of the contact"))
    site_languages = forms.MultipleChoiceField(
        label=_("Languages"),
        required=False,
        choices=list(LANGUAGE_NAMES.items()),
        widget=forms.CheckboxSelectMultiple,
    )
    site_status_page_url = _text(_("Address of the status page"))
    site_registrations = forms.ChoiceField(
        label=_("Who may sign up"),
        required=False,
        choices=REGISTRATIONS.items(),
        help_text=_("Who has an invitation may sign up in any case"),
    )
    site_closed_message = _text(_("What is said while nobody can sign up"), 3, _("Markdown"))
    site_minimum_age = _number("site_minimum_age", _("Age in years that people must have to sign up"), _("0: any"))
    site_remote_media_megabytes = _number(
        "site_remote_media_megabytes",
        _("Room in megabytes for copies of files of other servers"),
        _("Those that nobody has looked at for longest go first"),
    )
    site_show_domain_blocks = _audience(_("Who sees which servers are limited"))
    site_show_domain_blocks_rationale = _audience(_("Who sees why"))
    site_publish_activity = forms.BooleanField(label=_("Publish how much happens here"), required=False)
    site_publish_peers = forms.BooleanField(label=_("Publish which servers are known"), required=False)
    site_trends_without_review = forms.BooleanField(
        label=_("Show trends before they were reviewed"),
        required=False,
        help_text=_("Posts, hashtags and links that many people like are shown until you refuse them"),
    )
    site_access_live_feeds_local = _openness(_("Public timeline: posts of this server"))
    site_access_live_feeds_remote = _openness(_("Public timeline: posts of other servers"))
    site_access_hashtag_feeds_local = _openness(_("Timelines of hashtags: posts of this server"))
    site_access_hashtag_feeds_remote = _openness(_("Timelines of hashtags: posts of other servers"))
    site_access_trending_link_feeds_local = _openness(_("Timelines of links: posts of this server"))
    site_access_trending_link_feeds_remote = _openness(_("Timelines of links: posts of other servers"))
    site_keep_addresses_days = _days(_("Days for which network addresses of people are kept"))
    site_keep_audit_log_days = _days(_("Days for which the audit log is kept"), AUDIT_LOG_DAYS)
    site_keep_closed_reports_days = _days(_("Days for which settled reports are kept"))
    site_keep_held_posts_days = _days(_("Days after which posts that nobody has reviewed are discarded"))
    site_colour = forms.CharField(
        label=_("Colour"),
        required=False,
        widget=forms.TextInput({"dir": "ltr", "placeholder": "#0b6e66", "spellcheck": "false"}),
        help_text=_(
            "Of links and buttons, such as #7a1fa2. It is made darker or lighter where it could not be read. Empty: the colour "
            "of this software"
        ),
    )
    site_custom_css = forms.CharField(
        label=_("Style sheet of your own"),
        required=False,
        widget=forms.Textarea({"rows": 8, "dir": "ltr", "spellcheck": "false"}),
        help_text=_(
            "CSS for all pages but those of the administration. It loads nothing from other servers, but can hide or move "
            "whatever pages show: use nothing that you do not understand"
        ),
    )
    site_landing_page = forms.ChoiceField(
        label=_("What visitors see on the front page"),
        choices=[(value, _LANDING_NAMES[value]) for value in LANDING_PAGES],
    )
    thumbnail = _picture(
        _("Picture"), _("Cut to 1200 by 630 pixels; shown on the front page and where links are shared")
    )
    remove_thumbnail = forms.BooleanField(label=_("Remove the picture"), required=False)
    icon = _picture(_("Icon"), _("Square, 512 by 512 pixels or more; shown on top of each page and on home screens"))
    remove_icon = forms.BooleanField(label=_("Remove the icon"), required=False)
    favicon = _picture(_("Icon of the browser tab"), _("Square; without one, the icon is shown there too"))
    remove_favicon = forms.BooleanField(label=_("Remove the icon of the browser tab"), required=False)
    parts = {
        "identity": (
            "site_title",
            "site_short_description",
            "thumbnail",
            "remove_thumbnail",
            "icon",
            "remove_icon",
            "favicon",
            "remove_favicon",
            "site_colour",
            "site_custom_css",
        ),
        "about": (
            "site_landing_page",
            "site_extended_description",
            "site_contact_username",
            "site_contact_email",
            "site_languages",
            "site_status_page_url",
            "site_privacy_policy",
        ),
        "sign_up": ("site_registrations", "site_minimum_age", "site_closed_message"),
        "visibility": (
            *ACCESS_NAMES,
            "site_trends_without_review",
            "site_publish_activity",
            "site_publish_peers",
            "site_show_domain_blocks",
            "site_show_domain_blocks_rationale",
        ),
        "retention": ("site_remote_media_megabytes", *RETENTION_NAMES),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        registrations: Any = self.fields["site_registrations"]
        default = gettext("The default: %(choice)s") % {"choice": REGISTRATIONS[settings.REGISTRATIONS]}
        registrations.choices = [("", default), *registrations.choices]
        for name in fixed_site_settings():
            self.fields[name].disabled = True
            words = gettext("Set in the environment of the server, as %(name)s: it can only be changed there.")
            self.fields[name].help_text = words % {"name": name.removeprefix("site_").upper()}
        chosen = self["site_languages"].value() or ()
        languages: Any = self.fields["site_languages"]
        # The chosen languages are first in the list, which is long.
        languages.choices = sorted(languages.choices, key=lambda choice: choice[0] not in chosen)

    def shown_parts(self, wanted: str) -> Iterator[tuple[str, Any, list[forms.BoundField], list[forms.BoundField]]]:
        """Yield key and title of each section, its fields, and those that contain all words of a search."""
        words = wanted.casefold().split()
        for part, fields in self.sections().items():
            found = [
                field
                for field in fields
                if words and all(word in f"{field.label} {field.help_text} {field.name}".casefold() for word in words)
            ]
            yield part, _PART_NAMES[part], fields, found

    @property
    def texts(self) -> SiteTexts:
        """Return the texts that the form holds."""
        sent = {name: value for name, value in self.cleaned_data.items() if name.startswith("site_")}
        return SiteTexts(**sent | {"site_languages": tuple(sent["site_languages"])})


_PICTURES: Final[dict[str, Callable[..., object]]] = {
    "thumbnail": change_thumbnail,
    "icon": change_icon,
    "favicon": partial(change_icon, favicon=True),
}


@admin.register(SiteSetting)
class SiteAdmin(PermittedAdmin):
    """Form for all site settings."""

    permission = Permission.MANAGE_SETTINGS

    @takes(3 * THUMBNAIL_LIMIT + FORM_BYTES)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the form in place of a list of rows."""
        if not self.is_permitted(request):
            return super().changelist_view(request, extra_context)
        form = SiteForm(request.POST or None, request.FILES or None, initial=load_site_texts(raw=True) | _switches())
        if request.method == "POST" and form.is_valid() and self._save(request, form):
            self.message_user(request, gettext("What this server says about itself has been saved."), messages.SUCCESS)
            return redirect(request.path)
        wanted = request.GET.get("q", "")[:100]
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("About this server"),
            "opts": self.model._meta,
            "form": form,
            "wanted": wanted,
            "parts": list(form.shown_parts(wanted)),
        }
        return TemplateResponse(request, "admin/site.html", context, status=422 if form.errors else 200)

    def get_custom_urls(self) -> Any:
        """Return the URL that hides the list of first steps."""
        return (("first-steps/", "first_steps_hide", self._hide_first_steps),)

    def _hide_first_steps(self, request: HttpRequest, **_rest: Any) -> HttpResponse:
        if not self.is_permitted(request):
            raise PermissionDenied
        if request.method == "POST":
            hide_first_steps(by=acting(request))
        return redirect("admin:index")

    def _save(self, request: HttpRequest, form: SiteForm) -> bool:
        by = acting(request)
        try:
            change_site(by=by, texts=form.texts)
            for name, change in _PICTURES.items():
                picture = form.cleaned_data[name]
                if picture is not None or form.cleaned_data[f"remove_{name}"]:
                    change(by=by, data=picture.read() if picture is not None else None)
        except Invalid as refusal:
            form.add_details(refusal)
        except KernelError as refusal:
            form.add_error(None, refusal.message)
        return not form.errors


def _switches() -> dict[str, Any]:
    """Return the default values of the switches, which apply until staff have chosen values."""
    texts = load_site_texts()
    names = (
        "site_landing_page",
        "site_publish_activity",
        "site_publish_peers",
        "site_trends_without_review",
        "site_show_domain_blocks",
        "site_show_domain_blocks_rationale",
        *NUMBERS,
        *RETENTION_NAMES,
        *fixed_site_settings(),
    )
    openness = {name: texts.get(name, Openness.PUBLIC) for name in ACCESS_NAMES}
    return openness | {name: texts[name] for name in names}
