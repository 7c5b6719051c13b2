"""Operators look at what comes in and goes out, and have deliveries tried again."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models.user import Permission
from federation.models import Delivery, Host, InboundActivity, OutboundActivity
from federation.outbound.queueing import retry
from social.api.staff import ReadOnlyAdmin


class _FederationAdmin(ReadOnlyAdmin):
    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Whether the role may act on federation."""
        user: Any = request.user
        return bool(user.role.can(Permission.MANAGE_FEDERATION))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All but those that nobody needs to see."""
        return [name for name in super().get_readonly_fields(request, obj) if name not in (self.exclude or ())]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Activities hold posts that are not for everybody: only who manages federation sees them."""
        return self.has_manage_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As for each row."""
        return self.has_manage_permission(request)


@admin.register(Delivery)
class DeliveryAdmin(_FederationAdmin):
    """What is on its way, and what was given up."""

    list_display = ("id", "activity", "inbox_url", "key", "attempts", "due_at", "given_up_at", "last_error")
    list_filter = (("given_up_at", admin.EmptyFieldListFilter), "attempts")
    list_select_related = ("activity",)
    search_fields = ("host", "key", "activity__uri")
    ordering = ("-id",)
    actions = ("retry_now",)

    @admin.action(description=_("Try the chosen rows again"), permissions=["manage"])
    def retry_now(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Give them a fresh set of attempts, now; their hosts are not left alone any longer."""
        with transaction.atomic():
            hosts = set(queryset.values_list("host", flat=True))
            count = retry(queryset.values_list("id", flat=True))
            Host.objects.filter(name__in=hosts).delete()
        for delivery in queryset:
            self.log_change(request, delivery, "retry")
        text = ngettext("%(count)d row will be tried again.", "%(count)d rows will be tried again.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)


@admin.register(OutboundActivity)
class OutboundActivityAdmin(_FederationAdmin):
    """What is being told. The bodies are not shown: they may hold private posts."""

    list_display = ("id", "type", "uri", "account", "created_at")
    list_filter = ("type",)
    list_select_related = ("account",)
    search_fields = ("uri", "account__username")
    ordering = ("-id",)
    exclude = ("body",)


@admin.register(InboundActivity)
class InboundActivityAdmin(_FederationAdmin):
    """What was received, and what became of it. The bodies are not shown: they may hold private posts."""

    list_display = ("id", "type", "uri", "actor", "attempts", "outcome", "received_at", "processed_at")
    list_filter = ("type", ("processed_at", admin.EmptyFieldListFilter))
    list_select_related = ("actor",)
    search_fields = ("uri", "actor__domain", "actor__username")
    ordering = ("-id",)
    exclude = ("body", "fingerprint")


@admin.register(Host)
class HostAdmin(_FederationAdmin):
    """Servers that do not answer as they should."""

    list_display = ("name", "failures", "failing_since", "retry_at", "last_error")
    search_fields = ("name",)
    ordering = ("-failing_since",)
