"""Accounts for staff: search, filters, an overview of each account, and actions on it."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts.admin import accounts as columns
from accounts.admin.acting import ActingAdmin, acting
from accounts.models import Account, SuppressedSuggestion, User
from accounts.policies.staff import Staff, outranks_user
from accounts.queries.discovery import find_named
from moderation.acts import ACCOUNT_ACTS
from moderation.admin import account_tabs as tabs
from moderation.admin.person_cards import shown_card
from moderation.queries.account_overview import load_account_overview
from moderation.queries.admin_accounts import by_address, of_status, recommended, writing_in
from moderation.services.acting import remove_note
from social.api.staff_acts import BoundAct
from social.api.staff_columns import COUNT_LIMIT, condition_filter, lines, shown
from social.api.staff_filters import AutocompleteSelectFilter, text_filter
from social.kernel.text.names import normalise_domain

StateFilter = condition_filter(
    "state",
    _("state"),
    open=(_("Active"), of_status("active") & Q(limited_at=None)),
    pending=(_("Waiting for approval"), of_status("pending")),
    disabled=(_("Disabled"), of_status("disabled")),
    limited=(_("Limited"), of_status("silenced")),
    sensitized=(_("Media marked as sensitive"), of_status("sensitized")),
    suspended=(_("Suspended"), of_status("suspended")),
)


AddressFilter = text_filter("ip", _("IP address or network"), by_address)
MailDomainFilter = text_filter(
    "mail_domain",
    _("mail server"),
    lambda rows, value: rows.filter(user__email__iendswith=f"@{value.removeprefix('@')}"),
)
ServerFilter = text_filter("server", _("server"), lambda rows, value: rows.filter(domain=normalise_domain(value) or ""))
SuggestedFilter = condition_filter(
    "suggested",
    _("suggestions"),
    yes=(_("Suggested to everybody"), Q(id__one_of=recommended())),
    no=(_("Excluded by staff"), Q(id__one_of=ArraySubquery(SuppressedSuggestion.objects.values("account_id")))),
)
LanguageFilter = text_filter("language", _("language in which suggested accounts post (de)"), writing_in)
LAST_SEEN = shown(
    "active_at", _("Last seen"), lambda account: getattr(getattr(account, "user", None), "active_at", None), minor=True
)


@admin.register(Account)
class AccountAdmin(ActingAdmin):
    acts = ACCOUNT_ACTS
    in_palette = True
    person_column = "pk"
    change_form_template = "admin/account.html"
    list_display = (
        columns.ADDRESS,
        columns.NAME,
        columns.STATE,
        columns.POSTS,
        columns.FOLLOWERS,
        columns.CREATED_TIME,
        LAST_SEEN,
    )
    list_filter = (
        columns.HomeFilter,
        StateFilter,
        ("user__role", AutocompleteSelectFilter),
        AddressFilter,
        MailDomainFilter,
        ServerFilter,
        columns.KindFilter,
        SuggestedFilter,
        LanguageFilter,
    )
    search_fields = ("username",)
    search_help_text = _("A name, an e-mail address, @anna, anna@there.example, or a part of one")
    list_select_related = ("stat",)
    actions = ("limit",)
    fieldsets = (
        lines(None, *columns.SUMMARY, tabs.EMAIL, tabs.SIGN_IN, tabs.ROLE, tabs.REASON),
        columns.PROFILE,
        lines(_("Posts"), *columns.FIGURES, tabs.POSTS_TAB, tab=True),
        lines(_("Strikes and notes"), tabs.STRIKES_TAB, tabs.NOTES_TAB, tab=True),
        lines(
            _("Where from"),
            tabs.INVITED_BY,
            tabs.LANGUAGE,
            tabs.LAST_SEEN,
            tabs.ADDRESSES_TAB,
            tabs.SESSIONS_TAB,
            tabs.SAME_ADDRESS_TAB,
            tabs.SAME_DOMAIN_TAB,
            tab=True,
        ),
        lines(_("Reports"), tabs.REPORTS_TAB, tabs.REPORTED_TAB, tab=True),
        columns.MOMENTS,
        lines(_("Audit log"), tabs.AUDIT_TAB, tab=True),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Return accounts with the related rows and the annotations that a page shows."""
        confirmed = EmailAddress.objects.filter(user=OuterRef("user"), primary=True, verified=True)
        factors = Authenticator.objects.filter(user=OuterRef("user"))
        suppressed = SuppressedSuggestion.objects.filter(account=OuterRef("pk"))
        rows: QuerySet[Account] = super().get_queryset(request).select_related("stat", "user__role")
        return rows.annotate(confirmed=Exists(confirmed), factors=Exists(factors), suppressed=Exists(suppressed))

    def name_of(self, row: Account) -> str:
        return f"{row.display_name} @{row.acct}".strip()

    def outranks(self, by: Staff, row: Account) -> bool:
        return outranks_user(by, getattr(row, "user", None))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the account. A GET request reads the account from the database only once."""
        known: dict[str, Any] = request.__dict__.setdefault("staff_accounts", {})
        # A POST request reads the account on every call, because the request may have changed the account.
        if object_id not in known or request.method == "POST":
            known[object_id] = super().get_object(request, object_id, from_field)
        return known[object_id]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        account = context["original"]
        overview = account.__dict__["overview"] = load_account_overview(account)
        context["people"] = [shown_card(overview.card)]
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer

    def find_rows(self, rows: QuerySet[Account], term: str) -> QuerySet[Account]:
        ids = columns.find_addressed(term)
        ids += User.objects.filter(email__icontains=term).values_list("account_id", flat=True)[:COUNT_LIMIT]
        if "@" not in term:
            ids += find_named(term, COUNT_LIMIT)
        return rows.filter(id__one_of=list(set(ids)))

    def get_custom_urls(self) -> Any:
        return (("<int:account_id>/notes/<int:note_id>/remove/", "accounts_account_remove_note", self._remove_note),)

    def _remove_note(self, request: HttpRequest, *, account_id: int, note_id: int, **_rest: Any) -> HttpResponse:
        def remove(_account: Account) -> None:
            remove_note(by=acting(request), note_id=note_id)

        act = BoundAct(remove, "remove_note", _("The note is removed."), _("Remove this note?"))
        return self.one(request, account_id, act)
