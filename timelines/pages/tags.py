"""The page of a hashtag, which every post that uses one links to."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.text.scan import Kind, normalise_hashtag, scan
from social.pages.frame import show
from statuses.pages.posts import load_shown
from timelines.policies.access import HASHTAG
from timelines.queries.access import load_origins
from timelines.queries.public import PublicFilter, TagFilter, list_tagged_ids

POSTS: Final = 20


@require_safe
def tag(request: HttpRequest, name: str) -> HttpResponse:
    """`/tags/:name`: the newest public posts with the hashtag, as anybody may read them (contract, behaviours section 11).

    Raises NotFound for what cannot be a hashtag; one that nobody has used has a page without posts.
    """
    tokens = scan(f"#{name}")
    if len(tokens) != 1 or tokens[0].kind is not Kind.HASHTAG:
        raise NotFound
    wanted = _open_to_all()
    ids = list_tagged_ids(None, Cursor(POSTS), wanted, TagFilter(normalise_hashtag(name))) if wanted else []
    context: dict[str, Any] = {"name": name, "posts": load_shown(ids), "closed": wanted is None}
    return show(request, "timelines/tag.html", context)


def _open_to_all() -> PublicFilter | None:
    """What of a hashtag's timeline is shown without signing in; None for nothing."""
    for local, remote in ((True, True), (True, False), (False, True)):
        origins = load_origins(HASHTAG, None, local=local, remote=remote)
        if origins is not None and any(origins):
            return PublicFilter(None if all(origins) else origins[0])
    return None
