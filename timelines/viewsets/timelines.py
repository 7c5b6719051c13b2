"""`/api/v1/timelines`: home, public and hashtag timelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.access import optional_user, user
from social.api.inputs import as_boolean, as_list, parameters
from social.api.pagination import Limit, paginate
from social.api.viewsets import ApiViewSet
from social.kernel.cursors import Cursor
from social.kernel.errors import Invalid
from social.kernel.text.scan import normalise_hashtag
from statuses.queries.page import Page, fill, select
from statuses.queries.rows import Row
from statuses.serializers.presenting import present
from timelines.policies.access import HASHTAG, LIVE
from timelines.queries.access import load_origins
from timelines.queries.public import PublicFilter, TagFilter, list_public_ids, list_tagged_ids
from timelines.services.home import load_home_page

_LIMIT: Final = Limit(20, 40)
_TAGS: Final = 4


class TimelinesViewSet(ApiViewSet):
    """Lists of posts by time. Each page that is not empty leads on in both directions."""

    access = {
        "home": user("read:statuses"),
        "public": optional_user("read:statuses"),
        "tag": optional_user("read:statuses"),
    }

    def home(self, request: Request) -> HttpResponse:
        """The caller's home timeline."""
        account_id = self.account_id
        return _respond(request, lambda cursor: load_home_page(account_id, cursor))

    def public(self, request: Request) -> HttpResponse:
        """Public posts of this server (`local`), of others (`remote`), or all."""
        wanted = self._wanted(request, LIVE)
        viewer_id = self.viewer_id
        return _respond(request, lambda c: select(list_public_ids(viewer_id, c, wanted) if wanted else [], viewer_id))

    def tag(self, request: Request, hashtag: str) -> HttpResponse:
        """Public posts with a hashtag, or with others too (`any[]`, `all[]`, `none[]`)."""
        wanted = self._wanted(request, HASHTAG)
        viewer_id = self.viewer_id
        values = parameters(request)
        tags = TagFilter(normalise_hashtag(hashtag), *(_names(values.get(name)) for name in ("any", "all", "none")))

        def load(cursor: Cursor) -> Page:
            return select(list_tagged_ids(viewer_id, cursor, wanted, tags) if wanted else [], viewer_id)

        return _respond(request, load)

    def _wanted(self, request: Request, kind: str) -> PublicFilter | None:
        """What the caller asks for, cut to what is open to them; None for nothing. Raises Invalid without a user."""
        values = parameters(request)
        local, remote = as_boolean(values.get("local")), as_boolean(values.get("remote"))
        if local == remote:
            local = remote = True
        origins = load_origins(kind, self.viewer_id, local=local, remote=remote)
        if origins is None:
            raise Invalid(_("This method requires an authenticated user"))
        if origins == (False, False):
            return None
        return PublicFilter(None if all(origins) else origins[0], as_boolean(values.get("only_media")))


def _names(raw: Any) -> tuple[str, ...]:
    names = [normalise_hashtag(name) for name in as_list(raw) if isinstance(name, str)]
    return tuple(dict.fromkeys(name for name in names if name))[:_TAGS]


def _respond(request: Request, load: Callable[[Cursor], Page]) -> HttpResponse:
    loaded: list[Page] = []

    def rows(cursor: Cursor) -> list[Row]:
        loaded.append(load(cursor))
        return loaded[0].rows

    page = paginate(request, rows, limit=_LIMIT, next_when="any")
    return page.respond(present(fill(loaded[0])) if page.items else [])
