"""`/api/v1/conversations`: direct posts by thread and people."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from timelines.queries.conversations import list_conversations
from timelines.serializers.conversation import present_conversations
from timelines.services.conversations import mark_conversation, remove_conversation

_PAGES: Final = ByCursor(Limit(20, 40))


class ConversationsViewSet(ApiViewSet):
    """One's own conversations, the one with the newest post first; pages are led on by the id of that post."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "Conversation", many=True, paging=_PAGES),
        "destroy": Endpoint(user("write:conversations"), EMPTY),
        "read": Endpoint(user("write:conversations"), "Conversation"),
        "unread": Endpoint(user("write:conversations"), "Conversation"),
    }

    def list(self, request: Request) -> HttpResponse:
        """All that are not hidden."""
        page = self.paginate(list_conversations(self.account_id), cursor="last_status_id")
        return page.respond(present_conversations(page.items, self.account_id))

    def destroy(self, request: Request, id: int) -> Any:
        """Hide one until somebody writes again."""
        remove_conversation(account_id=self.account_id, conversation_id=id)
        return {}

    def read(self, request: Request, id: int) -> Any:
        """Mark it as read."""
        return self._marked(id, unread=False)

    def unread(self, request: Request, id: int) -> Any:
        """Mark it as unread."""
        return self._marked(id, unread=True)

    def _marked(self, conversation_id: int, *, unread: bool) -> Any:
        marked = mark_conversation(account_id=self.account_id, conversation_id=conversation_id, unread=unread)
        return present_conversations([marked], self.account_id)[0]
