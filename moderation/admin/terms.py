"""Where staff write the terms of service, and publish each version once."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.permitted import EditedAdmin, RowForm
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import TermsOfService
from moderation.policies.documents import TermsDraft, terms_errors
from moderation.services.documents import delete_terms, publish_terms, write_terms
from social.api.staff_columns import mark, shown
from social.kernel import clock


class TermsForm(RowForm):
    """A version of the terms."""

    class Meta:
        model = TermsOfService
        fields = ("text", "changelog", "effective_date")
        labels = {
            "text": gettext_lazy("Terms of service"),
            "changelog": gettext_lazy("What has changed"),
            "effective_date": gettext_lazy("In force from"),
        }
        help_texts = {"text": gettext_lazy("Markdown"), "changelog": gettext_lazy("Markdown")}
        widgets = {
            "text": forms.Textarea({"rows": 20, "dir": "auto"}),
            "changelog": forms.Textarea({"rows": 4, "dir": "auto"}),
            "effective_date": forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        }

    @property
    def draft(self) -> TermsDraft:
        """What was written."""
        sent = self.cleaned_data
        return TermsDraft(sent["text"], sent.get("changelog") or "", sent.get("effective_date"))

    def clean(self) -> dict[str, Any]:
        """With what the policy finds; that a day is taken, Django has found already."""
        sent: dict[str, Any] = super().clean() or {}
        if "text" in sent:
            today = clock.now().astimezone(UTC).date()
            for error in terms_errors(self.draft, publish=False, today=today, taken=False):
                self.add_error(error.field, error.message)
        return sent


def _state(terms: TermsOfService) -> Any:
    return mark(_("Published"), "good") if terms.published_at is not None else mark(_("Draft"), "waiting")


@admin.register(TermsOfService)
class TermsAdmin(EditedAdmin):
    """Versions of the terms of service; a published one is looked at only."""

    permission = Permission.MANAGE_SETTINGS
    form = TermsForm
    list_display = (
        shown("name", gettext_lazy("In force from"), str, order="effective_date"),
        shown("state", gettext_lazy("State"), _state),
        shown("published_at", gettext_lazy("Published"), minor=True),
    )
    ordering = ("-effective_date",)
    actions = ("publish",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Drafts are changed."""
        return self.is_permitted(request) and (obj is None or obj.published_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Drafts are deleted."""
        return self.has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: TermsOfService, form: Any, change: bool) -> None:
        """Write it by the service."""
        obj.pk = write_terms(by=acting(request), draft=form.draft, terms=obj if change else None).pk

    def delete_model(self, request: HttpRequest, obj: TermsOfService) -> None:
        """Delete it by the service."""
        delete_terms(by=acting(request), terms=obj)

    @admin.action(description=gettext_lazy("Publish: it cannot be changed afterwards"), permissions=["manage"])
    def publish(self, request: HttpRequest, queryset: QuerySet[TermsOfService]) -> TemplateResponse | None:
        """Publish."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda terms: publish_terms(by=by, terms=terms),
            verb="publish",
            done=lambda count: ngettext(
                "%(count)d version was published.", "%(count)d versions were published.", count
            ),
            question=gettext_lazy("Publish these terms of service? They cannot be changed afterwards."),
        )
