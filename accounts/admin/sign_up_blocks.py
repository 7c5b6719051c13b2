"""Blocks of sign-ups for staff: e-mail domains, e-mail addresses, networks and usernames."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import account_link
from accounts.admin.block_lists import AddedOnlyAdmin, BlockListAdmin
from accounts.admin.permitted import RowForm
from accounts.admin.users import acting
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock, Severity, UsernameBlock
from accounts.models.sign_up_block import BLOCK_COMMENT_LIMIT
from accounts.models.user import Permission
from accounts.policies.sign_up import EMAIL_LIMIT, email_digest, network_of, normalised_username
from accounts.policies.staff import Staff
from accounts.queries.sign_up import list_ip_blocks, with_refusals
from accounts.services import sign_up_blocks
from social.api.addresses import client_ip
from social.api.staff import action
from social.api.staff_columns import ConditionFilter, address, mark, shortened, shown
from social.api.staff_forms import StaffForm
from social.kernel import clock
from social.kernel.lengths import NAME_LIMIT
from social.kernel.text.names import normalise_domain, unambiguous_domain

DIGEST_SHOWN: Final = 12
_DAYS: Final = (1, 7, 14, 30, 90, 365)
_BLOCKED: Final = gettext_lazy("It is blocked already.")


class _SignUpBlockAdmin(BlockListAdmin):
    permission = Permission.MANAGE_BLOCKS

    def take_back(self, by: Staff, row: Any) -> None:
        sign_up_blocks.remove_block(by=by, block=row)


class ApprovalFilter(ConditionFilter):
    """Filter by what happens to who signs up with it."""

    title = gettext_lazy("what happens")
    parameter_name = "outcome"
    conditions = {
        "refused": (gettext_lazy("Refused"), Q(allow_with_approval=False)),
        "approval": (gettext_lazy("Staff are asked"), Q(allow_with_approval=True)),
    }


def _outcome(block: EmailDomainBlock | UsernameBlock) -> Any:
    return mark(_("Staff are asked"), "waiting") if block.allow_with_approval else mark(_("Refused"), "bad")


OUTCOME = shown("outcome", gettext_lazy("Sign-ups are"), _outcome, order="allow_with_approval")
MADE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


class EmailDomainForm(RowForm):
    """A domain of e-mail addresses, in any spelling."""

    class Meta:
        model = EmailDomainBlock
        fields = ("domain", "allow_with_approval")
        labels = {
            "domain": gettext_lazy("Domain of e-mail addresses"),
            "allow_with_approval": gettext_lazy("Ask staff instead of refusing"),
        }
        help_texts = {
            "domain": gettext_lazy("Its subdomains are blocked too, and the domains whose mail it takes."),
        }
        widgets = {"domain": forms.TextInput({"dir": "ltr", "placeholder": "example.com"})}
        error_messages = {"domain": {"unique": _BLOCKED}}

    def clean_domain(self) -> str:
        """Return the name as it is stored."""
        name = normalise_domain(self.cleaned_data["domain"].removeprefix("@"))
        if name is None:
            raise ValidationError(_("This is no domain."))
        return name


def _mail_domain(block: EmailDomainBlock) -> Any:
    return address(unambiguous_domain(block.domain))


@admin.register(EmailDomainBlock)
class EmailDomainBlockAdmin(AddedOnlyAdmin, _SignUpBlockAdmin):
    """Domains of e-mail addresses that nobody signs up with."""

    form = EmailDomainForm
    list_display = (
        shown("domain", gettext_lazy("Domain"), _mail_domain, order="domain"),
        OUTCOME,
        shown("refused", gettext_lazy("Sign-ups met it in 7 days"), lambda block: block.refused or 0, minor=True),
        MADE,
    )
    list_filter = (ApprovalFilter,)
    search_fields = ("domain",)
    search_help_text = gettext_lazy("Part of a domain")
    ordering = ("domain",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailDomainBlock]:
        """Blocks with how many sign-ups they met of late."""
        return with_refusals(super().get_queryset(request))

    def save_model(self, request: HttpRequest, obj: EmailDomainBlock, form: Any, change: bool) -> None:
        """Block it by the service."""
        made = sign_up_blocks.block_email_domain(
            by=acting(request), domain=obj.domain, allow_with_approval=obj.allow_with_approval
        )
        obj.pk = made.pk


class CanonicalEmailForm(RowForm):
    """An e-mail address, or its fingerprint as another server gives it."""

    address = forms.CharField(
        label=gettext_lazy("E-mail address"),
        help_text=gettext_lazy(
            "It is blocked in all its spellings and not kept: only its fingerprint is. A fingerprint from another server "
            "(SHA-256, 64 hexadecimal digits) is taken too."
        ),
        max_length=EMAIL_LIMIT,
        widget=forms.TextInput({"dir": "ltr"}),
    )

    class Meta:
        model = CanonicalEmailBlock
        fields = ()

    def clean_address(self) -> str:
        """Return the fingerprint."""
        digest = _digest(self.cleaned_data["address"])
        if digest is None:
            raise ValidationError(_("This is neither an e-mail address nor a fingerprint."))
        if CanonicalEmailBlock.objects.filter(digest=digest).exists():
            raise ValidationError(_BLOCKED)
        return digest


class EmailTestForm(StaffForm):
    """An address to be looked for."""

    email = forms.CharField(
        label=gettext_lazy("E-mail address"), max_length=EMAIL_LIMIT, widget=forms.TextInput({"dir": "ltr"})
    )


def _digest(text: str) -> str | None:
    written = text.strip()
    if sign_up_blocks.DIGEST.fullmatch(written.lower()):
        return written.lower()
    return email_digest(written) if all(written.rpartition("@")[::2]) else None


def _whose(block: CanonicalEmailBlock) -> Any:
    return account_link(block.account) if block.account is not None else None


@admin.register(CanonicalEmailBlock)
class CanonicalEmailBlockAdmin(AddedOnlyAdmin, _SignUpBlockAdmin):
    """E-mail addresses that nobody signs up with."""

    form = CanonicalEmailForm
    list_display = (
        shown("digest", gettext_lazy("Fingerprint"), lambda block: address(f"{block.digest[:DIGEST_SHOWN]}…")),
        shown("account", gettext_lazy("Since the suspension of"), _whose),
        shown("created_at", gettext_lazy("Since"), order="id"),
    )
    list_select_related = ("account",)
    search_fields = ("digest",)
    search_help_text = gettext_lazy("An e-mail address, a fingerprint, or the name of a suspended account")
    ordering = ("-id",)
    actions_list = ("test",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what is asked for a new row, and what the list shows of one that is there."""
        return ["address"] if obj is None else list(self.list_display)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[CanonicalEmailBlock], search_term: str
    ) -> tuple[QuerySet[CanonicalEmailBlock], bool]:
        """Return the block of an address or fingerprint, or those of an account."""
        term = search_term.strip()
        if not term:
            return queryset, False
        name = Q(account__username__iexact=term.removeprefix("@"))
        return queryset.filter(name | Q(digest=_digest(term) or term)), False

    def name_of(self, row: CanonicalEmailBlock) -> str:
        """The account whose address it was, or the beginning of its fingerprint."""
        return f"@{row.account.acct}" if row.account is not None else f"{row.digest[:DIGEST_SHOWN]}…"

    def save_model(self, request: HttpRequest, obj: CanonicalEmailBlock, form: Any, change: bool) -> None:
        """Block it by the service."""
        made = sign_up_blocks.block_email_digest(by=acting(request), digest=form.cleaned_data["address"])
        obj.pk, obj.digest = made.pk, made.digest

    @action(description=gettext_lazy("Test an address"), icon="search", permissions=["manage"])
    def test(self, request: HttpRequest) -> HttpResponse:
        """Say whether an address is blocked."""
        sent = self.ask_for(request, EmailTestForm, gettext_lazy("Is this address blocked?"), yes=_("Look"))
        if isinstance(sent, TemplateResponse):
            return sent
        found = CanonicalEmailBlock.objects.select_related("account").filter(digest=email_digest(sent["email"])).first()
        if found is None:
            self.message_user(request, _("%(email)s is not blocked.") % sent, messages.INFO)
            return redirect("admin:accounts_canonicalemailblock_changelist")
        self.message_user(request, _("%(email)s is blocked.") % sent, messages.WARNING)
        return redirect("admin:accounts_canonicalemailblock_change", found.pk)


