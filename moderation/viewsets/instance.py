"""The instance documents: what a client asks first, without a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson
from django.http import HttpResponse
from django.utils.translation import get_language
from rest_framework.request import Request

from moderation.queries.instance import list_rules, load_instance
from moderation.serializers.instance import InstanceSerializer, InstanceV1Serializer, RuleSerializer
from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.renderers import render
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.recent import Recent

_documents: Final = Recent[bytes]()
_MINUTES_5 = "public, max-age=300"

# The time of Mastodon's release 4.0, in seconds.
_SINCE_4_0 = 1668384000


class InstanceViewSet(ApiViewSet):
    """`/api/v2/instance` and `/api/v1/instance`."""

    endpoints = {
        "retrieve": Endpoint(anyone(), "Instance"),
        "retrieve_v1": Endpoint(anyone(), "InstanceV1", deprecated=_SINCE_4_0),
        "rules": Endpoint(anyone(), "Rule", many=True),
    }

    def retrieve(self, request: Request) -> HttpResponse:
        """Instance (v2)."""
        return self._document("v2", lambda: InstanceSerializer(load_instance()).data)

    def retrieve_v1(self, request: Request) -> HttpResponse:
        """V1::Instance."""
        return self._document("v1", lambda: InstanceV1Serializer(load_instance()).data)

    def rules(self, request: Request) -> HttpResponse:
        """The rules in force."""
        return self._document("rules", lambda: RuleSerializer(list(list_rules()), many=True).data)

    @staticmethod
    def _document(name: str, make: Callable[[], Any]) -> HttpResponse:
        """The encoded document in the reader's language, a few seconds old at most."""
        encoded = _documents.get((name, get_language()), lambda: render(make()))
        return reply(orjson.Fragment(encoded), headers={"Cache-Control": _MINUTES_5})
