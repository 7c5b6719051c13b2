"""Notifications over HTTP."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from rest_framework.request import Request

from notifications.queries.listing import NotificationFilter, find_notification, list_notifications
from notifications.queries.page import load_page
from notifications.serializers.presenting import present
from notifications.services.notifying import clear, dismiss
from social.api.access import user
from social.api.inputs import as_boolean, as_list, parameters
from social.api.pagination import Limit, paginate
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id

LIMIT = Limit(40, 80)


class NotificationsViewSet(ApiViewSet):
    """`/api/v1/notifications`."""

    access = {
        "list": user("read:notifications"),
        "retrieve": user("read:notifications"),
        "dismiss": user("write:notifications"),
        "clear": user("write:notifications"),
    }

    def list(self, request: Request) -> HttpResponse:
        """One's own notifications, newest first; an unknown type in `types[]` matches nothing."""
        sent = parameters(request)
        sender = sent.get("account_id")
        sender_id = parse_id(sender) if sender not in (None, "") else None
        if sender not in (None, "") and sender_id is None:
            return reply([])
        me = self.account_id
        wanted = NotificationFilter(
            types=[str(item) for item in as_list(sent.get("types"), scalar=True)],
            exclude_types=[str(item) for item in as_list(sent.get("exclude_types"), scalar=True)],
            from_account_id=sender_id,
            include_filtered=as_boolean(sent.get("include_filtered")),
        )

        page = paginate(request, partial(list_notifications, me, wanted), limit=LIMIT, next_when="any")
        return page.respond(present(load_page(page.items, me)))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One notification."""
        me = self.account_id
        entities = present(load_page([find_notification(me, id)], me))
        if not entities:
            raise NotFound
        return reply(entities[0])

    def dismiss(self, request: Request, id: int) -> HttpResponse:
        """Remove one notification."""
        if not dismiss(account_id=self.account_id, notification_id=id):
            raise NotFound
        return reply({})

    def clear(self, request: Request) -> HttpResponse:
        """Remove all notifications."""
        clear(account_id=self.account_id)
        return reply({})
