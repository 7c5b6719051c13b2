"""Accounts as staff see them, and what staff do to them, over HTTP."""

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
        """Accounts by what they are; without a filter all."""
        return self._page(AccountsInput.read(request).wanted())

    def list_v1(self, request: Request) -> HttpResponse:
        """The same in the words of version 1; without a filter people of this server who are not suspended."""
        return self._page(AccountsV1Input.read(request).wanted())

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An account, whatever its state."""
        return self._shown(find_for_staff(id))

    def destroy(self, request: Request, id: int) -> Any:
        """Delete an account for good that is suspended for a time."""
        sanctions.delete_suspended_account(by=self.by, account=find_for_staff(id))
        return {}

    def act(self, request: Request, id: int) -> Any:
        """Warn, disable, limit, suspend, or have media shown as sensitive."""
        account = find_for_staff(id)
        form = ActionInput.read(request)
        if form.warning_preset_id is not None:
            # There are no presets here: none has that id.
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
        """Let somebody in who waits for approval."""
        user = self._user(id)
        if user.approved:
            raise Forbidden
        staff.approve(by=self.by, user=user)
        return self._shown(user.account)

    def reject(self, request: Request, id: int) -> Any:
        """Delete somebody who waits for approval."""
        user = self._user(id)
        reject_user(by=self.by, user=user)
        return {}

    def enable(self, request: Request, id: int) -> HttpResponse:
        """Let somebody sign in again."""
        user = self._user(id)
        staff.enable(by=self.by, user=user)
        return self._shown(user.account)

    def unsilence(self, request: Request, id: int) -> HttpResponse:
        """Limit an account no more."""
        account = find_for_staff(id)
        sanctions.unlimit_account(by=self.by, account=account)
        return self._shown(account)

    def unsuspend(self, request: Request, id: int) -> HttpResponse:
        """Undo a suspension by staff of this server."""
        account = find_for_staff(id)
        sanctions.unsuspend_account(by=self.by, account=account)
        return self._shown(account)

    def unsensitive(self, request: Request, id: int) -> HttpResponse:
        """Show the media of an account as its author has marked them."""
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
        """The user of the account; Forbidden for an account of another server."""
        account = find_for_staff(account_id)
        if not account.local:
            raise Forbidden
        return find_user_of_account(account.id)
