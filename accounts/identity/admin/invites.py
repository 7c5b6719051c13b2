"""Admin page of invitations, with their inviters and numbers of uses. Staff can create and end invitations."""

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
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_link
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.identity.queries.sign_up import usable_invites
from accounts.identity.services.activation import COMMENT_LIMIT, create_invite, end_invite
from accounts.models import Invite
from accounts.models.user import Permission
from social.api.staff_acts import Act, Words
from social.api.staff_columns import CREATION, States, address, lines, link, shortened, shown
from social.api.staff_filters import AutocompleteSelectFilter
from social.api.staff_forms import StaffForm, text_field
from social.kernel import links
from social.kernel.errors import KernelError
from social.pages.once import once

_DAYS = (("", _("Forever")), ("1", _("One day")), ("7", _("One week")), ("30", _("30 days")))


class InviteForm(StaffForm):
    max_uses = forms.IntegerField(
        label=_("Number of people who can use it (leave empty for any number)"),
        required=False,
        min_value=1,
        max_value=2**31 - 1,
    )
    days = forms.ChoiceField(label=_("How long it is valid"), required=False, choices=_DAYS, initial="7")
    comment = text_field(_("What it is for (for staff)"), COMMENT_LIMIT)


_STATES = States(usable=(_("Valid"), "good", Q(usable=True)), ended=(_("Ended"), "plain", Q(usable=False)))


def _inviter(invite: Invite) -> Any:
    return account_link(invite.inviter.account) if invite.inviter is not None else gettext("The operator")


def _uses(invite: Invite) -> str:
    return str(invite.uses) if invite.max_uses is None else f"{invite.uses} / {invite.max_uses}"


def _address(invite: Invite) -> Any:
    url = links.web_url(reverse("invitation", args=[invite.code]))
    return link(url, url)


CODE = shown("code", _("Code"), lambda invite: address(invite.code), order="code")
INVITER = shown("inviter", _("Made by"), _inviter)
USES = shown("uses", _("Used"), _uses, order="uses")
STATE = _STATES.column()
COMMENT = shown("comment", _("Comment"), lambda invite: shortened(invite.comment, 80), minor=True)
ENDS = shown("expires_at", _("Valid until"), order="expires_at", minor=True)


@admin.register(Invite)
class InviteAdmin(PermittedAdmin):
    permission = Permission.MANAGE_INVITES
    list_display = (CODE, INVITER, USES, STATE, COMMENT, ENDS, CREATION)
    list_filter = (_STATES.filter(), ("inviter", AutocompleteSelectFilter))
    list_select_related = ("inviter__account",)
    search_fields = ("code",)
    search_help_text = _("A code, a comment, or the name of the person who created it")
    acts = (
        Act(
            "end",
            _("Revoke the selected invitations"),
            lambda by, invite: end_invite(by=by, invite=invite),
            verb="expire",
            many=Words(
                _("Revoke these invitations? Nobody will be able to sign up with them any more."),
                ngettext_lazy("%(count)d invitation was revoked.", "%(count)d invitations were revoked.", "count"),
            ),
        ),
    )
    fieldsets: ClassVar[Any] = (
        lines(None, CODE, shown("address", _("Address"), _address), INVITER, USES, STATE, COMMENT, ENDS, CREATION),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invite]:
        """Return the invitations, each annotated with `usable`: whether it can be used to sign up now."""
        rows: QuerySet[Invite] = super().get_queryset(request)
        usable = usable_invites().filter(pk=OuterRef("pk"))
        return rows.select_related("inviter__account").annotate(usable=Exists(usable))

    def find_rows(self, rows: QuerySet[Invite], term: str) -> QuerySet[Invite]:
        name = Q(inviter__account__username__iexact=term.removeprefix("@"))
        return rows.filter(Q(code=term) | Q(comment__icontains=term) | name)

    def name_of(self, row: Invite) -> str:
        return f"{row.code} (@{row.inviter.account.username})" if row.inviter is not None else row.code

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.is_permitted(request)

    @method_decorator(once)
    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Create an invitation on behalf of the staff member, without the usual limits. Raises PermissionDenied."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        sent = self.ask_for(request, InviteForm, _("Create an invitation"))
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
        self.message_user(request, gettext("The invitation has been created. Share its link."), messages.SUCCESS)
        return redirect(reverse("admin:accounts_invite_change", args=[invite.pk]))
