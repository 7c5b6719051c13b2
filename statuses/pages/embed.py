"""The page of a post for frames of other sites."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from social.kernel.errors import NotFound
from social.pages.frame import allow_framing, allow_scripts, show
from statuses.pages.posts import load_shown
from statuses.queries.embeds import find_embeddable


@require_safe
def embed(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/@:username/:id/embed` and `/users/:username/statuses/:id/embed`: one post, as anybody may read it.

    Its script only tells the page around it how high it is. Raises NotFound.
    """
    status = find_embeddable(username, id)
    for post in load_shown([status.id]):
        return allow_framing(allow_scripts(show(request, "statuses/embed.html", {"post": post})))
    raise NotFound
