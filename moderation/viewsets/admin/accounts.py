"""Accounts as staff see them, and the actions of staff on them, over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.queries.users import find_user_of_account
from accounts.services import sanctions, staff
from accounts.services.erasing import reject_user
from moderation.queries.admin_accounts import AccountFilter, find_for_staff, list_for_staff
from moderation.queries.reports import find_report_about
from moderation.serializers.admin import present_admin_accounts
from moderation.serializers.inputs.admin import AccountsInput, AccountsV1Input, ActionInput
from moderation.services.acting import act_on_account
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.kernel.errors import Forbidden, NotFound

_READ = access.staff("admin:read:accounts", Permission.MANAGE_USERS)
_WRITE = access.staff("admin:write:accounts", Permission.MANAGE_USERS)
_DELETE = access.staff("admin:write:accounts", Permission.DELETE_USER_DATA)
_ACT = access.staff("admin:write:accounts", Permission.MANAGE_USERS | Permission.MANAGE_REPORTS)
_PAGES = ByCursor(Limit(100, 200))


class AdminAccountsViewSet(AdminViewSet):
    """`/api/v1/admin/accounts`, and its list in version 2."""

    endpoints = {
        "list": Endpoint(_READ, "AdminAccount", many=True, input=AccountsInput, paging=_PAGES),
        "list_v1": Endpoint(_READ, "AdminAccount", many=True, input=AccountsV1Input, paging=_PAGES),
        "retrieve": Endpoint(_READ, "AdminAccount"),
        "destroy": Endpoint(_DELETE, EMPTY),
        "act": Endpoint(_ACT, EMPTY, input=ActionInput),
        "approve": Endpoint(_WRITE, "AdminAccount"),
        "reject": Endpoint(_WRITE, EMPTY),
        "enable": Endpoint(_WRITE, "AdminAccount"),
        "unsilence": Endpoint(_WRITE, "AdminAccount"),
        "unsuspend": Endpoint(_WRITE, "AdminAccount"),
        "unsensitive": Endpoint(_WRITE, "AdminAccount"),
    }

    def list(self, request: Request) -> HttpResponse:
        """List accounts by filter; without a filter all of them."""
        return self._page(AccountsInput.read(request).wanted())

    def list_v1(self, request: Request) -> HttpResponse:
        """List accounts with the parameters of version 1; without a filter local accounts that are not suspended."""
        return self._page(AccountsV1Input.read(request).wanted())

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An account, whatever its state."""
        return self._shown(find_for_staff(id))

    def destroy(self, request: Request, id: int) -> Any:
        """Permanently delete a suspended account."""
        sanctions.delete_suspended_account(by=self.by, account=find_for_staff(id))
        return {}

    def act(self, request: Request, id: int) -> Any:
        """Warn an account, disable or limit or suspend it, or mark its media as sensitive."""
        account = find_for_staff(id)
        form = ActionInput.read(request)
        if form.warning_preset_id is not None:
            # This server has no warning presets, so that no id is valid.
            raise NotFound
        act_on_account(
            by=self.by,
            account=account,
            action=form.type,
            text=form.text,
            report=find_report_about(account, form.report_id) if form.report_id is not None else None,
            notify=form.send_email_notification,
        )
        return {}

    def approve(self, request: Request, id: int) -> HttpResponse:
        """Approve a user who waits for approval."""
        user = self._user(id)
        if user.approved:
            raise Forbidden
        staff.approve(by=self.by, user=user)
        return self._shown(user.account)

    def reject(self, request: Request, id: int) -> Any:
        """Reject and delete a user who waits for approval."""
        user = self._user(id)
        reject_user(by=self.by, user=user)
        return {}

    def enable(self, request: Request, id: int) -> HttpResponse:
        """Enable sign-in again for a disabled user."""
        user = self._user(id)
        staff.enable(by=self.by, user=user)
        return self._shown(user.account)

    def unsilence(self, request: Request, id: int) -> HttpResponse:
        """Lift the limit on an account."""
        account = find_for_staff(id)
        sanctions.unlimit_account(by=self.by, account=account)
        return self._shown(account)

    def unsuspend(self, request: Request, id: int) -> HttpResponse:
        """Undo a suspension by staff of this server."""
        account = find_for_staff(id)
        sanctions.unsuspend_account(by=self.by, account=account)
        return self._shown(account)

    def unsensitive(self, request: Request, id: int) -> HttpResponse:
        """Stop marking all media of an account as sensitive."""
        account = find_for_staff(id)
        sanctions.unsensitize_account(by=self.by, account=account)
        return self._shown(account)

    def _page(self, wanted: AccountFilter) -> HttpResponse:
        page = self.paginate(list_for_staff(wanted))
        return page.respond(list(present_admin_accounts([row.id for row in page.items], self.viewer_id).values()))

    def _shown(self, account: Account) -> HttpResponse:
        found = present_admin_accounts([account.id], self.viewer_id)
        if account.id not in found:
            raise NotFound
        return reply(found[account.id])

    def _user(self, account_id: int) -> User:
        """Return the user of the account. Raises Forbidden for a remote account."""
        account = find_for_staff(account_id)
        if not account.local:
            raise Forbidden
        return find_user_of_account(account.id)
