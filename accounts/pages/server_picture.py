"""The picture of this server, for previews of pages that show no person's picture: a context processor."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest

from accounts.queries.site_settings import find_site_text
from accounts.serializers.account import file_url


def server_picture(request: HttpRequest) -> dict[str, Callable[[], str]]:
    """Address of the picture that staff have uploaded, else of the default one.

    No query is made where it is not shown, nor for a request with a session: programs that fetch previews have none.
    """

    def find() -> str:
        uploaded = find_site_text("site_thumbnail") if settings.SESSION_COOKIE_NAME not in request.COOKIES else None
        return file_url(uploaded[0] if uploaded else "", "", "thumbnail.png")

    return {"server_picture": find}
