"""Staff actions on one account, from its page in the admin: each action asks for confirmation, then calls its service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from accounts.admin.acting import acting, row_action
from accounts.admin.users import sign_up_decisions
from accounts.models import Account, User
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import can, outranks_user
from accounts.queries.users import find_user_of_account
from accounts.services import sanctions, staff
from accounts.services.erasing import delete_account
from moderation.admin.account_forms import EmailForm, HoldForm, NoteForm, RoleForm, SanctionForm
from moderation.admin.evidence import EvidenceAction
from moderation.services.acting import act_on_account
from moderation.services.notes import write_note
from social.api.staff import action

_MODERATE = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS


def fitting(account: Account, user: User | None) -> set[str]:
    """Return the names of the actions that would change something about this account, loaded by `AccountActions`."""
    if account.deleted_at is not None:
        return {"evidence", "release"} if account.held_at is not None else {"evidence", "hold"}
    names = {"warn", "note", "erase", "evidence", "release" if account.held_at is not None else "hold"}
    names.add("unlimit" if account.limited else "limit")
    names.add("unsensitize" if account.sensitized_at is not None else "sensitize")
    if not account.suspended:
        names.add("suspend")
    elif account.suspension_origin == SuspensionOrigin.LOCAL:
        names.add("unsuspend")
    if user is not None:
        names |= {"change_role", "change_email", "send_password"}
        if account.__dict__["factors"]:
            names.add("reset_factor")
        if not account.__dict__["confirmed"]:
            names.add("confirm")
        names.add("enable" if user.disabled_at is not None else "disable")
        if not user.approved:
            names |= {"approve", "reject"}
    return names


def sanction(kind: str) -> Callable[..., Any]:
    """Return the function that sanctions an account with the values of `SanctionForm`."""
    return lambda by, account, sent: act_on_account(by=by, account=account, action=kind, **sent)


def _sanction(description: Any, kind: str, **words: Any) -> Any:
    return row_action(description, sanction(kind), verb=kind, permission="moderate", form=SanctionForm, **words)


def _user(account: Account) -> User:
    return find_user_of_account(account.pk)


class AccountActions(EvidenceAction):
    actions_detail = (
        "approve",
        "reject",
        {
            "title": gettext_lazy("Moderate"),
            "icon": "gavel",
            "items": [
                "warn",
                "sensitize",
                "unsensitize",
                "limit",
                "unlimit",
                "disable",
                "enable",
                "suspend",
                "unsuspend",
                "hold",
                "release",
                "evidence",
                "erase",
            ],
        },
        {
            "title": gettext_lazy("Access"),
            "icon": "key",
            "items": ["change_role", "change_email", "confirm", "send_password", "reset_factor"],
        },
        "note",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Return accounts, annotated from allauth's tables with whether the user has a confirmed address, and second
        factors.
        """
        confirmed = EmailAddress.objects.filter(user=OuterRef("user"), primary=True, verified=True)
        factors = Authenticator.objects.filter(user=OuterRef("user"))
        return super().get_queryset(request).annotate(confirmed=Exists(confirmed), factors=Exists(factors))

    def has_moderate_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may sanction accounts."""
        return can(acting(request), _MODERATE)

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may act on users."""
        return can(acting(request), Permission.MANAGE_USERS)

    def has_access_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may change how somebody signs in."""
        return can(acting(request), Permission.MANAGE_USER_ACCESS)

    def has_roles_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may give roles."""
        return can(acting(request), Permission.MANAGE_ROLES)

    def has_erase_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may delete users' data."""
        return can(acting(request), Permission.DELETE_USER_DATA)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the actions that the role allows and that would change something about this account. Only a note may be
        written about a user whom the viewer does not outrank.
        """
        account = self.get_object(request, str(object_id))
        if account is None:
            return []
        user = getattr(account, "user", None)
        fit = fitting(account, user) if outranks_user(acting(request), user) else {"note"}
        names = {f"accounts_account_{name}" for name in fit}
        found = super().get_actions_detail(request, object_id)  # type: ignore[misc]  # the theme has no types
        return [one for one in found if one.action_name in names]

    warn = _sanction(
        gettext_lazy("Warn"),
        "none",
        icon="warning",
        done=gettext_lazy("They have been warned."),
        question=gettext_lazy("Warn this person?"),
    )

    sensitize = _sanction(
        gettext_lazy("Mark all media as sensitive"),
        "sensitive",
        icon="visibility_off",
        done=gettext_lazy("All media of the account are shown as sensitive."),
        question=gettext_lazy("Show all media of this account as sensitive, also those to come?"),
    )

    unsensitize = row_action(
        gettext_lazy("No longer mark media as sensitive"),
        lambda by, account: sanctions.unsensitize_account(by=by, account=account),
        icon="visibility",
        verb="unsensitize",
        done=gettext_lazy("Media of the account are shown as its author marks them."),
        question=gettext_lazy("Show media of this account as its author has marked them?"),
    )

    limit = _sanction(
        gettext_lazy("Limit"),
        "silence",
        icon="volume_off",
        done=gettext_lazy("The account is limited."),
        question=gettext_lazy("Limit this account? Only those who follow it see it; it is kept out of public places."),
    )

    unlimit = row_action(
        gettext_lazy("End the limit"),
        lambda by, account: sanctions.unlimit_account(by=by, account=account),
        icon="volume_up",
        verb="unlimit",
        done=gettext_lazy("The account is no longer limited."),
        question=gettext_lazy("End the limit of this account?"),
    )

    suspend = _sanction(
        gettext_lazy("Suspend"),
        "suspend",
        icon="block",
        done=gettext_lazy("The account is suspended."),
        question=gettext_lazy(
            "Suspend this account? Nothing of it is shown any more. For 30 days this can be undone; then it is erased."
        ),
    )

    unsuspend = row_action(
        gettext_lazy("End the suspension"),
        lambda by, account: sanctions.unsuspend_account(by=by, account=account),
        icon="undo",
        verb="unsuspend",
        done=gettext_lazy("The account is no longer suspended."),
        question=gettext_lazy("End the suspension of this account?"),
    )

    disable = _sanction(
        gettext_lazy("Disable sign-in"),
        "disable",
        icon="lock",
        done=gettext_lazy("The person is signed out everywhere and cannot sign in."),
        question=gettext_lazy("Disable this account? The person is signed out everywhere and cannot sign in."),
    )

    enable = row_action(
        gettext_lazy("Enable sign-in again"),
        lambda by, account: staff.enable(by=by, user=_user(account)),
        icon="lock_open",
        verb="enable",
        done=gettext_lazy("The person can sign in again."),
        question=gettext_lazy("Let this person sign in again?"),
    )

    hold = row_action(
        gettext_lazy("Hold: nothing may be erased"),
        lambda by, account, sent: sanctions.hold_account(by=by, account=account, **sent),
        icon="inventory_2",
        permission="erase",
        verb="hold",
        done=gettext_lazy("Nothing of the account is erased until the hold is released."),
        question=gettext_lazy("Keep everything of this account, whatever happens to it?"),
        form=HoldForm,
    )

    release = row_action(
        gettext_lazy("Release the hold"),
        lambda by, account: sanctions.release_account(by=by, account=account),
        icon="inventory_2",
        permission="erase",
        verb="release",
        done=gettext_lazy("The hold is released."),
        question=gettext_lazy("Release the hold? An erasure that waited for it goes on."),
    )

    erase = row_action(
        gettext_lazy("Delete for good"),
        lambda by, account: delete_account(by=by, account=account),
        icon="delete_forever",
        permission="erase",
        verb="delete",
        done=gettext_lazy("The account is deleted."),
        question=gettext_lazy("Delete this account with everything it has written? This cannot be undone."),
    )

    approve, reject = sign_up_decisions(_user)

    @action(description=gettext_lazy("Change the role"), icon="shield_person", permissions=["roles"])
    def change_role(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Give this user a role that ranks below the role of the moderator who gives it."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account, sent: staff.set_role(by=by, user=_user(account), role=sent["role"]),
            verb="change_role",
            done=gettext_lazy("The role is changed."),
            question=gettext_lazy("Which role shall this person have?"),
            form=type("RoleBelowForm", (RoleForm,), {"by": by}),
        )

    change_email = row_action(
        gettext_lazy("Change the e-mail address"),
        lambda by, account, sent: staff.set_email(by=by, user=_user(account), **sent),
        icon="alternate_email",
        permission="access",
        verb="change_email",
        done=gettext_lazy("The address is changed; the old one gets a mail about it."),
        question=gettext_lazy("Give this person another e-mail address? It counts as confirmed."),
        form=EmailForm,
    )

    confirm = row_action(
        gettext_lazy("Take the address for confirmed"),
        lambda by, account: staff.confirm(by=by, user=_user(account)),
        icon="mark_email_read",
        verb="confirm",
        done=gettext_lazy("The address counts as confirmed."),
        question=gettext_lazy("Take the e-mail address for confirmed, without a mail having been answered?"),
    )

    send_password = row_action(
        gettext_lazy("Send a mail for a new password"),
        lambda by, account: staff.send_password_reset(by=by, user=_user(account)),
        icon="password",
        permission="access",
        verb="send_password_reset",
        done=gettext_lazy("A link for a new password is on its way."),
        question=gettext_lazy("Send this person a link with which they can choose a new password?"),
    )

    reset_factor = row_action(
        gettext_lazy("Remove the second factors"),
        lambda by, account: staff.reset_second_factor(by=by, user=_user(account)),
        icon="phonelink_erase",
        permission="access",
        verb="reset_second_factor",
        done=gettext_lazy("There is no second factor any more; the person is signed out everywhere."),
        question=gettext_lazy(
            "Remove every second factor and recovery code, for somebody who has lost theirs? "
            "They are signed out everywhere."
        ),
    )

    note = row_action(
        gettext_lazy("Write a note"),
        lambda by, account, sent: write_note(by=by, account=account, **sent),
        icon="note_add",
        permission="moderate",
        verb="write_note",
        done=gettext_lazy("The note is kept."),
        question=gettext_lazy("A note for colleagues: nobody else sees it."),
        form=NoteForm,
    )
