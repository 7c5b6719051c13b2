"""Relays to which this server is subscribed, for staff."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.models.user import Permission
from federation.models import Relay, RelayState
from federation.outbound.relaying import add_relay, remove_relay
from social.api.staff_columns import mark, shortened, shown

_STATES: Final = {
    RelayState.PENDING: (_("Asked: its operator may have to agree"), "waiting"),
    RelayState.ACCEPTED: (_("Subscribed"), "good"),
    RelayState.REJECTED: (_("Refused by the relay"), "bad"),
}


class RelayForm(DraftForm):
    """Form for the inbox of a new relay."""

    class Meta:
        model = Relay
        fields = ("inbox_url",)
        labels: ClassVar[dict[str, Any]] = {"inbox_url": _("Inbox of the relay")}
        help_texts: ClassVar[dict[str, Any]] = {
            "inbox_url": _(
                "Such as https://relay.example/inbox. It gets the public posts of this server, and passes those of the other "
                "subscribed servers on to it"
            )
        }
        widgets: ClassVar[dict[str, Any]] = {
            "inbox_url": forms.TextInput({"dir": "ltr", "inputmode": "url", "placeholder": "https://"})
        }


def _state(relay: Relay) -> SafeString:
    return mark(*_STATES[RelayState(relay.state)])


@admin.register(Relay)
class RelayAdmin(EditedAdmin):
    """Relays, which are added and removed but not changed."""

    permission = Permission.MANAGE_FEDERATION
    form = RelayForm
    writes = Writes(
        create=lambda by, row, form: add_relay(by=by, inbox_url=form.cleaned_data["inbox_url"]),
        remove=lambda by, row: remove_relay(by=by, inbox_url=row.inbox_url),
    )
    list_display = (
        shown("inbox_url", _("Inbox of the relay"), lambda relay: shortened(relay.inbox_url, 120), order="inbox_url"),
        shown("state", _("State"), _state),
        shown("created_at", _("Since"), order="id", minor=True),
    )
    ordering = ("id",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the form's field for a new relay, and the columns of the list for a stored relay."""
        return list(RelayForm.Meta.fields if obj is None else self.list_display)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return all fields of a stored relay."""
        return [] if obj is None else self.get_fields(request, obj)
