"""HTTP endpoint for embedding posts on other sites (oembed.com)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from social.kernel.identity import current_identity
from statuses.queries.statuses import find_embeddable_at
from statuses.serializers.inputs.statuses import OEmbedInput
from statuses.serializers.oembed import WIDTH, OEmbedSerializer
from statuses.serializers.presenting import present_status


class OEmbedViewSet(ApiViewSet):
    endpoints = {"retrieve": Endpoint(anyone(), "OEmbed", input=OEmbedInput)}

    def retrieve(self, request: Request) -> Any:
        """OEmbed of the local post at `url` if it is public or unlisted, else 404."""
        form = OEmbedInput.read(request)
        context = {"width": form.maxwidth or WIDTH, "height": form.maxheight, "site_name": current_identity().name}
        return OEmbedSerializer(present_status(find_embeddable_at(form.url).id, None), context=context).data
