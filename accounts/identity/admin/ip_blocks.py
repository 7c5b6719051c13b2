"""Admin page of IP blocks, which warns staff before they lock themselves out."""

import ipaddress
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.block_lists import FiledBlockListAdmin
from accounts.admin.permitted import RowForm, Writes
from accounts.identity.admin.sign_up_blocks import BLOCKED
from accounts.identity.models import BLOCK_COMMENT_LIMIT
from accounts.identity.queries.sign_up import list_ip_blocks
from accounts.identity.services import sign_up_blocks
from accounts.identity.services.sign_up_files import NetworkFile
from accounts.models import IpBlock, Severity
from accounts.models.user import Permission
from accounts.policies.networks import network_of, warning_about_network
from accounts.services.block_files import BlockFile
from social.api.addresses import client_ip
from social.api.staff_columns import CREATION, address, condition_filter, mark, shortened, shown
from social.api.staff_forms import text_field
from social.kernel import clock

_DAYS: Final = (1, 7, 14, 30, 90, 365)


def _from_now(days: int) -> str:
    return ngettext("%(count)d day from now", "%(count)d days from now", days) % {"count": days}


def _warning_for(sent: Mapping[str, Any], own_address: str) -> str:
    """Return why a block is probably a mistake (it covers the sender or very many addresses), or an empty text."""
    try:
        network = network_of(sent.get("network", ""))
        if sent.get("severity") == Severity.NO_ACCESS and ipaddress.ip_address(own_address) in network:
            text = gettext(
                "Your own address is %(address)s: you, and everybody else in this network, could not "
                "open this server any more."
            )
            return text % {"address": own_address}
    except ValueError:
        return ""
    return warning_about_network(sent.get("network", ""))


class NetworkForm(RowForm):
    """A network, the severity of its block, and how long the block lasts."""

    lasts = forms.ChoiceField(label=_("How long"), required=False)
    comment = text_field(_("Note for colleagues"), BLOCK_COMMENT_LIMIT)
    meant = forms.BooleanField(label=_("Block it anyway"), required=False)
    # The IP address of the person who fills in the form; `get_form` sets it for each request.
    own_address = ""

    class Meta:
        model = IpBlock
        fields = ("network", "severity", "comment")
        labels = {"network": _("Address or network"), "severity": _("People in this network")}
        help_texts = {"network": _("192.0.2.7, 192.0.2.0/24 or 2001:db8::/48")}
        widgets = {"network": forms.TextInput({"dir": "ltr"})}
        error_messages = {"network": {"unique": BLOCKED}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = [(str(days), _from_now(days)) for days in _DAYS]
        ends = self.instance.expires_at
        stays = (
            [("stays", gettext("until %(time)s") % {"time": f"{timezone.localtime(ends):%Y-%m-%d %H:%M %Z}"})]
            if ends is not None
            else []
        )
        self.fields["lasts"].choices = [*stays, ("", gettext("Forever")), *days]  # type: ignore[attr-defined]  # a choice field
        self.fields["severity"].initial = Severity.SIGN_UP_BLOCK
        if not _warning_for(self.data, self.own_address):
            del self.fields["meant"]

    def clean_network(self) -> str:
        try:
            return str(network_of(self.cleaned_data["network"]))
        except ValueError:
            raise ValidationError(gettext("This is neither an address nor a network.")) from None

    def clean_meant(self) -> bool:
        """Return True if a block that is probably a mistake was confirmed. Raises ValidationError if it was not."""
        if not self.cleaned_data["meant"]:
            raise ValidationError(_warning_for(self.data, self.own_address))
        return True

    def values(self) -> dict[str, Any]:
        sent = self.cleaned_data
        values = {name: sent[name] for name in ("network", "comment")} | {"severity": Severity(sent["severity"])}
        if sent["lasts"] != "stays":
            values["expires_at"] = clock.now() + timedelta(days=int(sent["lasts"])) if sent["lasts"] else None
        return values


InForceFilter = condition_filter(
    "state", _("state"), counts=(_("In force"), Q(counts=True)), expired=(_("Expired"), Q(counts=False))
)


_SEVERITY_KINDS: Final = {Severity.SIGN_UP_REQUIRES_APPROVAL: "waiting"}


def _severity(block: IpBlock) -> Any:
    return mark(block.get_severity_display(), _SEVERITY_KINDS.get(Severity(block.severity), "bad"))


def _ends(block: Any) -> Any:
    if block.expires_at is None:
        return gettext("Never")
    return block.expires_at if block.counts else mark(gettext("Expired"), "plain")


@admin.register(IpBlock)
class IpBlockAdmin(FiledBlockListAdmin):
    """Networks from which sign-ups are refused or need approval, or from which every request is refused."""

    permission = Permission.MANAGE_BLOCKS
    writes = Writes(
        create=lambda by, row, form: sign_up_blocks.block_network(by=by, **form.values()),
        change=lambda by, row, form: sign_up_blocks.change_network_block(by=by, block=row, changes=form.values()),
        remove=lambda by, row: sign_up_blocks.remove_block(by=by, block=row),
    )
    form = NetworkForm
    list_display = (
        shown("network", _("Network"), lambda block: address(block.network), order="first"),
        shown("severity", _("People in this network"), _severity, order="severity"),
        shown("expires_at", _("Ends"), _ends, order="expires_at"),
        shown("comment", _("Note for colleagues"), lambda block: shortened(block.comment, 120), minor=True),
        CREATION,
    )
    list_filter = ("severity", InForceFilter)
    search_fields = ("network",)
    search_help_text = _("An address or network, or words from the note")

    def kind(self, request: HttpRequest) -> BlockFile[Any]:
        """Return the kind of file for IP blocks; lines that would lock out the person who sends this request are refused."""
        return NetworkFile(client_ip(request))

    def get_queryset(self, request: HttpRequest) -> QuerySet[IpBlock]:
        """Return the blocks, each annotated with `counts`: whether it is in force."""
        rows: QuerySet[IpBlock] = super().get_queryset(request)
        return rows.annotate(counts=Exists(list_ip_blocks().filter(pk=OuterRef("pk"))))

    def find_rows(self, rows: QuerySet[IpBlock], term: str) -> QuerySet[IpBlock]:
        try:
            network = network_of(term)
        except ValueError:
            return rows.filter(Q(comment__icontains=term) | Q(network__startswith=term))
        return rows.filter(first__lte=str(network.broadcast_address), last__gte=str(network.network_address))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the form. `meant` (the confirmation) is included only if the block is probably a mistake."""
        fields = ["network", "severity", "lasts", "comment"]
        return [*fields, "meant"] if _warning_for(request.POST, client_ip(request)) else fields

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.own_address = client_ip(request)
        return form
