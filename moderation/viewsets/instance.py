"""The instance documents: what a client asks first, without a token."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from moderation.queries.instance import list_rules, load_instance
from moderation.serializers.instance import InstanceSerializer, InstanceV1Serializer, rule_entity
from social.api.access import anyone
from social.api.responses import reply
from social.api.viewsets import ApiViewSet

_MINUTES_5 = "public, max-age=300"


class InstanceViewSet(ApiViewSet):
    """`/api/v2/instance` and `/api/v1/instance`."""

    access = {"retrieve": anyone(), "retrieve_v1": anyone(), "rules": anyone()}

    def retrieve(self, request: Request) -> HttpResponse:
        """Instance (v2)."""
        return reply(InstanceSerializer(load_instance()).data, headers={"Cache-Control": _MINUTES_5})

    def retrieve_v1(self, request: Request) -> HttpResponse:
        """V1::Instance; deprecated upstream since 4.0 (unix time of that release)."""
        headers = {"Cache-Control": _MINUTES_5, "Deprecation": "@1668384000"}
        return reply(InstanceV1Serializer(load_instance()).data, headers=headers)

    def rules(self, request: Request) -> HttpResponse:
        """The rules in force."""
        return reply([rule_entity(rule) for rule in list_rules()], headers={"Cache-Control": _MINUTES_5})
