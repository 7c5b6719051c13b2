"""Scheduled posts over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from statuses.queries.scheduled import find_scheduled, list_scheduled
from statuses.serializers.inputs.statuses import RescheduleInput
from statuses.serializers.scheduled_status import ScheduledStatusSerializer
from statuses.services.scheduling import cancel_status, reschedule_status


class ScheduledStatusesViewSet(ApiViewSet):
    """`/api/v1/scheduled_statuses`."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "ScheduledStatus", many=True, paging=ByCursor(Limit(20, 40))),
        "retrieve": Endpoint(user("read:statuses"), "ScheduledStatus"),
        "update": Endpoint(user("write:statuses"), "ScheduledStatus", input=RescheduleInput),
        "destroy": Endpoint(user("write:statuses"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """`GET /api/v1/scheduled_statuses`: the newest first."""
        page = self.paginate(list_scheduled(self.account_id))
        return page.respond(ScheduledStatusSerializer(page.items, many=True).data)

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/scheduled_statuses/:id`."""
        return ScheduledStatusSerializer(find_scheduled(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/scheduled_statuses/:id`: another time; nothing else can be changed."""
        scheduled = find_scheduled(id, self.account_id)
        moment = RescheduleInput.read(request).scheduled_at
        if moment is not None:
            reschedule_status(scheduled=scheduled, scheduled_at=moment)
        return ScheduledStatusSerializer(scheduled).data

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/scheduled_statuses/:id`."""
        cancel_status(scheduled=find_scheduled(id, self.account_id))
        return {}
