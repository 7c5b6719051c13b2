"""The page of a collection."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.collections.queries import find_shown, load_members
from accounts.pages.person import shown_person
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.text.names import visible_text
from social.pages.frame import allow_caching, sharing_of_site, show


@require_safe
def collection(request: HttpRequest, id: str) -> HttpResponse:
    """`/collections/:id`: shows a collection as visitors see it. Raises NotFound, also for a remote collection, whose
    page is on its own server.
    """
    number = require_found(parse_id(id))
    shown = find_shown(number, None)
    if shown.collection.uri is not None:
        raise NotFound
    owner, *members = load_members(shown)
    context: dict[str, Any] = {
        "name": visible_text(shown.collection.name),
        "description": visible_text(shown.collection.description or ""),
        "sensitive": shown.collection.sensitive,
        "owner": shown_person(owner),
        "members": [shown_person(member) for member in members],
    }
    sharing = sharing_of_site(request.path, title=context["name"], description=context["description"])
    return allow_caching(show(request, "accounts/collection.html", context | {"sharing": sharing}))
