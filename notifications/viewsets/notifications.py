"""Notifications over HTTP."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from rest_framework.request import Request

from notifications.queries.listing import NotificationFilter, find_notification, list_notifications
from notifications.queries.page import load_page
from notifications.serializers.inputs.notifications import ListInput
from notifications.serializers.presenting import present
from notifications.services.notifying import clear, dismiss
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id

_PAGES = ByCursor(Limit(40, 80), next_when="any")


class NotificationsViewSet(ApiViewSet):
    """`/api/v1/notifications`."""

    endpoints = {
        "list": Endpoint(user("read:notifications"), "Notification", many=True, input=ListInput, paging=_PAGES),
        "retrieve": Endpoint(user("read:notifications"), "Notification"),
        "dismiss": Endpoint(user("write:notifications"), EMPTY),
        "clear": Endpoint(user("write:notifications"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """One's own notifications, newest first; an unknown type in `types[]` matches nothing."""
        form = ListInput.read(request)
        sender_id = parse_id(form.account_id)
        if form.account_id and sender_id is None:
            return reply([])
        me = self.account_id
        wanted = NotificationFilter(
            types=form.types,
            exclude_types=form.exclude_types,
            from_account_id=sender_id,
            include_filtered=form.include_filtered,
        )

        page = self.paginate(partial(list_notifications, me, wanted))
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
