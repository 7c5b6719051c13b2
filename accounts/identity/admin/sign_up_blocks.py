"""Admin pages of sign-up blocks: e-mail domains, e-mail addresses and usernames."""

from typing import Any, Final

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_column
from accounts.admin.block_lists import AddedOnlyAdmin, FiledBlockListAdmin
from accounts.admin.permitted import RowForm, Writes
from accounts.identity.policies.sign_up import (
    EMAIL_LIMIT,
    blockable_email_domain,
    email_digest,
    is_in_usernames,
    normalised_username,
)
from accounts.identity.queries.sign_up import with_refusals
from accounts.identity.services import sign_up_blocks
from accounts.identity.services.sign_up_files import EmailDomainFile
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, UsernameBlock
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from social.api.staff import action
from social.api.staff_columns import CREATION, States, address, shown
from social.api.staff_forms import StaffForm
from social.kernel.lengths import NAME_LIMIT
from social.kernel.text.names import unambiguous_domain

DIGEST_SHOWN: Final = 12
BLOCKED: Final = _("It is blocked already.")


def _remove(by: Staff, block: Any) -> None:
    sign_up_blocks.remove_block(by=by, block=block)


_OUTCOMES = States(
    refused=(_("Refused"), "bad", Q(allow_with_approval=False)),
    approval=(_("Need approval"), "waiting", Q(allow_with_approval=True)),
)
ApprovalFilter = _OUTCOMES.filter("outcome", _("what happens"))
OUTCOME = _OUTCOMES.column("outcome", _("Sign-ups"), order="allow_with_approval")


class EmailDomainForm(RowForm):
    class Meta:
        model = EmailDomainBlock
        fields = ("domain", "allow_with_approval")
        labels = {
            "domain": _("Domain of e-mail addresses"),
            "allow_with_approval": _("Require approval instead of refusing"),
        }
        help_texts = {"domain": _("Its subdomains are blocked too, and so are the domains whose mail it receives.")}
        widgets = {"domain": forms.TextInput({"dir": "ltr", "placeholder": "example.com"})}
        error_messages = {"domain": {"unique": BLOCKED}}

    def clean_domain(self) -> str:
        name = blockable_email_domain(self.cleaned_data["domain"])
        if name is None:
            raise ValidationError(gettext("This is not a domain."))
        return name


@admin.register(EmailDomainBlock)
class EmailDomainBlockAdmin(AddedOnlyAdmin, FiledBlockListAdmin):
    """E-mail domains from which sign-ups are refused or need approval."""

    permission = Permission.MANAGE_BLOCKS
    kind_of_file = EmailDomainFile
    writes = Writes(
        create=lambda by, row, form: sign_up_blocks.block_email_domain(
            by=by, domain=row.domain, allow_with_approval=row.allow_with_approval
        ),
        remove=_remove,
    )
    form = EmailDomainForm
    list_display = (
        shown("domain", _("Domain"), lambda block: address(unambiguous_domain(block.domain)), order="domain"),
        OUTCOME,
        shown("refused", _("Sign-ups blocked in the last 7 days"), lambda block: block.refused or 0, minor=True),
        CREATION,
    )
    list_filter = (ApprovalFilter,)
    search_fields = ("domain",)
    search_help_text = _("Part of a domain")
    ordering = ("domain",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EmailDomainBlock]:
        """Return the blocks, each with the number of sign-ups that it matched in the last 7 days."""
        return with_refusals(super().get_queryset(request))


class CanonicalEmailForm(RowForm):
    """Form for an e-mail address, or for the fingerprint of an address, which may come from another server."""

    address = forms.CharField(
        label=_("E-mail address"),
        help_text=_(
            "All spellings of the address are blocked. The address itself is not stored, only its "
            "fingerprint. You can also enter a fingerprint from another server (SHA-256, 64 hexadecimal "
            "digits)."
        ),
        max_length=EMAIL_LIMIT,
        widget=forms.TextInput({"dir": "ltr"}),
    )

    class Meta:
        model = CanonicalEmailBlock
        fields = ()

    def clean_address(self) -> str:
        digest = _digest(self.cleaned_data["address"])
        if digest is None:
            raise ValidationError(gettext("This is neither an e-mail address nor a fingerprint."))
        if CanonicalEmailBlock.objects.filter(digest=digest).exists():
            raise ValidationError(BLOCKED)
        return digest


class EmailTestForm(StaffForm):
    email = forms.CharField(label=_("E-mail address"), max_length=EMAIL_LIMIT, widget=forms.TextInput({"dir": "ltr"}))


