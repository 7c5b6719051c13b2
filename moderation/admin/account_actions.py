"""Acts of staff on one account, from its page in the admin: each asks first, then calls its service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from accounts.admin.users import acting
from accounts.models import Account, User
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import can
from accounts.queries.users import find_user_of_account
from accounts.services import sanctions, staff
from accounts.services.erasing import delete_account, reject_user
from moderation.admin.account_forms import EmailForm, HoldForm, NoteForm, RoleForm, SanctionForm
from moderation.admin.evidence import EvidenceAction
from moderation.services.acting import act_on_account
from moderation.services.notes import write_note
from social.api.staff import ActionVariant, action

_MODERATE = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS


def fitting(account: Account, user: User | None) -> set[str]:
    """Name the acts that change something about an account as it is now."""
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
        names |= {"change_role", "change_email", "send_password", "reset_factor", "confirm"}
        names.add("enable" if user.disabled_at is not None else "disable")
        if not user.approved:
            names |= {"approve", "reject"}
    return names


class AccountActions(EvidenceAction):
    """The page actions of an account."""

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
        """Tell whether the role may delete what people have."""
        return can(acting(request), Permission.DELETE_USER_DATA)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the actions that this person may do and that change something about this account."""
        account = self.get_object(request, str(object_id))
        if account is None:
            return []
        names = {f"accounts_account_{name}" for name in fitting(account, getattr(account, "user", None))}
        found = super().get_actions_detail(request, object_id)  # type: ignore[misc]  # the theme's
        return [one for one in found if one.action_name in names]

    def _sanction(self, request: HttpRequest, object_id: Any, kind: str, *, done: Any, question: Any) -> HttpResponse:
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account, sent: act_on_account(by=by, account=account, action=kind, **sent),
            verb=kind,
            done=done,
            question=question,
            form=SanctionForm,
        )

    def _on_user(
        self,
        request: HttpRequest,
        object_id: Any,
        act: Callable[..., Any],
        *,
        verb: str,
        done: Any,
        question: Any,
        form: Any = None,
    ) -> HttpResponse:
        return self.one(
            request,
            object_id,
            lambda account, *sent: act(find_user_of_account(account.pk), *sent),
            verb=verb,
            done=done,
            question=question,
            form=form,
        )

    @action(description=gettext_lazy("Warn"), icon="warning", permissions=["moderate"])
    def warn(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Warn: words alone."""
        return self._sanction(
            request,
            object_id,
            "none",
            done=gettext_lazy("They have been warned."),
            question=gettext_lazy("Warn this person?"),
        )

    @action(description=gettext_lazy("Mark all media as sensitive"), icon="visibility_off", permissions=["moderate"])
    def sensitize(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Mark all media as sensitive."""
        return self._sanction(
            request,
            object_id,
            "sensitive",
            done=gettext_lazy("All media of the account are shown as sensitive."),
            question=gettext_lazy("Show all media of this account as sensitive, also those to come?"),
        )

    @action(description=gettext_lazy("No longer mark media as sensitive"), icon="visibility", permissions=["manage"])
    def unsensitize(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """End the mark."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account: sanctions.unsensitize_account(by=by, account=account),
            verb="unsensitize",
            done=gettext_lazy("Media of the account are shown as its author marks them."),
            question=gettext_lazy("Show media of this account as its author has marked them?"),
        )

    @action(description=gettext_lazy("Limit"), icon="volume_off", permissions=["moderate"])
    def limit(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Limit."""
        return self._sanction(
            request,
            object_id,
            "silence",
            done=gettext_lazy("The account is limited."),
            question=gettext_lazy(
                "Limit this account? Only those who follow it see it; it is kept out of public places."
            ),
        )

    @action(description=gettext_lazy("End the limit"), icon="volume_up", permissions=["manage"])
    def unlimit(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """End the limit."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account: sanctions.unlimit_account(by=by, account=account),
            verb="unlimit",
            done=gettext_lazy("The account is no longer limited."),
            question=gettext_lazy("End the limit of this account?"),
        )

    @action(description=gettext_lazy("Suspend"), icon="block", permissions=["moderate"])
    def suspend(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Suspend."""
        return self._sanction(
            request,
            object_id,
            "suspend",
            done=gettext_lazy("The account is suspended."),
            question=gettext_lazy(
                "Suspend this account? Nothing of it is shown any more. For 30 days this can be undone; then it is erased."
            ),
        )

    @action(description=gettext_lazy("End the suspension"), icon="undo", permissions=["manage"])
    def unsuspend(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """End the suspension."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account: sanctions.unsuspend_account(by=by, account=account),
            verb="unsuspend",
            done=gettext_lazy("The account is no longer suspended."),
            question=gettext_lazy("End the suspension of this account?"),
        )

    @action(description=gettext_lazy("Disable sign-in"), icon="lock", permissions=["moderate"])
    def disable(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Disable."""
        return self._sanction(
            request,
            object_id,
            "disable",
            done=gettext_lazy("The person is signed out everywhere and cannot sign in."),
            question=gettext_lazy("Disable this account? The person is signed out everywhere and cannot sign in."),
        )

    @action(description=gettext_lazy("Enable sign-in again"), icon="lock_open", permissions=["manage"])
    def enable(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Enable."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: staff.enable(by=by, user=user),
            verb="enable",
            done=gettext_lazy("The person can sign in again."),
            question=gettext_lazy("Let this person sign in again?"),
        )

    @action(description=gettext_lazy("Hold: nothing may be erased"), icon="inventory_2", permissions=["erase"])
    def hold(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Hold."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account, sent: sanctions.hold_account(by=by, account=account, **sent),
            verb="hold",
            done=gettext_lazy("Nothing of the account is erased until the hold is released."),
            question=gettext_lazy("Keep everything of this account, whatever happens to it?"),
            form=HoldForm,
        )

    @action(description=gettext_lazy("Release the hold"), icon="inventory_2", permissions=["erase"])
    def release(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Release the hold."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account: sanctions.release_account(by=by, account=account),
            verb="release",
            done=gettext_lazy("The hold is released."),
            question=gettext_lazy("Release the hold? An erasure that waited for it goes on."),
        )

    @action(description=gettext_lazy("Delete for good"), icon="delete_forever", permissions=["erase"])
    def erase(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Delete for good."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account: delete_account(by=by, account=account),
            verb="delete",
            done=gettext_lazy("The account is deleted."),
            question=gettext_lazy("Delete this account with everything it has written? This cannot be undone."),
        )

    @action(description=gettext_lazy("Approve"), icon="check", permissions=["manage"], variant=ActionVariant.PRIMARY)
    def approve(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Approve."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: staff.approve(by=by, user=user),
            verb="approve",
            done=gettext_lazy("They are let in, and get a mail."),
            question=gettext_lazy("Let this person in?"),
        )

    @action(description=gettext_lazy("Reject"), icon="close", permissions=["manage"], variant=ActionVariant.DANGER)
    def reject(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Reject."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: reject_user(by=by, user=user),
            verb="reject",
            done=gettext_lazy("The sign-up is rejected and deleted."),
            question=gettext_lazy("Reject this sign-up? It is deleted."),
        )

    @action(description=gettext_lazy("Change the role"), icon="shield_person", permissions=["roles"])
    def change_role(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Change the role."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user, sent: staff.set_role(by=by, user=user, role=sent["role"]),
            verb="change_role",
            done=gettext_lazy("The role is changed."),
            question=gettext_lazy("Which role shall this person have?"),
            form=RoleForm,
        )

    @action(description=gettext_lazy("Change the e-mail address"), icon="alternate_email", permissions=["access"])
    def change_email(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Change the e-mail address."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user, sent: staff.set_email(by=by, user=user, **sent),
            verb="change_email",
            done=gettext_lazy("The address is changed; the old one gets a mail about it."),
            question=gettext_lazy("Give this person another e-mail address? It counts as confirmed."),
            form=EmailForm,
        )

    @action(description=gettext_lazy("Take the address for confirmed"), icon="mark_email_read", permissions=["manage"])
    def confirm(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Take the address for confirmed."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: staff.confirm(by=by, user=user),
            verb="confirm",
            done=gettext_lazy("The address counts as confirmed."),
            question=gettext_lazy("Take the e-mail address for confirmed, without a mail having been answered?"),
        )

    @action(description=gettext_lazy("Send a mail for a new password"), icon="password", permissions=["access"])
    def send_password(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Send a link for a new password."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: staff.send_password_reset(by=by, user=user),
            verb="send_password_reset",
            done=gettext_lazy("A link for a new password is on its way."),
            question=gettext_lazy("Send this person a link with which they can choose a new password?"),
        )

    @action(description=gettext_lazy("Remove the second factors"), icon="phonelink_erase", permissions=["access"])
    def reset_factor(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Remove the second factors."""
        by = acting(request)
        return self._on_user(
            request,
            object_id,
            lambda user: staff.reset_second_factor(by=by, user=user),
            verb="reset_second_factor",
            done=gettext_lazy("There is no second factor any more; the person is signed out everywhere."),
            question=gettext_lazy(
                "Remove every second factor and recovery code, for somebody who has lost theirs? "
                "They are signed out everywhere."
            ),
        )

    @action(description=gettext_lazy("Write a note"), icon="note_add", permissions=["moderate"])
    def note(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Write a note."""
        by = acting(request)
        return self.one(
            request,
            object_id,
            lambda account, sent: write_note(by=by, account=account, **sent),
            verb="write_note",
            done=gettext_lazy("The note is kept."),
            question=gettext_lazy("A note for colleagues: nobody else sees it."),
            form=NoteForm,
        )
