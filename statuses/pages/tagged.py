"""The page of somebody's posts with a hashtag, which the hashtags on a profile link to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.pages.person import shown_person
from accounts.queries.accounts import find_local
from social.kernel.errors import NotFound
from social.kernel.text.names import is_hashtag
from social.pages.frame import show
from statuses.pages.posts import newest_tagged

POSTS = 20


@require_safe
def tagged(request: HttpRequest, username: str, name: str) -> HttpResponse:
    """`/@:username/tagged/:name`: the newest of a person's posts with the hashtag, as anybody may read them.

    Raises NotFound for who is not here or suspended, and for what is no hashtag.
    """
    account = find_local(username)
    if account.suspended or not is_hashtag(name):
        raise NotFound
    context = {"name": name, "person": shown_person(account), "posts": newest_tagged(account.id, name, limit=POSTS)}
    return show(request, "statuses/tagged.html", context)
