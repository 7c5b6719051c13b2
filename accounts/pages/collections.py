"""The page of a collection: the accounts somebody recommends."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.pages.person import shown_person
from accounts.queries.collections import find_shown, load_members
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import visible_text
from social.pages.frame import show


@require_safe
def collection(request: HttpRequest, id: str) -> HttpResponse:
    """`/collections/:id`, as anybody may see it. Raises NotFound."""
    number = parse_id(id)
    if number is None:
        raise NotFound
    shown = find_shown(number, None)
    owner, *members = load_members(shown)
    context = {
        "name": visible_text(shown.collection.name),
        "description": visible_text(shown.collection.description or ""),
        "sensitive": shown.collection.sensitive,
        "owner": shown_person(owner),
        "members": [shown_person(member) for member in members],
    }
    return show(request, "accounts/collection.html", context)
