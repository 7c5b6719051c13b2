"""Accounts as staff see them, and the actions of staff on them, over HTTP."""

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.acts import user_of
from accounts.identity.services import staff
from accounts.models import Account
from accounts.models.user import Permission
from accounts.services import sanctions
from accounts.services.erasing import reject_user
from moderation.acts import ACCOUNT_ACTS
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
ACTS: Final = {act.api: act for act in ACCOUNT_ACTS if act.api}
"""Actions that have their own endpoint, keyed by the last part of the endpoint's path."""


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
    } | {
        name: Endpoint(access.staff("admin:write:accounts", act.permission or Permission.MANAGE_USERS), "AdminAccount")
        for name, act in ACTS.items()
    }
    acts = {name: (act.api_summary, act.run) for name, act in ACTS.items()}

    def list(self, request: Request) -> HttpResponse:
        """List accounts by filter; without a filter, all accounts."""
        return self._page(AccountsInput.read(request).conditions())

    def list_v1(self, request: Request) -> HttpResponse:
        """List accounts with the parameters of version 1; without a filter, local accounts that are not suspended."""
        return self._page(AccountsV1Input.read(request).conditions())

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An account, whatever its state."""
        return self.present(find_for_staff(id))

    def destroy(self, request: Request, id: int) -> Any:
        """Permanently delete a suspended account."""
        sanctions.delete_suspended_account(by=self.by, account=find_for_staff(id))
        return {}

    def act(self, request: Request, id: int) -> Any:
        """Warn, disable, limit or suspend an account, or mark its media as sensitive."""
        account = find_for_staff(id)
        form = ActionInput.read(request)
        if form.warning_preset_id is not None:
            # No id is valid, because this server has no warning presets.
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
        """Approve a user who is waiting for approval."""
        user = user_of(find_for_staff(id))
        if user.approved:
            raise Forbidden
        staff.approve(by=self.by, user=user)
        return self.present(user.account)

    def reject(self, request: Request, id: int) -> Any:
        """Reject and delete a user who is waiting for approval."""
        reject_user(by=self.by, user=user_of(find_for_staff(id)))
        return {}

    def find(self, row_id: int) -> Account:
        return find_for_staff(row_id)

    def _page(self, conditions: AccountFilter) -> HttpResponse:
        page = self.paginate(list_for_staff(conditions))
        return page.respond(list(present_admin_accounts([row.id for row in page.items], self.viewer_id).values()))

    def present(self, row: Account) -> HttpResponse:
        entities = present_admin_accounts([row.id], self.viewer_id)
        if row.id not in entities:
            raise NotFound
        return reply(entities[row.id])
