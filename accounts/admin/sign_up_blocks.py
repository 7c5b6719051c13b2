"""Blocks of sign-ups for staff: e-mail domains, e-mail addresses and usernames."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.accounts import account_link
from accounts.admin.acting import acting
from accounts.admin.block_files import FiledBlockListAdmin
from accounts.admin.block_lists import AddedOnlyAdmin, BlockListAdmin
from accounts.admin.permitted import RowForm
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, UsernameBlock
from accounts.models.user import Permission
from accounts.policies.sign_up import EMAIL_LIMIT, email_digest, is_in_usernames, normalised_username
from accounts.policies.staff import Staff
from accounts.queries.sign_up import with_refusals
from accounts.services import sign_up_blocks
from accounts.services.block_files import BlockFile
from accounts.services.sign_up_files import EmailDomainFile
from social.api.staff import action
from social.api.staff_columns import ConditionFilter, address, mark, shown
from social.api.staff_forms import StaffForm
from social.kernel.lengths import NAME_LIMIT
from social.kernel.text.names import normalise_domain, unambiguous_domain

DIGEST_SHOWN: Final = 12
BLOCKED: Final = gettext_lazy("It is blocked already.")


class SignUpBlockAdmin(BlockListAdmin):
    """A list of sign-up blocks."""

    permission = Permission.MANAGE_BLOCKS

    def take_back(self, by: Staff, row: Any) -> None:
        sign_up_blocks.remove_block(by=by, block=row)


class ApprovalFilter(ConditionFilter):
    """Filter by whether matching sign-ups are refused or need approval."""

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
        error_messages = {"domain": {"unique": BLOCKED}}

    def clean_domain(self) -> str:
        """Return the domain in the form in which it is stored."""
        name = normalise_domain(self.cleaned_data["domain"].removeprefix("@"))
        if name is None:
            raise ValidationError(_("This is no domain."))
        return name


def _mail_domain(block: EmailDomainBlock) -> Any:
    return address(unambiguous_domain(block.domain))


@admin.register(EmailDomainBlock)
class EmailDomainBlockAdmin(AddedOnlyAdmin, SignUpBlockAdmin, FiledBlockListAdmin):
    """E-mail domains whose sign-ups are refused or need approval."""

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

    def kind(self, request: HttpRequest) -> BlockFile[Any]:
        """The file of blocks of e-mail domains."""
        return EmailDomainFile()

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailDomainBlock]:
        """Blocks with the number of sign-ups that they matched in the last 7 days."""
        return with_refusals(super().get_queryset(request))

    def save_model(self, request: HttpRequest, obj: EmailDomainBlock, form: Any, change: bool) -> None:
        """Create the block through the service."""
        made = sign_up_blocks.block_email_domain(
            by=acting(request), domain=obj.domain, allow_with_approval=obj.allow_with_approval
        )
        obj.pk = made.pk


class CanonicalEmailForm(RowForm):
    """An e-mail address, or the fingerprint of an address, from another server."""

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
        """Return the fingerprint of the address."""
        digest = _digest(self.cleaned_data["address"])
        if digest is None:
            raise ValidationError(_("This is neither an e-mail address nor a fingerprint."))
        if CanonicalEmailBlock.objects.filter(digest=digest).exists():
            raise ValidationError(BLOCKED)
        return digest


class EmailTestForm(StaffForm):
    """An e-mail address to compare with the blocks."""

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
class CanonicalEmailBlockAdmin(AddedOnlyAdmin, SignUpBlockAdmin):
    """E-mail addresses that cannot be used to sign up."""

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
        """Return the fields of the form for a new row, and the columns of the list for an existing one."""
        return ["address"] if obj is None else list(self.list_display)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[CanonicalEmailBlock], search_term: str
    ) -> tuple[QuerySet[CanonicalEmailBlock], bool]:
        """Return the block of the address or fingerprint in the term, or the blocks of the account that it names."""
        term = search_term.strip()
        if not term:
            return queryset, False
        name = Q(account__username__iexact=term.removeprefix("@"))
        return queryset.filter(name | Q(digest=_digest(term) or term)), False

    def name_of(self, row: CanonicalEmailBlock) -> str:
        """The account to which the address belonged, or the beginning of the fingerprint."""
        return f"@{row.account.acct}" if row.account is not None else f"{row.digest[:DIGEST_SHOWN]}…"

    def save_model(self, request: HttpRequest, obj: CanonicalEmailBlock, form: Any, change: bool) -> None:
        """Create the block through the service."""
        made = sign_up_blocks.block_email_digest(by=acting(request), digest=form.cleaned_data["address"])
        obj.pk, obj.digest = made.pk, made.digest

    @action(description=gettext_lazy("Test an address"), icon="search", permissions=["manage"])
    def test(self, request: HttpRequest) -> HttpResponse:
        """Show whether an address is blocked."""
        sent = self.ask_for(request, EmailTestForm, gettext_lazy("Is this address blocked?"), yes=_("Look"))
        if isinstance(sent, TemplateResponse):
            return sent
        found = CanonicalEmailBlock.objects.select_related("account").filter(digest=email_digest(sent["email"])).first()
        if found is None:
            self.message_user(request, _("%(email)s is not blocked.") % sent, messages.INFO)
            return redirect("admin:accounts_canonicalemailblock_changelist")
        self.message_user(request, _("%(email)s is blocked.") % sent, messages.WARNING)
        return redirect("admin:accounts_canonicalemailblock_change", found.pk)


class UsernameForm(RowForm):
    """A username to be blocked."""

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
        """Return the name if it is valid in usernames and not blocked yet. Raises ValidationError."""
        name: str = self.cleaned_data["username"].strip().removeprefix("@")
        if not name:
            raise ValidationError(_("This is no name."))
        if not is_in_usernames(name):
            raise ValidationError(
                _("Nobody can choose that: usernames have only the letters a to z, digits and underscores.")
            )
        if len(name) > NAME_LIMIT:
            raise ValidationError(_("It is too long: %(count)d characters at most.") % {"count": NAME_LIMIT})
        if UsernameBlock.objects.filter(normalised=normalised_username(name)).exists():
            raise ValidationError(BLOCKED)
        return name


def _reach(block: UsernameBlock) -> str:
    return _("Only this name") if block.exact else _("Every name that contains it")


@admin.register(UsernameBlock)
class UsernameBlockAdmin(AddedOnlyAdmin, SignUpBlockAdmin):
    """Usernames whose sign-ups are refused or need approval."""

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
        """Blocks whose name contains the term, in the normalised form in which sign-ups are compared."""
        term = normalised_username(search_term.strip().removeprefix("@"))
        return (queryset.filter(normalised__contains=term) if term else queryset), False

    def save_model(self, request: HttpRequest, obj: UsernameBlock, form: Any, change: bool) -> None:
        """Create the block through the service."""
        made = sign_up_blocks.block_username(
            by=acting(request), username=obj.username, exact=obj.exact, allow_with_approval=obj.allow_with_approval
        )
        obj.pk = made.pk