def _from_now(days: int) -> str:
    return ngettext("%(count)d day from now", "%(count)d days from now", days) % {"count": days}


def _locks_out(sent: Mapping[str, Any], own_address: str) -> bool:
    """Tell whether a block that was sent refuses every request of who sends it."""
    if sent.get("severity") != Severity.NO_ACCESS:
        return False
    try:
        return ipaddress.ip_address(own_address) in network_of(sent.get("network", ""))
    except ValueError:
        return False


class NetworkForm(RowForm):
    """A network, what its people may not do, and until when."""

    lasts = forms.ChoiceField(label=gettext_lazy("How long"), required=False)
    comment = forms.CharField(
        label=gettext_lazy("Note for colleagues"),
        required=False,
        max_length=BLOCK_COMMENT_LIMIT,
        widget=forms.Textarea({"rows": 2, "dir": "auto"}),
    )
    own = forms.BooleanField(label=gettext_lazy("Block it nevertheless"), required=False)
    # Of who fills it in; set for each request.
    own_address = ""

    class Meta:
        model = IpBlock
        fields = ("network", "severity", "comment")
        labels = {
            "network": gettext_lazy("Address or network"),
            "severity": gettext_lazy("Its people"),
        }
        help_texts = {"network": gettext_lazy("192.0.2.7, 192.0.2.0/24 or 2001:db8::/48")}
        widgets = {"network": forms.TextInput({"dir": "ltr"})}
        error_messages = {"network": {"unique": _BLOCKED}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = [(str(days), _from_now(days)) for days in _DAYS]
        ends = self.instance.expires_at
        stays = [("stays", _("until %(time)s UTC") % {"time": f"{ends:%Y-%m-%d %H:%M}"})] if ends is not None else []
        self.fields["lasts"].choices = [*stays, ("", _("For ever")), *days]  # type: ignore[attr-defined]
        self.fields["severity"].initial = Severity.SIGN_UP_BLOCK
        if not _locks_out(self.data, self.own_address):
            del self.fields["own"]

    def clean_network(self) -> str:
        """Return the network as it is stored."""
        try:
            return str(network_of(self.cleaned_data["network"]))
        except ValueError:
            raise ValidationError(_("This is neither an address nor a network.")) from None

    def clean_own(self) -> bool:
        """Refuse to lock out who asks for it, unless that is meant."""
        if not self.cleaned_data["own"]:
            text = _(
                "You are at %(address)s yourself: neither you nor anybody else there could open this server any more."
            )
            raise ValidationError(text % {"address": self.own_address})
        return True

    def values(self) -> dict[str, Any]:
        """Return what was written, for the service."""
        sent = self.cleaned_data
        found = {name: sent[name] for name in ("network", "comment")} | {"severity": Severity(sent["severity"])}
        if sent["lasts"] != "stays":
            found["expires_at"] = clock.now() + timedelta(days=int(sent["lasts"])) if sent["lasts"] else None
        return found


class InForceFilter(ConditionFilter):
    """Filter by whether it counts now."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "counts": (gettext_lazy("In force"), Q(counts=True)),
        "expired": (gettext_lazy("Expired"), Q(counts=False)),
    }


_SEVERITY_KINDS: Final = {Severity.SIGN_UP_REQUIRES_APPROVAL: "waiting"}


def _severity(block: IpBlock) -> Any:
    return mark(block.get_severity_display(), _SEVERITY_KINDS.get(Severity(block.severity), "bad"))


def _ends(block: Any) -> Any:
    if block.expires_at is None:
        return _("Never")
    return block.expires_at if block.counts else mark(_("Expired"), "plain")


@admin.register(IpBlock)
class IpBlockAdmin(_SignUpBlockAdmin):
    """Networks whose people may not sign up, or get no answer."""

    form = NetworkForm
    list_display = (
        shown("network", gettext_lazy("Network"), lambda block: address(block.network), order="first"),
        shown("severity", gettext_lazy("Its people"), _severity, order="severity"),
        shown("expires_at", gettext_lazy("Ends"), _ends, order="expires_at"),
        shown("comment", gettext_lazy("Note for colleagues"), lambda block: shortened(block.comment, 120), minor=True),
        MADE,
    )
    list_filter = ("severity", InForceFilter)
    search_fields = ("network",)
    search_help_text = gettext_lazy("An address or network, or words of the note")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[IpBlock]:
        """Blocks with whether they count now."""
        rows: QuerySet[IpBlock] = super().get_queryset(request)
        return rows.annotate(counts=Exists(list_ip_blocks().filter(pk=OuterRef("pk"))))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[IpBlock], search_term: str
    ) -> tuple[QuerySet[IpBlock], bool]:
        """Return the blocks that an address or network meets, or those with these words in the note."""
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            network = network_of(term)
        except ValueError:
            return queryset.filter(Q(comment__icontains=term) | Q(network__startswith=term)), False
        met = Q(first__lte=str(network.broadcast_address), last__gte=str(network.network_address))
        return queryset.filter(met), False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of the form; the last one is asked only of who would lock themselves out."""
        asked = ["network", "severity", "lasts", "comment"]
        return [*asked, "own"] if _locks_out(request.POST, client_ip(request)) else asked

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form, which knows where it is filled in."""
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.own_address = client_ip(request)
        return form

    def save_model(self, request: HttpRequest, obj: IpBlock, form: Any, change: bool) -> None:
        """Write it by the service."""
        if change:
            sign_up_blocks.change_network_block(by=acting(request), block=obj, changes=form.values())
        else:
            obj.pk = sign_up_blocks.block_network(by=acting(request), **form.values()).pk


class UsernameForm(RowForm):
    """A name nobody chooses."""

    class Meta:
        model = UsernameBlock
        fields = ("username", "exact", "allow_with_approval")
        labels = {
            "username": gettext_lazy("Username"),
            "exact": gettext_lazy("Only this name, not those that contain it"),
            "allow_with_approval": gettext_lazy("Ask staff instead of refusing"),
        }
        help_texts = {"username": gettext_lazy("Digits count as the letters they look like: adm1n is admin.")}
        widgets = {"username": forms.TextInput({"dir": "ltr", "maxlength": NAME_LIMIT})}

    def clean_username(self) -> str:
        """Return a name that is not blocked yet."""
        name: str = self.cleaned_data["username"].strip().removeprefix("@")
        if not name:
            raise ValidationError(_("This is no name."))
        if len(name) > NAME_LIMIT:
            raise ValidationError(_("It is too long: %(count)d characters at most.") % {"count": NAME_LIMIT})
        if UsernameBlock.objects.filter(normalised=normalised_username(name)).exists():
            raise ValidationError(_BLOCKED)
        return name


def _reach(block: UsernameBlock) -> str:
    return _("Only this name") if block.exact else _("Every name that contains it")


@admin.register(UsernameBlock)
class UsernameBlockAdmin(AddedOnlyAdmin, _SignUpBlockAdmin):
    """Names that nobody signs up with."""

    form = UsernameForm
    list_display = (
        shown("username", gettext_lazy("Username"), lambda block: address(block.username), order="normalised"),
        shown("exact", gettext_lazy("Meant is"), _reach, order="exact"),
        OUTCOME,
        MADE,
    )
    list_filter = (ApprovalFilter,)
    search_fields = ("username",)
    search_help_text = gettext_lazy("Part of a name, also as it would be written to get around the block")
    ordering = ("normalised",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[UsernameBlock], search_term: str
    ) -> tuple[QuerySet[UsernameBlock], bool]:
        """Return names with a part of them, compared as the block compares."""
        term = normalised_username(search_term.strip().removeprefix("@"))
        return (queryset.filter(normalised__contains=term) if term else queryset), False

    def save_model(self, request: HttpRequest, obj: UsernameBlock, form: Any, change: bool) -> None:
        """Block it by the service."""
        made = sign_up_blocks.block_username(
            by=acting(request), username=obj.username, exact=obj.exact, allow_with_approval=obj.allow_with_approval
        )
        obj.pk = made.pk
