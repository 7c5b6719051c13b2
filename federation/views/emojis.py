"""Documents of custom emojis (contract, federation sections 1, 2 and 5)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from accounts.emojis.models import CustomEmoji
from federation.documents.actors import emoji_object
from federation.documents.context import with_context
from federation.views.negotiation import Representation, document, not_acceptable, preferred_representation, reads
from social.kernel.errors import require_found
from social.kernel.ids import parse_id


@reads
def emoji(request: HttpRequest, id: str) -> HttpResponse:
    """`/emojis/:id`: the document of a local custom emoji, for which there is no page."""
    if preferred_representation(request) is not Representation.DOCUMENT:
        return not_acceptable()
    found = require_found(CustomEmoji.objects.filter(id=parse_id(id) or 0, domain=None).first())
    return document(with_context(emoji_object(found), ["Emoji", "focalPoint"]))
