"""Template values of the front page for visitors: people, posts and figures of this server, and its contact."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import get_language

from accounts.models import Account
from accounts.pages.person import load_entities, shown_author
from accounts.queries.accounts import has_address
from accounts.queries.discovery import list_directory
from accounts.queries.site_settings import load_site_texts
from moderation.queries.instance import load_figures
from social.kernel.identity import current_identity, is_federation_limited
from social.kernel.media import storage
from social.kernel.recent import Recent
from social.pages.frame import path_of
from timelines.pages.explore import explored_posts

FACES_LIMIT: Final = 18
POSTS_LIMIT: Final = 5
_recent: Final[Recent[Mapping[str, Any]]] = Recent()


def welcome_values() -> Mapping[str, Any]:
    """Return the values, which are cached for some seconds per language, in a fixed number of queries."""
    return _recent.get(get_language(), _load)


def _load() -> Mapping[str, Any]:
    texts, picture = load_site_texts(), current_identity().picture
    landing, username = texts["site_landing_page"], texts["site_contact_username"]
    ids: list[int] = []
    if landing != "about":
        ids += list_directory(None, order="active", local=True).values_list("id", flat=True)[:FACES_LIMIT]
    contacts = Account.objects.filter(has_address(username, None)) if username else Account.objects.none()
    contact_id = contacts.values_list("id", flat=True).first()
    entities = {
        entity["id"]: entity for entity in load_entities(dict.fromkeys([*ids, *([contact_id] if contact_id else [])]))
    }
    contact = entities.get(str(contact_id))
    values: dict[str, Any] = {
        "own_picture": path_of(storage.url(picture)) if picture else "",
        "figures": None if is_federation_limited() else load_figures(),
        "contact": shown_author(contact) if contact is not None else None,
        "people": [shown_author(entities[str(number)]) for number in ids if str(number) in entities],
    }
    return values if landing == "about" else values | explored_posts(POSTS_LIMIT, trends=landing == "trends")
