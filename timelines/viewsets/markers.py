"""Markers over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from timelines.models import Timeline
from timelines.queries.markers import load_markers
from timelines.serializers.inputs.markers import MarkersInput, TimelinesInput
from timelines.serializers.marker import MarkersSerializer
from timelines.services.markers import save_markers


class MarkersViewSet(ApiViewSet):
    """`/api/v1/markers`: how far one has read, the same on all devices."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "Markers", input=TimelinesInput),
        "create": Endpoint(user("write:statuses"), "Markers", input=MarkersInput, also=tuple(Timeline.values)),
    }

    def list(self, request: Request) -> Any:
        """The markers asked for, as far as they are there."""
        return MarkersSerializer(load_markers(self.account_id, TimelinesInput.read(request).timeline)).data

    def create(self, request: Request) -> Any:
        """Write some markers."""
        positions = MarkersInput.read(request).positions
        return MarkersSerializer(save_markers(account_id=self.account_id, positions=positions)).data
