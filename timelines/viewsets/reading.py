"""HTTP endpoints for lists and their members, conversations and markers."""

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.serializers.account import present_accounts
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from timelines.queries.lists import (
    find_list,
    list_conversations,
    list_lists,
    list_lists_with,
    list_members,
    load_markers,
)
from timelines.serializers.entities import ListSerializer, MarkersSerializer, present_conversations
from timelines.serializers.inputs import ListInput, MarkersInput, MembersInput, TimelinesInput
from timelines.services import lists
from timelines.services.conversations import mark_conversation, remove_conversation
from timelines.services.markers import save_markers

_READ_ACCESS: Final = user("read:lists")
_WRITE_ACCESS: Final = user("write:lists")
_MEMBER_PAGES: Final = ByCursor(Limit(40, 80, zero_is_all=True), prev="since_id")


class ListsViewSet(ApiViewSet):
    """`/api/v1/lists`, and the caller's lists that contain an account; 404 for lists of other owners (SEED-068)."""

    endpoints = {
        "list": Endpoint(_READ_ACCESS, "List", many=True),
        "create": Endpoint(_WRITE_ACCESS, "List", input=ListInput),
        "retrieve": Endpoint(_READ_ACCESS, "List"),
        "update": Endpoint(_WRITE_ACCESS, "List", input=ListInput),
        "destroy": Endpoint(_WRITE_ACCESS, EMPTY),
        "members": Endpoint(_READ_ACCESS, "Account", many=True, paging=_MEMBER_PAGES),
        "add": Endpoint(_WRITE_ACCESS, EMPTY, input=MembersInput),
        "remove": Endpoint(_WRITE_ACCESS, EMPTY, input=MembersInput),
        "with_account": Endpoint(_READ_ACCESS, "List", many=True),
    }

    def list(self, request: Request) -> Any:
        """List the caller's lists."""
        return ListSerializer([*list_lists(self.account_id)], many=True).data

    def create(self, request: Request) -> Any:
        """Create a list."""
        return ListSerializer(lists.create_list(account_id=self.account_id, draft=ListInput.read(request))).data

    def retrieve(self, request: Request, id: int) -> Any:
        """Return one of the caller's lists."""
        return ListSerializer(find_list(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """Update the submitted values of a list."""
        found = find_list(id, self.account_id)
        lists.update_list(found=found, draft=ListInput.read(request))
        return ListSerializer(found).data

    def destroy(self, request: Request, id: int) -> Any:
        """Delete a list."""
        lists.delete_list(found=find_list(id, self.account_id))
        return {}

    def members(self, request: Request, list_id: int) -> HttpResponse:
        """List the members of a list; with `limit=0` all of them, oldest account first."""
        page = self.paginate(list_members(find_list(list_id, self.account_id)), cursor="person_id")
        if page.limit == 0:
            page.items.reverse()
        accounts = present_accounts([row.account_id for row in page.items], self.account_id)
        return page.respond([*accounts.values()])

    def add(self, request: Request, list_id: int) -> Any:
        """Add accounts to a list: all or none."""
        found = find_list(list_id, self.account_id)
        lists.add_members(found=found, account_ids=MembersInput.read(request).account_ids)
        return {}

    def remove(self, request: Request, list_id: int) -> Any:
        """Remove accounts from a list."""
        found = find_list(list_id, self.account_id)
        lists.remove_members(found=found, account_ids=MembersInput.read(request).account_ids)
        return {}

    def with_account(self, request: Request, id: int) -> Any:
        """List the caller's lists that contain an account; no lists if the account is suspended."""
        member = find_account(id)
        found = list_lists_with(self.account_id, member.id)
        return ListSerializer([] if member.suspended else [*found], many=True).data


_PAGES: Final = ByCursor(Limit(20, 40))


class ConversationsViewSet(ApiViewSet):
    """The caller's conversations, sorted by their last posts, newest first; the cursor is the id of a last post."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "Conversation", many=True, paging=_PAGES),
        "destroy": Endpoint(user("write:conversations"), EMPTY),
        "read": Endpoint(user("write:conversations"), "Conversation"),
        "unread": Endpoint(user("write:conversations"), "Conversation"),
    }

    def list(self, request: Request) -> HttpResponse:
        """List the caller's conversations, except deleted conversations."""
        page = self.paginate(list_conversations(self.account_id), cursor="last_status_id")
        return page.respond(present_conversations(page.items, self.account_id))

    def destroy(self, request: Request, id: int) -> Any:
        """Delete a conversation; the next post in it creates it again."""
        remove_conversation(account_id=self.account_id, conversation_id=id)
        return {}

    def read(self, request: Request, id: int) -> Any:
        """Mark a conversation as read."""
        return self._mark_conversation(id, unread=False)

    def unread(self, request: Request, id: int) -> Any:
        """Mark a conversation as unread."""
        return self._mark_conversation(id, unread=True)

    def _mark_conversation(self, conversation_id: int, *, unread: bool) -> Any:
        marked = mark_conversation(account_id=self.account_id, conversation_id=conversation_id, unread=unread)
        return present_conversations([marked], self.account_id)[0]


class MarkersViewSet(ApiViewSet):
    """`/api/v1/markers`: the caller's read positions, shared by all devices."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "Markers", input=TimelinesInput),
        "create": Endpoint(user("write:statuses"), "Markers", input=MarkersInput),
    }

    def list(self, request: Request) -> Any:
        """Return the requested markers that exist."""
        return MarkersSerializer(load_markers(self.account_id, TimelinesInput.read(request).timeline)).data

    def create(self, request: Request) -> Any:
        """Store markers."""
        positions = {timeline: form.position for timeline, form in MarkersInput.read(request).items()}
        return MarkersSerializer(save_markers(account_id=self.account_id, positions=positions)).data
