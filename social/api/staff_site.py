"""The site of Django's admin for staff: who may open it, and how it is protected."""

from __future__ import annotations

from functools import wraps
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
#: In a session, the page of the admin that somebody was on the way to who has no second factor yet.
WANTED_PAGE = "staff_wanted_page"


class StaffSite(Site):
    """The admin of this server. It has no sign-in of its own: the site's is used, with its second factor.

    Only what the project registers is shown: libraries bring forms that write past the services.
    """

    index_title = _("Home")
    enable_nav_sidebar = True

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """A view for staff, with the headers that forbid anything from elsewhere.

        The theme's scripts make functions of the attributes of its pages (Alpine), and its pages bring their colours along:
        hence `unsafe-eval` and `unsafe-inline` for styles, here and nowhere else (`adr/0030`). No script stands in a page.
        """
        guarded = super().admin_view(view, cacheable)

        @wraps(guarded)
        def protected(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            try:
                with read_by(request):
                    response = guarded(request, *args, **kwargs)
                    # The columns of a page are read when it is rendered.
                    if isinstance(response, TemplateResponse):
                        response.render()
            except (BadRequest, DisallowedModelAdminLookup):
                # Django would write a trace to the log for what somebody typed into the address.
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
        """Return what the command palette finds. Raises BadRequest for what its field could not have sent."""
        page = request.GET.get("page", "1")
        if "\0" in request.GET.get("s", "") or not page.isdecimal() or len(page) > PAGE_DIGITS:
            raise BadRequest
        try:
            answer: HttpResponse = super().search(request, extra_context)  # type: ignore[misc]  # the theme's
        except EmptyPage:
            raise BadRequest from None
        return answer

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Take what the project itself registers, pass over all others: libraries would show secrets and write freely."""
        if admin_class is not None and admin_class.__module__.partition(".")[0] in APPS:
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, with a second factor unless STAFF_SECOND_FACTOR=no (local trials)."""
        user: Any = request.user
        if not (user.is_authenticated and user.is_active and user.is_staff):
            return False
        return not settings.STAFF_SECOND_FACTOR or is_mfa_enabled(user)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the site's sign-in and from there to the page asked for; staff without a second factor to where they add
        one, all others are refused.
        """
        user: Any = request.user
        wanted = self._wanted(request)
        if not user.is_authenticated:
            return redirect_to_login(wanted, settings.LOGIN_URL)
        if self.has_permission(request):
            return redirect(wanted)
        if user.is_staff and user.is_active:
            # The pages of the second factor say why, and lead back from there.
            request.session[WANTED_PAGE] = wanted
            return redirect("mfa_index")
        raise PermissionDenied

    def _wanted(self, request: HttpRequest) -> str:
        """The page of the admin that somebody was on the way to; never this one, which would lead here again."""
        index = reverse("admin:index", current_app=self.name)
        wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
        here = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith(index)
        return wanted if here and not wanted.startswith(reverse("admin:login")) else index

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The site's own page: a new password ends sessions, tokens and streams there (security row 24)."""
        return redirect("account_change_password")