def _digest(text: str) -> str | None:
    written = text.strip()
    if sign_up_blocks.DIGEST.fullmatch(written.lower()):
        return written.lower()
    return email_digest(written) if all(written.rpartition("@")[::2]) else None


@admin.register(CanonicalEmailBlock)
class CanonicalEmailBlockAdmin(AddedOnlyAdmin):
    """E-mail addresses that cannot be used to sign up."""

    permission = Permission.MANAGE_BLOCKS
    writes = Writes(
        create=lambda by, row, form: sign_up_blocks.block_email_digest(by=by, digest=form.cleaned_data["address"]),
        remove=_remove,
    )
    form = CanonicalEmailForm
    list_display = (
        shown("digest", _("Fingerprint"), lambda block: address(f"{block.digest[:DIGEST_SHOWN]}…")),
        account_column("account", _("Blocked when this account was suspended")),
        shown("created_at", _("Since"), order="id"),
    )
    list_select_related = ("account",)
    search_fields = ("digest",)
    search_help_text = _("An e-mail address, a fingerprint, or the name of a suspended account")
    actions_list = ("test",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["address"] if obj is None else list(self.list_display)

    def find_rows(self, rows: QuerySet[CanonicalEmailBlock], term: str) -> QuerySet[CanonicalEmailBlock]:
        name = Q(account__username__iexact=term.removeprefix("@"))
        return rows.filter(name | Q(digest=_digest(term) or term))

    def name_of(self, row: CanonicalEmailBlock) -> str:
        return f"@{row.account.acct}" if row.account is not None else f"{row.digest[:DIGEST_SHOWN]}…"

    @action(description=_("Test an address"), icon="search", permissions=["manage"])
    def test(self, request: HttpRequest) -> HttpResponse:
        sent = self.ask_for(request, EmailTestForm, _("Is this address blocked?"), yes=gettext("Check"))
        if isinstance(sent, TemplateResponse):
            return sent
        block = CanonicalEmailBlock.objects.select_related("account").filter(digest=email_digest(sent["email"])).first()
        if block is None:
            self.message_user(request, gettext("%(email)s is not blocked.") % sent, messages.INFO)
            return redirect("admin:accounts_canonicalemailblock_changelist")
        self.message_user(request, gettext("%(email)s is blocked.") % sent, messages.WARNING)
        return redirect("admin:accounts_canonicalemailblock_change", block.pk)


class UsernameForm(RowForm):
    class Meta:
        model = UsernameBlock
        fields = ("username", "exact", "allow_with_approval")
        labels = {
            "username": _("Username"),
            "exact": _("Only this name, not those that contain it"),
            "allow_with_approval": _("Require approval instead of refusing"),
        }
        help_texts = {"username": _("Digits count as the letters they look like: adm1n is admin.")}
        widgets = {"username": forms.TextInput({"dir": "ltr", "maxlength": NAME_LIMIT})}

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"].strip().removeprefix("@")
        if not name:
            raise ValidationError(gettext("This is not a name."))
        if not is_in_usernames(name):
            raise ValidationError(
                gettext(
                    "Nobody can choose this name: usernames can contain only the letters a to z, digits and underscores."
                )
            )
        if len(name) > NAME_LIMIT:
            raise ValidationError(gettext("It is too long: at most %(count)d characters.") % {"count": NAME_LIMIT})
        if UsernameBlock.objects.filter(normalised=normalised_username(name)).exists():
            raise ValidationError(BLOCKED)
        return name


def _scope_of(block: UsernameBlock) -> str:
    return gettext("Only this name") if block.exact else gettext("Every name that contains it")


@admin.register(UsernameBlock)
class UsernameBlockAdmin(AddedOnlyAdmin):
    """Usernames for which sign-ups are refused or need approval."""

    permission = Permission.MANAGE_BLOCKS
    writes = Writes(
        create=lambda by, row, form: sign_up_blocks.block_username(
            by=by, username=row.username, exact=row.exact, allow_with_approval=row.allow_with_approval
        ),
        remove=_remove,
    )
    form = UsernameForm
    list_display = (
        shown("username", _("Username"), lambda block: address(block.username), order="normalised"),
        shown("exact", _("What is blocked"), _scope_of, order="exact"),
        OUTCOME,
        CREATION,
    )
    list_filter = (ApprovalFilter,)
    search_fields = ("username",)
    search_help_text = _("Part of a name, in any spelling that the block covers")
    ordering = ("normalised",)

    def find_rows(self, rows: QuerySet[UsernameBlock], term: str) -> QuerySet[UsernameBlock]:
        name = normalised_username(term.removeprefix("@"))
        return rows.filter(normalised__contains=name) if name else rows
