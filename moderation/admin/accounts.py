"""Accounts for staff: search, filters, an overview of each account, and actions on it."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from accounts.admin.accounts import (
    ADDRESS,
    CREATED_TIME,
    FIGURES,
    FOLLOWERS,
    MOMENTS,
    NAME,
    POSTS,
    PROFILE,
    STATE,
    SUMMARY,
    AccountAdmin,
    HomeFilter,
    KindFilter,
    find_addressed,
)
from accounts.admin.acting import acting
from accounts.models import Account, User
from accounts.policies.staff import Staff, outranks_user
from accounts.queries.discovery import find_named
from moderation.acts import ACCOUNT_ACTS
from moderation.admin import account_tabs as tabs
from moderation.queries.account_overview import load_account_overview
from moderation.queries.admin_accounts import by_address, of_status
from moderation.services.notes import remove_note
from social.api.staff_columns import COUNT_LIMIT, ConditionFilter, lines, shown
from social.api.staff_filters import AutocompleteSelectFilter, TextFilter
from social.kernel.text.names import normalise_domain


class StateFilter(ConditionFilter):
    """Filter by sanctions of staff and by the steps of signing up that are still open."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "open": (gettext_lazy("Active"), of_status("active") & Q(limited_at=None)),
        "pending": (gettext_lazy("Waits for approval"), of_status("pending")),
        "disabled": (gettext_lazy("Disabled"), of_status("disabled")),
        "limited": (gettext_lazy("Limited"), of_status("silenced")),
        "sensitized": (gettext_lazy("Media marked as sensitive"), of_status("sensitized")),
        "suspended": (gettext_lazy("Suspended"), of_status("suspended")),
    }


class AddressFilter(TextFilter):
    """Filter by an IP address or a network from which a user signed up or was seen."""

    title = gettext_lazy("IP address or network")
    parameter_name = "ip"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Account]) -> QuerySet[Account]:
        """Return the accounts from this address or network; no accounts if the value is neither."""
        value = (self.value() or "").strip()
        return by_address(queryset, value) if value else queryset


class MailDomainFilter(TextFilter):
    """Filter by the domain of the e-mail address."""

    title = gettext_lazy("mail server")
    parameter_name = "mail_domain"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Account]) -> QuerySet[Account]:
        """Return the accounts with an e-mail address of this domain."""
        value = (self.value() or "").strip().removeprefix("@")
        return queryset.filter(user__email__iendswith=f"@{value}") if value else queryset


class ServerFilter(TextFilter):
    """Filter by the account's server."""

    title = gettext_lazy("server")
    parameter_name = "server"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Account]) -> QuerySet[Account]:
        """Return the accounts of this server."""
        value = (self.value() or "").strip()
        return queryset.filter(domain=normalise_domain(value) or "") if value else queryset


LAST_SEEN = shown(
    "active_at",
    gettext_lazy("Last seen"),
    lambda account: getattr(getattr(account, "user", None), "active_at", None),
    minor=True,
)


@admin.register(Account)
class ModeratedAccountAdmin(AccountAdmin):
    """Local and remote accounts, with the acts of staff on them."""

    acts = ACCOUNT_ACTS
    in_palette = True
    list_display = (ADDRESS, NAME, STATE, POSTS, FOLLOWERS, CREATED_TIME, LAST_SEEN)
    list_filter = (
        HomeFilter,
        StateFilter,
        ("user__role", AutocompleteSelectFilter),
        AddressFilter,
        MailDomainFilter,
        ServerFilter,
        KindFilter,
    )
    list_filter_submit = True
    search_fields = ("username",)
    search_help_text = gettext_lazy("A name, an e-mail address, @anna, anna@there.example, or a part of one")
    actions = ("limit", "sensitize", "disable", "suspend")
    fieldsets = (
        lines(None, *SUMMARY, tabs.EMAIL, tabs.SIGN_IN, tabs.ROLE, tabs.REASON),
        PROFILE,
        lines(gettext_lazy("Posts"), *FIGURES[1]["fields"], tabs.POSTS_TAB, tab=True),
        lines(gettext_lazy("Strikes and notes"), tabs.STRIKES_TAB, tabs.NOTES_TAB, tab=True),
        lines(
            gettext_lazy("Where from"),
            tabs.INVITED_BY,
            tabs.LANGUAGE,
            tabs.LAST_SEEN,
            tabs.ADDRESSES_TAB,
            tabs.SESSIONS_TAB,
            tabs.SAME_ADDRESS_TAB,
            tabs.SAME_DOMAIN_TAB,
            tab=True,
        ),
        lines(gettext_lazy("Reports"), tabs.REPORTS_TAB, tabs.REPORTED_TAB, tab=True),
        MOMENTS,
        lines(gettext_lazy("Audit log"), tabs.AUDIT_TAB, tab=True),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Return accounts, annotated from allauth's tables with whether the user has a confirmed address, and second
        factors.
        """
        confirmed = EmailAddress.objects.filter(user=OuterRef("user"), primary=True, verified=True)
        factors = Authenticator.objects.filter(user=OuterRef("user"))
        return super().get_queryset(request).annotate(confirmed=Exists(confirmed), factors=Exists(factors))

    def outranks(self, by: Staff, row: Account) -> bool:
        return outranks_user(by, getattr(row, "user", None))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the account, which is read only once per request."""
        known: dict[str, Any] = request.__dict__.setdefault("staff_accounts", {})
        if request.method == "POST":
            # The action changes the account: it must be read again.
            return super().get_object(request, object_id, from_field)
        if object_id not in known:
            known[object_id] = super().get_object(request, object_id, from_field)
        return known[object_id]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Render the account with its overview."""
        account = context["original"]
        account.__dict__["overview"] = load_account_overview(account)
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Account], search_term: str
    ) -> tuple[QuerySet[Account], bool]:
        """Find accounts by address, name or e-mail address."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = find_addressed(term)
        found += User.objects.filter(email__icontains=term).values_list("account_id", flat=True)[:COUNT_LIMIT]
        if "@" not in term:
            found += find_named(term, COUNT_LIMIT)
        return queryset.filter(id__one_of=list(set(found))), False

    def get_custom_urls(self) -> Any:
        """Return the URL of the page on which a note is removed."""
        return (("<int:account_id>/notes/<int:note_id>/remove/", "accounts_account_remove_note", self._remove_note),)

    def _remove_note(self, request: HttpRequest, *, account_id: int, note_id: int, **_rest: Any) -> HttpResponse:
        by = acting(request)
        return self.one(
            request,
            account_id,
            lambda _account: remove_note(by=by, note_id=note_id),
            verb="remove_note",
            done=gettext_lazy("The note is removed."),
            question=gettext_lazy("Remove this note?"),
        )
