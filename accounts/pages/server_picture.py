"""Context processor for the picture of this server, which link previews show for pages without a person's picture."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest

from accounts.queries.site_settings import find_site_text
from accounts.serializers.account import file_url


def server_picture(request: HttpRequest) -> dict[str, Callable[[], str]]:
    """The address of the picture that staff have uploaded, else of the default picture.

    No query is made if the picture is not shown, nor for a request with a session, which programs that fetch previews
    do not have.
    """

    def find() -> str:
        uploaded = find_site_text("site_thumbnail") if settings.SESSION_COOKIE_NAME not in request.COOKIES else None
        return file_url(uploaded[0] if uploaded else "", "", "thumbnail.png")

    return {"server_picture": find}
