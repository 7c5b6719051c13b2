"""Lists and their members over HTTP."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.serializers.presenting import present_accounts
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from timelines.queries.lists import find_list, list_lists, list_lists_with, list_members
from timelines.serializers.inputs.lists import ListInput, MembersInput
from timelines.serializers.list import ListSerializer
from timelines.services import lists

_READ: Final = user("read:lists")
_WRITE: Final = user("write:lists")
_MEMBERS: Final = ByCursor(Limit(40, 80, zero_is_all=True), prev="since_id")


class ListsViewSet(ApiViewSet):
    """`/api/v1/lists`, and the lists that somebody is in. Lists of others are not found (SEED-068)."""

    endpoints = {
        "list": Endpoint(_READ, "List", many=True),
        "create": Endpoint(_WRITE, "List", input=ListInput),
        "retrieve": Endpoint(_READ, "List"),
        "update": Endpoint(_WRITE, "List", input=ListInput),
        "destroy": Endpoint(_WRITE, EMPTY),
        "members": Endpoint(_READ, "Account", many=True, paging=_MEMBERS),
        "add": Endpoint(_WRITE, EMPTY, input=MembersInput),
        "remove": Endpoint(_WRITE, EMPTY, input=MembersInput),
        "with_account": Endpoint(_READ, "List", many=True),
    }

    def list(self, request: Request) -> Any:
        """All of one's lists."""
        return ListSerializer([*list_lists(self.account_id)], many=True).data

    def create(self, request: Request) -> Any:
        """Make a list."""
        return ListSerializer(lists.create_list(account_id=self.account_id, draft=ListInput.read(request))).data

    def retrieve(self, request: Request, id: int) -> Any:
        """One of one's lists."""
        return ListSerializer(find_list(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """Change what is sent."""
        found = find_list(id, self.account_id)
        lists.update_list(found=found, draft=ListInput.read(request))
        return ListSerializer(found).data

    def destroy(self, request: Request, id: int) -> Any:
        """Delete a list."""
        lists.delete_list(found=find_list(id, self.account_id))
        return {}

    def members(self, request: Request, list_id: int) -> HttpResponse:
        """Who is in a list; with `limit=0` all of them, oldest account first."""
        page = self.paginate(list_members(find_list(list_id, self.account_id)), cursor="person_id")
        if page.limit == 0:
            page.items.reverse()
        accounts = present_accounts([row.account_id for row in page.items], self.account_id)
        return page.respond([*accounts.values()])

    def add(self, request: Request, list_id: int) -> Any:
        """Put people into a list: all or none."""
        found = find_list(list_id, self.account_id)
        lists.add_members(found=found, account_ids=MembersInput.read(request).account_ids)
        return {}

    def remove(self, request: Request, list_id: int) -> Any:
        """Take people out of a list."""
        found = find_list(list_id, self.account_id)
        lists.remove_members(found=found, account_ids=MembersInput.read(request).account_ids)
        return {}

    def with_account(self, request: Request, id: int) -> Any:
        """Those of one's lists that somebody is in; none when they are suspended."""
        member = find_account(id)
        found = list_lists_with(self.account_id, member.id)
        return ListSerializer([] if member.suspended else [*found], many=True).data
