from collections.abc import Sequence
from functools import partial
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.serializers.account import present_accounts
from notifications.queries import listing
from notifications.queries.groups import (
    GROUPED_TYPES,
    Heads,
    count_unread_groups,
    find_group,
    list_heads,
    list_of_group,
    load_group_page,
    load_groups,
)
from notifications.serializers.inputs import notifications as inputs
from notifications.serializers.notification import UnreadCountSerializer, present, present_groups
from notifications.services.notifying import clear, dismiss, dismiss_group
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id

_PAGES = ByCursor(Limit(40, 80), next_when="any")


def _filter(
    form: inputs.ListInput | inputs.CountInput, *, include_filtered: bool = False
) -> listing.NotificationFilter | None:
    sender_id = parse_id(form.account_id)
    if form.account_id and sender_id is None:
        return None
    return listing.NotificationFilter(form.types, form.exclude_types, sender_id, include_filtered)


class NotificationsViewSet(ApiViewSet):
    endpoints = {
        "list": Endpoint(user("read:notifications"), "Notification", many=True, input=inputs.ListInput, paging=_PAGES),
        "retrieve": Endpoint(user("read:notifications"), "Notification"),
        "unread_count": Endpoint(user("read:notifications"), "UnreadCount", input=inputs.CountInput),
        "dismiss": Endpoint(user("write:notifications"), EMPTY),
        "clear": Endpoint(user("write:notifications"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List notifications, newest first. No notification matches an unknown type in `types[]`."""
        form = inputs.ListInput.read(request)
        row_filter = _filter(form, include_filtered=form.include_filtered)
        if row_filter is None:
            return reply([])
        me = self.account_id
        page = self.paginate(partial(listing.list_notifications, me, row_filter))
        return page.respond(present(listing.load_page(page.items, me, form.supported_types)))

    def unread_count(self, request: Request) -> Any:
        """Count the notifications that are newer than the marker."""
        form = inputs.CountInput.read(request)
        row_filter = _filter(form)
        count = listing.count_unread(self.account_id, row_filter, form.effective_limit) if row_filter is not None else 0
        return UnreadCountSerializer(count).data

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """Show one notification."""
        me = self.account_id
        entities = present(listing.load_page([listing.find_notification(me, id)], me))
        return reply(require_found(next(iter(entities), None)))

    def dismiss(self, request: Request, id: int) -> HttpResponse:
        """Remove one notification."""
        if not dismiss(account_id=self.account_id, notification_id=id):
            raise NotFound
        return reply({})

    def clear(self, request: Request) -> HttpResponse:
        """Remove all notifications."""
        clear(account_id=self.account_id)
        return reply({})


class NotificationGroupsViewSet(ApiViewSet):
    """`/api/v2/notifications`: similar notifications in groups."""

    endpoints = {
        "list": Endpoint(
            user("read:notifications"), "GroupedNotificationsResults", input=inputs.GroupListInput, paging=_PAGES
        ),
        "retrieve": Endpoint(user("read:notifications"), "GroupedNotificationsResults"),
        "accounts": Endpoint(user("read:notifications"), "Account", many=True, paging=ByCursor(Limit(40, 80))),
        "unread_count": Endpoint(user("read:notifications"), "UnreadCount", input=inputs.GroupCountInput),
        "dismiss": Endpoint(user("write:notifications"), EMPTY),
        "clear": Endpoint(user("write:notifications"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """List notifications in groups, newest first."""
        form = inputs.GroupListInput.read(request)
        me, grouped = self.account_id, form.grouped_types or GROUPED_TYPES
        row_filter = listing.NotificationFilter(form.types, form.exclude_types, include_filtered=form.include_filtered)
        heads: list[Heads] = []

        def load(cursor: Cursor) -> Sequence[listing.ListedNotification]:
            heads.append(list_heads(me, row_filter, grouped, cursor))
            return heads[0].rows

        page = self.paginate(load, ends=lambda _rows: heads[0].ends)
        groups = load_groups(me, page.items, grouped, heads[0].span) if page.items else []
        in_short = form.expand_accounts == inputs.PARTIAL_AVATARS
        shown = load_group_page(groups, me, supported=form.supported_types, partial=in_short)
        return page.respond(present_groups(shown, paged=True))

    def retrieve(self, request: Request, key: str) -> HttpResponse:
        """Show one group."""
        me = self.account_id
        entity = present_groups(load_group_page([find_group(me, key)], me), paged=False)
        if not entity["notification_groups"]:
            raise NotFound
        return reply(entity)

    def accounts(self, request: Request, key: str) -> HttpResponse:
        """List the accounts in a group, newest first; an empty list for an unknown key."""
        me = self.account_id
        page = self.paginate(partial(list_of_group, me, key))
        entities = present_accounts((row.from_account_id for row in page.items), me)
        return page.respond(list(entities.values()))

    def unread_count(self, request: Request) -> Any:
        """Count the groups that are newer than the marker."""
        form = inputs.GroupCountInput.read(request)
        row_filter, grouped = _filter(form), form.grouped_types or GROUPED_TYPES
        count = 0
        if row_filter is not None:
            count = count_unread_groups(self.account_id, row_filter, grouped, form.effective_limit)
        return UnreadCountSerializer(count).data

    def dismiss(self, request: Request, key: str) -> HttpResponse:
        """Remove a group; an unknown key is not an error."""
        dismiss_group(account_id=self.account_id, key=key)
        return reply({})

    def clear(self, request: Request) -> HttpResponse:
        """Remove all notifications."""
        clear(account_id=self.account_id)
        return reply({})
