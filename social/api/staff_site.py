"""The admin site for staff: access to it, and the headers that protect its pages."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import EmptyPage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from unfold.sites import UnfoldAdminSite

from social.api.staff_columns import read_by
from social.kernel import links

if TYPE_CHECKING:
    Site = admin.AdminSite
else:  # The theme's class has no types.
    Site = UnfoldAdminSite
APPS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
PAGE_DIGITS = 4
#: Session key of the admin page that a user wanted to open before they had added a second factor.
WANTED_PAGE = "staff_wanted_page"


class StaffSite(Site):
    """The admin of this server, with the site's sign-in and its second factor instead of Django's own sign-in page. The site
    shows only models that this project registers, since the admin classes of libraries write without services.
    """

    index_title = _("Home")
    enable_nav_sidebar = True

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Return a view for staff, whose headers forbid content from other origins.

        On these pages only (`adr/0030`), `unsafe-eval` is allowed because the theme's scripts (Alpine) evaluate attributes, and
        `unsafe-inline` for styles because the pages contain inline styles. The pages contain no inline scripts.
        """
        guarded = super().admin_view(view, cacheable)

        @wraps(guarded)
        def protected(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            try:
                with read_by(request):
                    response = guarded(request, *args, **kwargs)
                    # The response is rendered inside the block, because rendering evaluates the columns.
                    if isinstance(response, TemplateResponse):
                        response.render()
            except (BadRequest, DisallowedModelAdminLookup):
                # Django would log a traceback for a mistyped URL.
                context = {**self.each_context(request), "title": _("This page cannot be shown"), "back": request.path}
                response = TemplateResponse(request, "admin/refused.html", context, status=400)
            response.headers["Content-Security-Policy"] = (
                "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
                f"img-src 'self' data:{links.media_source()}; media-src 'self'{links.media_source()}; connect-src 'self'; "
                "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            )
            return response

        return protected

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Return the results of the command palette. Raises BadRequest for a query that the palette cannot send."""
        page = request.GET.get("page", "1")
        if "\0" in request.GET.get("s", "") or not page.isdecimal() or len(page) > PAGE_DIGITS:
            raise BadRequest
        try:
            answer: HttpResponse = super().search(request, extra_context)  # type: ignore[misc]  # the theme has no types
        except EmptyPage:
            raise BadRequest from None
        return answer

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register the project's own admin classes only, because the classes of libraries show secrets and write without
        services.
        """
        if admin_class is not None and admin_class.__module__.partition(".")[0] in APPS:
            super().register(model_or_iterable, admin_class, **options)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Return Django's list of all models, which is built only when a page shows it, because most pages have the sidebar
        instead.
        """
        return SimpleLazyObject(partial(super().get_app_list, request, app_label))

    def has_permission(self, request: HttpRequest) -> bool:
        """Tell whether the user is staff and has a second factor, which STAFF_SECOND_FACTOR=no waives (local trials)."""
        user: Any = request.user
        if not (user.is_authenticated and user.is_active and user.is_staff):
            return False
        return not settings.STAFF_SECOND_FACTOR or is_mfa_enabled(user)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect staff to the wanted page or, if they have no second factor, to the page where they add one. Anonymous
        visitors are redirected to the site's sign-in, which leads back to the wanted page. Raises PermissionDenied for all
        other users.
        """
        user: Any = request.user
        wanted = self._wanted_page(request)
        if not user.is_authenticated:
            return redirect_to_login(wanted, settings.LOGIN_URL)
        if self.has_permission(request):
            return redirect(wanted)
        if user.is_staff and user.is_active:
            # The two-factor pages explain that a second factor is needed, and link back to the wanted page.
            request.session[WANTED_PAGE] = wanted
            return redirect("mfa_index")
        raise PermissionDenied

    def _wanted_page(self, request: HttpRequest) -> str:
        """Return the admin page that the user wanted to open; never the sign-in page, which would redirect to itself."""
        index = reverse("admin:index", current_app=self.name)
        wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
        here = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith(index)
        return wanted if here and not wanted.startswith(reverse("admin:login")) else index

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the site's own page, where a new password ends sessions, tokens and streams (security row 24)."""
        return redirect("account_change_password")
