"""Admin page of the relays to which this server is subscribed."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.admin.block_lists import AddedOnly
from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.models.user import Permission
from federation.models import Relay, RelayState
from federation.outbound.relaying import add_relay, remove_relay
from social.api.staff_columns import CREATION, States, shortened, shown

_STATES: Final = States(
    pending=(_("Requested: the relay's operator may have to approve it"), "waiting", Q(state=RelayState.PENDING)),
    accepted=(_("Subscribed"), "good", Q(state=RelayState.ACCEPTED)),
    rejected=(_("Refused by the relay"), "bad", Q(state=RelayState.REJECTED)),
)


class RelayForm(DraftForm):
    """Form for the inbox of a new relay."""

    class Meta:
        model = Relay
        fields = ("inbox_url",)
        labels: ClassVar[dict[str, Any]] = {"inbox_url": _("Inbox of the relay")}
        help_texts: ClassVar[dict[str, Any]] = {
            "inbox_url": _(
                "For example https://relay.example/inbox. The relay receives the public posts from this "
                "server, and forwards the public posts from other subscribed servers to this server"
            )
        }
        widgets: ClassVar[dict[str, Any]] = {
            "inbox_url": forms.TextInput({"dir": "ltr", "inputmode": "url", "placeholder": "https://"})
        }


@admin.register(Relay)
class RelayAdmin(AddedOnly, EditedAdmin):
    """Relays, which are added and removed but not changed."""

    permission = Permission.MANAGE_FEDERATION
    form = RelayForm
    writes = Writes(
        create=lambda by, row, form: add_relay(by=by, inbox_url=form.cleaned_data["inbox_url"]),
        remove=lambda by, row: remove_relay(by=by, inbox_url=row.inbox_url),
    )
    list_display = (
        shown("inbox_url", _("Inbox of the relay"), lambda relay: shortened(relay.inbox_url, 120), order="inbox_url"),
        _STATES.column(),
        CREATION,
    )
    ordering = ("id",)
