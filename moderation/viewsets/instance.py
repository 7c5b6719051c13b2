"""The instance documents: what a client asks first, without a token."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from moderation.queries.instance import list_rules, load_instance
from moderation.serializers.instance import InstanceSerializer, InstanceV1Serializer, rule_entity
from social.api.access import anyone
from social.api.viewsets import ApiViewSet

_MINUTES_5 = "public, max-age=300"


class InstanceViewSet(ApiViewSet):
    """`/api/v2/instance` and `/api/v1/instance`."""

    access = {"retrieve": anyone(), "retrieve_v1": anyone(), "rules": anyone()}

    def retrieve(self, request: Request) -> Response:
        """Instance (v2)."""
        return Response(InstanceSerializer(load_instance()).data, headers={"Cache-Control": _MINUTES_5})

    def retrieve_v1(self, request: Request) -> Response:
        """V1::Instance; deprecated upstream since 4.0 (unix time of that release)."""
        headers = {"Cache-Control": _MINUTES_5, "Deprecation": "@1668384000"}
        return Response(InstanceV1Serializer(load_instance()).data, headers=headers)

    def rules(self, request: Request) -> Response:
        """The rules in force."""
        return Response([rule_entity(rule) for rule in list_rules()], headers={"Cache-Control": _MINUTES_5})
