"""HTTP endpoints for home, list, public, hashtag and link timelines, and the redirect from the main server to streams."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.access import anyone, optional_user, user
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from social.kernel.cursors import Cursor
from social.kernel.errors import Invalid, NotFound
from social.kernel.text.names import normalise_hashtag
from statuses.policies.posts import Post
from statuses.queries.page import PostPage, fill, select
from statuses.serializers.presenting import present
from timelines.policies.access import HASHTAG, LIVE, TRENDING_LINK
from timelines.queries.lists import find_list
from timelines.queries.public import (
    PublicFilter,
    TagFilter,
    list_linking_ids,
    list_public_ids,
    list_tagged_ids,
    load_origins,
)
from timelines.queries.trends import find_trending_link
from timelines.serializers.inputs import LinkInput, PublicInput, TagInput
from timelines.services.home import load_home_page, load_list_page

_PAGES: Final = ByCursor(Limit(20, 40), next_when="any")
_TAGS_LIMIT: Final = 4


class TimelinesViewSet(ApiViewSet):
    """Timelines of posts. Each page that is not empty has links to the next and previous page."""

    endpoints = {
        # `local` has no effect, but is repeated in the links to other pages (contract, parameters).
        "home": Endpoint(user("read:statuses"), "Status", many=True, also=("local",), paging=_PAGES),
        "of_list": Endpoint(user("read:lists"), "Status", many=True, paging=_PAGES),
        "public": Endpoint(optional_user("read:statuses"), "Status", many=True, input=PublicInput, paging=_PAGES),
        "link": Endpoint(optional_user("read:statuses"), "Status", many=True, input=LinkInput, paging=_PAGES),
        "tag": Endpoint(optional_user("read:statuses"), "Status", many=True, input=TagInput, paging=_PAGES),
    }

    def home(self, request: Request) -> HttpResponse:
        """Return the caller's home timeline."""
        account_id = self.account_id
        return self._respond(lambda cursor: load_home_page(account_id, cursor))

    def of_list(self, request: Request, list_id: int) -> HttpResponse:
        """Return the posts of one of the caller's lists."""
        user_list = find_list(list_id, self.account_id)
        return self._respond(lambda cursor: load_list_page(user_list, cursor))

    def public(self, request: Request) -> HttpResponse:
        """Return public posts: only local (`local`) or remote (`remote`) posts, or all."""
        public_filter = self._public_filter(PublicInput.read(request), LIVE)
        return self._respond_public(public_filter, list_public_ids)

    def tag(self, request: Request, hashtag: str) -> HttpResponse:
        """Return public posts with the hashtag or one of `any[]`, with all hashtags in `all[]`, and with none in `none[]`."""
        form = TagInput.read(request)
        public_filter = self._public_filter(form, HASHTAG)
        tags = TagFilter(normalise_hashtag(hashtag), _names(form.any), _names(form.all), _names(form.none))
        return self._respond_public(public_filter, partial(list_tagged_ids, tags=tags))

    def link(self, request: Request) -> HttpResponse:
        """Return public posts that show a trending link; the response for any other link is 404."""
        card_id = find_trending_link(LinkInput.read(request).url)
        public_filter = self._public_filter(PublicInput(), TRENDING_LINK)
        return self._respond_public(public_filter, partial(list_linking_ids, card_id=card_id))

    def _public_filter(self, form: PublicInput, kind: str) -> PublicFilter | None:
        # Restricts the requested origins to those that are open to the caller; returns None if no origin is left.
        local, remote = form.local, form.remote
        if local == remote:
            local = remote = True
        origins = load_origins(kind, self.viewer_id, local=local, remote=remote)
        if origins is None:
            raise Invalid(_("This method requires an authenticated user"))
        if origins == (False, False):
            return None
        return PublicFilter(None if all(origins) else origins[0], form.only_media)

    def _respond_public(self, public_filter: PublicFilter | None, list_ids: Callable[..., list[int]]) -> HttpResponse:
        viewer_id = self.viewer_id
        return self._respond(
            lambda cursor: select(list_ids(viewer_id, cursor, public_filter) if public_filter else [], viewer_id)
        )

    def _respond(self, load: Callable[[Cursor], PostPage]) -> HttpResponse:
        loaded: list[PostPage] = []

        def rows(cursor: Cursor) -> list[Post]:
            loaded.append(load(cursor))
            return loaded[0].rows

        page = self.paginate(rows)
        return page.respond(present(fill(loaded[0])) if page.items else [])


def _names(values: Iterable[str]) -> tuple[str, ...]:
    names = map(normalise_hashtag, values)
    return tuple(dict.fromkeys(name for name in names if name))[:_TAGS_LIMIT]


_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class StreamingRedirectViewSet(ApiViewSet):
    """Redirects to the streaming process, if it has a separate host or port."""

    endpoints = {"redirect": Endpoint(anyone(), None)}

    def redirect(self, request: Request, stream: str = "", variant: str = "") -> HttpResponse:
        """301 to the same path and query at STREAMING_API_BASE_URL. Raises NotFound when that is this server's own address."""
        streaming, own = urlsplit(settings.STREAMING_URL), urlsplit(settings.BASE_URL)
        if _place(streaming) == _place(own):
            raise NotFound
        path = request.get_full_path()
        return HttpResponsePermanentRedirect(f"{own.scheme}://{streaming.netloc}{path}")


def _place(url: SplitResult) -> tuple[str | None, int | None]:
    return url.hostname, url.port or _PORTS.get(url.scheme)
