"""Protection of forms that create something: if a form is sent twice (double click, Back button), it takes effect only once."""

import time
from functools import wraps
from hashlib import blake2b
from typing import Final

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from social.kernel import redis
from social.pages.views import View

_KEPT_SECONDS: Final = 3600
#: Seconds for which the later of two identical requests waits for the response to the earlier one.
_WAIT_SECONDS: Final = 3.0
_PENDING: Final = "pending"
_PURPOSE: Final = "remember a form"


def once(view: View) -> View:
    """Wrap a view: a POST request that repeats a request from the last hour gets the same redirect, and the view is not called.

    Requests count as equal if they have the same CSRF token and content; every page has a different token. Responses that are
    not redirects are not stored, because nothing was created. Without Redis, the view is called for each request.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.method != "POST" or "csrfmiddlewaretoken" not in request.POST:
            return view(request, *args, **kwargs)
        files = [(name, [(file.name, file.size) for file in sent]) for name, sent in request.FILES.lists()]
        content = repr((request.user.pk, request.path, sorted(request.POST.lists()), sorted(files)))
        digest = blake2b(content.encode(errors="backslashreplace"), digest_size=16).hexdigest()
        name = redis.key("cache", "form", digest)
        earlier = _claim(name)
        if earlier:
            return HttpResponseRedirect(earlier)
        place = ""
        try:
            found = view(request, *args, **kwargs)
            place = found.headers.get("Location", "")
        finally:
            with redis.best_effort(_PURPOSE):
                if place:
                    redis.client("cache").set(name, place, ex=_KEPT_SECONDS)
                else:
                    redis.client("cache").delete(name)
        return found

    return answer


def _claim(name: str) -> str:
    """Return the redirect target of an earlier equal request; an empty string if this request is the first."""
    ends = time.monotonic() + _WAIT_SECONDS
    with redis.best_effort(_PURPOSE):
        while not redis.client("cache").set(name, _PENDING, nx=True, ex=_KEPT_SECONDS):
            found = redis.client("cache").get(name)
            value = found.decode() if isinstance(found, bytes) else str(found or "")
            if value not in ("", _PENDING):
                return value
            if time.monotonic() > ends:
                break
            time.sleep(0.05)
    return ""
