"""Announcements of staff: writing and publishing."""

from datetime import UTC, datetime, tzinfo
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.models.user import Permission
from moderation.models import Announcement
from moderation.policies.announcements import AnnouncementDraft, announcement_errors
from moderation.services import announcements
from social.api.staff_acts import Act, Words
from social.api.staff_columns import States, shortened, shown
from social.kernel.errors import FieldError

_MOMENT = "%Y-%m-%dT%H:%M"


def _moment_field(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput({"type": "datetime-local"}, format=_MOMENT)
    return forms.DateTimeField(label=label, required=False, widget=widget, input_formats=[_MOMENT, "%Y-%m-%dT%H:%M:%S"])


def _at_same_clock_time(moment: datetime | None, of: tzinfo, to: tzinfo) -> datetime | None:
    """Return the moment that has the same date and clock time in the zone `to` as `moment` has in the zone `of`."""
    return moment.astimezone(of).replace(tzinfo=to) if moment is not None else None


class AnnouncementForm(DraftForm):
    """Form for an announcement, in the time zone of the staff member. All-day events have the same dates in every time zone."""

    starts_at = _moment_field(_("Event starts at"))
    ends_at = _moment_field(_("until"))
    scheduled_at = _moment_field(_("Publish at"))

    class Meta:
        model = Announcement
        fields = ("text", "starts_at", "ends_at", "all_day", "scheduled_at")
        labels = {"text": _("Text"), "all_day": _("All-day event")}
        widgets = {"text": forms.Textarea({"rows": 6, "dir": "auto"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone = timezone.get_current_timezone()
        self.fields["starts_at"].help_text = str(zone)
        self.fields["ends_at"].help_text = f"{zone}; {gettext('it is hidden after this')}"
        self.fields["scheduled_at"].help_text = f"{zone}; {gettext('leave empty for a draft')}"
        for name in ("starts_at", "ends_at") if self.instance.all_day else ():
            self.initial[name] = _at_same_clock_time(self.initial.get(name), UTC, zone)

    @property
    def draft(self) -> AnnouncementDraft:
        sent: dict[str, Any] = {name: self.cleaned_data.get(name) for name in self.Meta.fields}
        for name in ("starts_at", "ends_at") if sent["all_day"] else ():
            sent[name] = _at_same_clock_time(sent[name], timezone.get_current_timezone(), UTC)
        return AnnouncementDraft(**sent)

    def draft_errors(self) -> list[FieldError]:
        return announcement_errors(self.draft)


_STATES = States(
    published=(_("Published"), "good", Q(published_at__isnull=False)),
    scheduled=(_("Scheduled"), "waiting", Q(published_at=None, scheduled_at__isnull=False)),
    draft=(_("Draft"), "waiting", Q(published_at=None, scheduled_at=None)),
)


@admin.register(Announcement)
class AnnouncementAdmin(EditedAdmin):
    permission = Permission.MANAGE_ANNOUNCEMENTS
    form = AnnouncementForm
    writes = Writes(
        create=lambda by, row, form: announcements.create_announcement(by=by, draft=form.draft),
        change=lambda by, row, form: announcements.update_announcement(by=by, announcement=row, draft=form.draft),
        remove=lambda by, row: announcements.delete_announcement(by=by, announcement=row),
    )
    list_display = (
        shown("text", _("Announcement"), lambda row: shortened(row.text, 120)),
        _STATES.column(),
        shown("scheduled_at", _("Publish at"), order="scheduled_at", minor=True),
        shown("published_at", _("Published"), order="published_at", minor=True),
        shown("ends_at", _("Shown until"), order="ends_at", minor=True),
    )
    list_filter = (_STATES.filter(),)
    acts = (
        Act(
            "publish",
            _("Publish now"),
            lambda by, row: announcements.publish_announcement(by=by, announcement=row),
            icon="campaign",
            one=Words(
                _("Publish this announcement now, as it was last saved? Everybody here will see it."),
                _("The announcement is published."),
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
            _("Unpublish"),
            lambda by, row: announcements.unpublish_announcement(by=by, announcement=row),
            icon="undo",
            one=Words(
                _("Unpublish this announcement? It becomes a draft, which nobody sees."),
                _("The announcement is a draft again."),
            ),
            many=Words(
                "",
                ngettext_lazy(
                    "%(count)d announcement was unpublished.", "%(count)d announcements were unpublished.", "count"
                ),
                _("Unpublish: turn them into drafts"),
            ),
            fits=lambda row: row.published_at is not None,
        ),
    )
