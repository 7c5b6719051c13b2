"""Operators look at servers that do not answer as they should."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from federation.admin.bases import ERROR, FederationAdmin
from federation.models import Host
from social.api.staff_columns import lines, mark, shortened, shown
from social.kernel import clock


def _host_state(host: Host) -> SafeString:
    return mark(_("Left alone"), "bad") if host.retry_at > clock.now() else mark(_("On trial"), "waiting")


STATE = shown("state", gettext_lazy("State"), _host_state)
NAME = shown("name", gettext_lazy("Server"), lambda host: shortened(host.name, 80), order="name")
FAILURES = shown("failures", gettext_lazy("Failures"), order="failures", minor=True)
FAILING_SINCE = shown("failing_since", gettext_lazy("Failing since"), order="failing_since", minor=True)
RETRY = shown("retry_at", gettext_lazy("Next try"), order="retry_at")


@admin.register(Host)
class HostAdmin(FederationAdmin):
    """Servers that do not answer as they should."""

    list_display = (NAME, STATE, FAILURES, FAILING_SINCE, RETRY, ERROR)
    search_fields = ("name",)
    ordering = ("-failing_since",)
    fieldsets = (
        lines(None, NAME, STATE, FAILURES, FAILING_SINCE, RETRY, shown("last_error", gettext_lazy("Last error"))),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Host]:
        """Servers that are well are known here too, and nobody's trouble."""
        return super().get_queryset(request).filter(failures__gt=0)
