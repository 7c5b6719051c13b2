"""Announcements of staff: writing and publishing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.acting import acting
from accounts.admin.permitted import DraftForm, EditedAdmin
from accounts.models.user import Permission
from moderation.models import Announcement
from moderation.policies.announcements import AnnouncementDraft, announcement_errors
from moderation.services.announcements import (
    create_announcement,
    delete_announcement,
    publish_announcement,
    unpublish_announcement,
    update_announcement,
)
from social.api.staff_acts import Act, Words
from social.api.staff_columns import ConditionFilter, mark, shortened, shown

_MOMENT = "%Y-%m-%dT%H:%M"


def _moment_field(label: Any, help_text: Any = "") -> forms.DateTimeField:
    widget = forms.DateTimeInput({"type": "datetime-local"}, format=_MOMENT)
    return forms.DateTimeField(
        label=label, help_text=help_text, required=False, widget=widget, input_formats=[_MOMENT, "%Y-%m-%dT%H:%M:%S"]
    )


class AnnouncementForm(DraftForm):
    """An announcement; times are UTC."""

    starts_at = _moment_field(gettext_lazy("It takes place from"), "UTC")
    ends_at = _moment_field(gettext_lazy("until"), gettext_lazy("UTC; it is no longer shown afterwards"))
    scheduled_at = _moment_field(gettext_lazy("To be published at"), gettext_lazy("UTC; without a time it is a draft"))

    class Meta:
        model = Announcement
        fields = ("text", "starts_at", "ends_at", "all_day", "scheduled_at")
        labels = {"text": gettext_lazy("Text"), "all_day": gettext_lazy("Only the days count")}
        widgets = {"text": forms.Textarea({"rows": 6, "dir": "auto"})}

    @property
    def draft(self) -> AnnouncementDraft:
        """Return the draft that the form holds."""
        sent: dict[str, Any] = {name: self.cleaned_data.get(name) for name in self.Meta.fields}
        return AnnouncementDraft(**sent)

    def clean(self) -> dict[str, Any]:
        """Return the values; add the errors of the policy."""
        sent: dict[str, Any] = super().clean() or {}
        if "text" in sent:
            for error in announcement_errors(self.draft):
                self.add_error(error.field, error.message)
        return sent


class StateFilter(ConditionFilter):
    """Filter by published, scheduled, or draft."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "published": (gettext_lazy("Published"), Q(published_at__isnull=False)),
        "scheduled": (gettext_lazy("Scheduled"), Q(published_at=None, scheduled_at__isnull=False)),
        "draft": (gettext_lazy("Draft"), Q(published_at=None, scheduled_at=None)),
    }


def _state(announcement: Announcement) -> Any:
    if announcement.published_at is not None:
        return mark(_("Published"), "good")
    return mark(_("Scheduled") if announcement.scheduled_at is not None else _("Draft"), "waiting")


@admin.register(Announcement)
class AnnouncementAdmin(EditedAdmin):
    """Announcements to all users of this server."""

    permission = Permission.MANAGE_ANNOUNCEMENTS
    form = AnnouncementForm
    list_display = (
        shown("text", gettext_lazy("Announcement"), lambda row: shortened(row.text, 120)),
        shown("state", gettext_lazy("State"), _state),
        shown("scheduled_at", gettext_lazy("To be published at"), order="scheduled_at", minor=True),
        shown("published_at", gettext_lazy("Published"), order="published_at", minor=True),
        shown("ends_at", gettext_lazy("Shown until"), order="ends_at", minor=True),
    )
    list_filter = (StateFilter,)
    ordering = ("-id",)
    acts = (
        Act(
            "publish",
            gettext_lazy("Publish now"),
            lambda by, row: publish_announcement(by=by, announcement=row),
            icon="campaign",
            one=Words(
                gettext_lazy("Show this announcement to everybody here now, as it was last saved?"),
                gettext_lazy("The announcement is published."),
            ),
            many=Words(
                "",
                ngettext_lazy(
                    "%(count)d announcement was published.", "%(count)d announcements were published.", "count"
                ),
            ),
            fits=lambda row: row.published_at is None,
        ),
        Act(
            "unpublish",
            gettext_lazy("Take back"),
            lambda by, row: unpublish_announcement(by=by, announcement=row),
            icon="undo",
            one=Words(
                gettext_lazy("Take this announcement back? It is a draft then, which nobody sees."),
                gettext_lazy("The announcement is a draft again."),
            ),
            many=Words(
                "",
                ngettext_lazy(
                    "%(count)d announcement was taken back.", "%(count)d announcements were taken back.", "count"
                ),
                gettext_lazy("Take back: make drafts of them"),
            ),
            fits=lambda row: row.published_at is not None,
        ),
    )

    def save_model(self, request: HttpRequest, obj: Announcement, form: Any, change: bool) -> None:
        """Store the announcement through the service."""
        if change:
            update_announcement(by=acting(request), announcement=obj, draft=form.draft)
        else:
            obj.pk = create_announcement(by=acting(request), draft=form.draft).pk

    def delete_model(self, request: HttpRequest, obj: Announcement) -> None:
        """Delete the announcement through the service."""
        delete_announcement(by=acting(request), announcement=obj)
