"""Where staff write what this server says about itself."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.permitted import PermittedAdmin
from accounts.admin.users import acting
from accounts.models import SiteSetting
from accounts.models.user import Permission
from accounts.pages.service_forms import ServiceForm
from accounts.queries.site_settings import load_site_texts
from moderation.policies.documents import AUDIENCES, SiteTexts
from moderation.services.documents import change_site, change_thumbnail
from social.kernel.errors import Invalid, KernelError
from social.kernel.text.language_names import LANGUAGE_NAMES

_WHO = {
    "disabled": gettext_lazy("Nobody"),
    "users": gettext_lazy("Who is signed in"),
    "all": gettext_lazy("Everybody"),
}


def _text(label: Any, rows: int = 1, help_text: Any = "") -> forms.CharField:
    widget = forms.Textarea({"rows": rows, "dir": "auto"}) if rows > 1 else forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


def _audience(label: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[(value, _WHO[value]) for value in AUDIENCES])


class SiteForm(ServiceForm):
    """The texts and switches of the instance documents; the rules are the service's."""

    site_title = _text(gettext_lazy("Name of this server"))
    site_short_description = _text(gettext_lazy("Short description"), 3)
    site_extended_description = _text(gettext_lazy("Long description"), 10, gettext_lazy("Markdown"))
    site_privacy_policy = _text(
        gettext_lazy("Privacy policy"), 10, gettext_lazy("Markdown; without one, that of this software is shown")
    )
    site_contact_username = _text(gettext_lazy("Username of the contact"))
    site_contact_email = _text(gettext_lazy("E-mail address of the contact"))
    site_languages = forms.MultipleChoiceField(
        label=gettext_lazy("Languages"), required=False, choices=list(LANGUAGE_NAMES.items())
    )
    site_status_page_url = _text(gettext_lazy("Address of the status page"))
    site_closed_message = _text(gettext_lazy("What is said while nobody can sign up"), 3, gettext_lazy("Markdown"))
    site_show_domain_blocks = _audience(gettext_lazy("Who sees which servers are limited"))
    site_show_domain_blocks_rationale = _audience(gettext_lazy("Who sees why"))
    site_publish_activity = forms.BooleanField(label=gettext_lazy("Publish how much happens here"), required=False)
    site_publish_peers = forms.BooleanField(label=gettext_lazy("Publish which servers are known"), required=False)
    thumbnail = forms.FileField(
        label=gettext_lazy("Picture"), required=False, help_text=gettext_lazy("Cut to 1200 by 630 pixels")
    )
    remove_thumbnail = forms.BooleanField(label=gettext_lazy("Remove the picture"), required=False)

    @property
    def texts(self) -> SiteTexts:
        """What was written."""
        sent = {name: value for name, value in self.cleaned_data.items() if name.startswith("site_")}
        return SiteTexts(**sent | {"site_languages": tuple(sent["site_languages"])})


@admin.register(SiteSetting)
class SiteAdmin(PermittedAdmin):
    """One form for all of it."""

    permission = Permission.MANAGE_SETTINGS

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The form, in place of a list of rows."""
        if not self.is_permitted(request):
            return super().changelist_view(request, extra_context)
        form = SiteForm(request.POST or None, request.FILES or None, initial=load_site_texts(raw=True) | _switches())
        if request.method == "POST" and form.is_valid() and self._save(request, form):
            self.message_user(request, _("What this server says about itself has been saved."), messages.SUCCESS)
            return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "title": _("About this server"),
            "opts": self.model._meta,
            "form": form,
        }
        return TemplateResponse(request, "admin/site.html", context, status=422 if form.errors else 200)

    def _save(self, request: HttpRequest, form: SiteForm) -> bool:
        by, picture = acting(request), form.cleaned_data["thumbnail"]
        try:
            change_site(by=by, texts=form.texts)
            if picture is not None or form.cleaned_data["remove_thumbnail"]:
                change_thumbnail(by=by, data=picture.read() if picture is not None else None)
        except Invalid as refusal:
            form.add_details(refusal)
        except KernelError as refusal:
            form.add_error(None, refusal.message)
        return not form.errors


def _switches() -> dict[str, Any]:
    """What is so while nobody has chosen."""
    texts = load_site_texts()
    names = (
        "site_publish_activity",
        "site_publish_peers",
        "site_show_domain_blocks",
        "site_show_domain_blocks_rationale",
    )
    return {name: texts[name] for name in names}
