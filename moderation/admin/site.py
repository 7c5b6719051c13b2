"""Admin page of the settings of this server."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import SiteSetting
from accounts.models.user import Permission
from accounts.queries.site_settings import fixed_site_settings, load_site_texts
from moderation.admin.site_form import SiteForm
from moderation.policies.documents import ACCESS_NAMES, NUMBERS, RETENTION_NAMES
from moderation.services import documents
from social.api.staff import takes
from social.kernel.errors import Invalid, KernelError
from timelines.policies.access import Openness

#: Maximum size of the texts of the settings page in bytes, without its pictures.
FORM_BYTES: Final = 1024 * 1024

_PICTURES: Final[dict[str, Callable[..., object]]] = {
    "thumbnail": documents.change_thumbnail,
    "icon": documents.change_icon,
    "favicon": partial(documents.change_icon, favicon=True),
}


@admin.register(SiteSetting)
class SiteAdmin(PermittedAdmin):
    permission = Permission.MANAGE_SETTINGS
    ordering = ()

    @takes(3 * documents.THUMBNAIL_LIMIT + FORM_BYTES)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.is_permitted(request):
            return super().changelist_view(request, extra_context)
        form = SiteForm(
            request.POST or None, request.FILES or None, initial=load_site_texts(raw=True) | _effective_values()
        )
        if request.method == "POST" and form.is_valid() and self._save(request, form):
            self.message_user(request, gettext("The settings of this server have been saved."), messages.SUCCESS)
            return redirect(request.path)
        wanted = request.GET.get("q", "")[:100]
        context = {"form": form, "wanted": wanted, "parts": form.shown_parts(wanted, request)}
        return self.page(request, "admin/site.html", title=gettext("About this server"), **context)

    def get_custom_urls(self) -> Any:
        return (("first-steps/", "first_steps_hide", self._hide_first_steps),)

    def _hide_first_steps(self, request: HttpRequest, **_rest: Any) -> HttpResponse:
        if not self.is_permitted(request):
            raise PermissionDenied
        if request.method == "POST":
            documents.hide_first_steps(by=acting(request))
        return redirect("admin:index")

    def _save(self, request: HttpRequest, form: SiteForm) -> bool:
        by = acting(request)
        try:
            documents.change_site(by=by, texts=form.texts)
            for name, change in _PICTURES.items():
                picture = form.cleaned_data[name]
                if picture is not None or form.cleaned_data[f"remove_{name}"]:
                    change(by=by, data=picture.read() if picture is not None else None)
        except Invalid as refusal:
            form.add_details(refusal)
        except KernelError as refusal:
            form.add_error(None, refusal.message)
        return not form.errors


def _effective_values() -> dict[str, Any]:
    """Return the values that are in force for the fields that have a default or are set in the environment."""
    texts = load_site_texts()
    names = (
        "site_landing_page",
        "site_publish_activity",
        "site_publish_peers",
        "site_trends_without_review",
        "site_show_domain_blocks",
        "site_show_domain_blocks_rationale",
        "site_confirm_email",
        "site_limited_federation",
        *NUMBERS,
        *RETENTION_NAMES,
        *fixed_site_settings(),
    )
    openness = {name: texts.get(name, Openness.PUBLIC) for name in ACCESS_NAMES}
    return openness | {name: texts[name] for name in names}
