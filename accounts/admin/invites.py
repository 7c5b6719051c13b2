"""Invitations for staff, who see their inviters and numbers of uses, and can create and end invitations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from accounts.admin.accounts import account_link
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import Invite
from accounts.models.user import Permission
from accounts.queries.sign_up import usable_invites
from accounts.services.activation import COMMENT_LIMIT, create_invite, end_invite
from social.api.staff_acts import Act, Words
from social.api.staff_columns import ConditionFilter, address, lines, link, mark, shortened, shown
from social.api.staff_filters import AutocompleteSelectFilter
from social.api.staff_forms import StaffForm
from social.kernel import links
from social.kernel.errors import KernelError

_DAYS = (
    ("", gettext_lazy("For ever")),
    ("1", gettext_lazy("One day")),
    ("7", gettext_lazy("One week")),
    ("30", gettext_lazy("30 days")),
)


class InviteForm(StaffForm):
    """The options of a new invitation."""

    max_uses = forms.IntegerField(
        label=gettext_lazy("How many people (empty: any number)"), required=False, min_value=1, max_value=2**31 - 1
    )
    days = forms.ChoiceField(label=gettext_lazy("How long it is good"), required=False, choices=_DAYS, initial="7")
    comment = forms.CharField(
        label=gettext_lazy("What it is for (for staff)"),
        required=False,
        max_length=COMMENT_LIMIT,
        widget=forms.Textarea({"rows": 2, "dir": "auto"}),
    )


class InviteStateFilter(ConditionFilter):
    """Filter by whether the invitation can be used now."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {"usable": (gettext_lazy("Good"), Q(usable=True)), "ended": (gettext_lazy("Ended"), Q(usable=False))}


def _inviter(invite: Invite) -> Any:
    return account_link(invite.inviter.account) if invite.inviter is not None else _("The operator")


def _uses(invite: Invite) -> str:
    return str(invite.uses) if invite.max_uses is None else f"{invite.uses} / {invite.max_uses}"


def _state(invite: Invite) -> Any:
    return mark(_("Good"), "good") if invite.__dict__.get("usable") else mark(_("Ended"), "plain")


def _address(invite: Invite) -> Any:
    url = links.web_url(reverse("invitation", args=[invite.code]))
    return link(url, url)


CODE = shown("code", gettext_lazy("Code"), lambda invite: address(invite.code), order="code")
INVITER = shown("inviter", gettext_lazy("Made by"), _inviter)
USES = shown("uses", gettext_lazy("Used"), _uses, order="uses")
STATE = shown("state", gettext_lazy("State"), _state)
COMMENT = shown("comment", gettext_lazy("Comment"), lambda invite: shortened(invite.comment, 80), minor=True)
ENDS = shown("expires_at", gettext_lazy("Good until"), order="expires_at", minor=True)
MADE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


@admin.register(Invite)
class InviteAdmin(PermittedAdmin):
    """Invitations of all local users and of the operator."""

    permission = Permission.MANAGE_INVITES
    list_display = (CODE, INVITER, USES, STATE, COMMENT, ENDS, MADE)
    list_filter = (InviteStateFilter, ("inviter", AutocompleteSelectFilter))
    list_filter_submit = True
    list_select_related = ("inviter__account",)
    search_fields = ("code",)
    search_help_text = gettext_lazy("A code, a comment, or the name of who has made it")
    ordering = ("-id",)
    acts = (
        Act(
            "end",
            gettext_lazy("End the chosen invitations"),
            lambda by, invite: end_invite(by=by, invite=invite),
            verb="expire",
            many=Words(
                gettext_lazy("End these invitations? Nobody can sign up with them any more."),
                ngettext_lazy("%(count)d invitation was ended.", "%(count)d invitations were ended.", "count"),
            ),
        ),
    )
    fieldsets: ClassVar[Any] = (
        lines(
            None, CODE, shown("address", gettext_lazy("Address"), _address), INVITER, USES, STATE, COMMENT, ENDS, MADE
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invite]:
        """Invitations, each annotated with `usable`: whether it can be used to sign up now."""
        rows: QuerySet[Invite] = super().get_queryset(request)
        usable = usable_invites().filter(pk=OuterRef("pk"))
        return rows.select_related("inviter__account").annotate(usable=Exists(usable))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Invite], search_term: str
    ) -> tuple[QuerySet[Invite], bool]:
        """Invitations by code, comment or inviter."""
        term = search_term.strip()
        if not term:
            return queryset, False
        name = Q(inviter__account__username__iexact=term.removeprefix("@"))
        return queryset.filter(Q(code=term) | Q(comment__icontains=term) | name), False

    def name_of(self, row: Invite) -> str:
        """Code and inviter."""
        return f"{row.code} (@{row.inviter.account.username})" if row.inviter is not None else row.code

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.is_permitted(request)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Create an invitation in the name of the staff member, without the limits for other users. Raises
        PermissionDenied.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        sent = self.ask_for(request, InviteForm, gettext_lazy("Make an invitation"))
        if isinstance(sent, TemplateResponse):
            return sent
        user: Any = request.user
        days = timedelta(days=int(sent["days"])) if sent["days"] else None
        try:
            invite = create_invite(
                by=acting(request), inviter=user, max_uses=sent["max_uses"], expires_in=days, comment=sent["comment"]
            )
        except KernelError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect(reverse("admin:accounts_invite_changelist"))
        self.message_user(request, _("The invitation is made: hand its address on."), messages.SUCCESS)
        return redirect(reverse("admin:accounts_invite_change", args=[invite.pk]))
