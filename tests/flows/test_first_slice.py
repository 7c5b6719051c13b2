"""Tests of basic use by two users: sign-in through the authorize page, a picture, a stream, a favourite, a deletion."""

import io
import queue
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import mastodon
import pytest
import requests
from PIL import Image

from tests.support.browser import submit
from tests.support.instance import Instance
from tests.support.patience import SOON
from tests.support.streams import end_stream

REDIRECT = "urn:ietf:wg:oauth:2.0:oob"
SCOPES = ["read", "write", "follow"]
PASSWORD = "correct horse battery"


def sign_in_by_page(server: Instance, username: str) -> mastodon.Mastodon:
    """Register an app, submit the forms of the site as a browser without JavaScript does, and exchange the code for a token."""
    client_id, secret = mastodon.Mastodon.create_app(
        "First slice", api_base_url=server.base_url, scopes=SCOPES, redirect_uris=REDIRECT
    )
    browser = requests.Session()
    query = {"response_type": "code", "client_id": client_id, "redirect_uri": REDIRECT, "scope": " ".join(SCOPES)}
    sign_in = browser.get(f"{server.base_url}/oauth/authorize", params=query)
    consent = submit(browser, sign_in, login=f"{username}@example.com", password=PASSWORD)
    shown = submit(browser, consent, decision="allow")
    code = parse_qs(urlsplit(shown.url).query)["code"][0]
    assert code in shown.text
    app = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=server.base_url)
    app.log_in(code=code, redirect_uri=REDIRECT, scopes=SCOPES, allow_http=True)
    return app


class StreamListener(mastodon.StreamListener):
    """A listener that collects the events of a stream."""

    def __init__(self) -> None:
        self.received: queue.Queue[tuple[str, Any, float]] = queue.Queue()

    def on_update(self, status: Any) -> None:
        self.received.put(("update", status, time.monotonic()))

    def on_notification(self, notification: Any) -> None:
        self.received.put(("notification", notification, time.monotonic()))

    def on_delete(self, status_id: Any) -> None:
        self.received.put(("delete", status_id, time.monotonic()))

    def wait_for(self, kind: str, fits: Callable[[Any], bool], seconds: float = 60.0) -> tuple[Any, float]:
        """Return the first event of this kind for which `fits` is true, and the time at which it was received."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                found, thing, when = self.received.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                break
            if found == kind and fits(thing):
                return thing, when
        raise AssertionError(f"no {kind} was received within {seconds} s")


def test_a_picture_a_favourite_and_a_deletion_are_streamed_between_two_users(server: Instance) -> None:
    for name in ("painter", "visitor"):
        server.sign_up(name)
    painter, visitor = sign_in_by_page(server, "painter"), sign_in_by_page(server, "visitor")
    visitor.account_follow(painter.me().id)

    stream, painters_stream = StreamListener(), StreamListener()
    streams = [
        visitor.stream_user(stream, run_async=True, reconnect_async=True),
        painter.stream_user(painters_stream, run_async=True, reconnect_async=True),
    ]
    try:
        file = io.BytesIO()
        Image.linear_gradient("L").save(file, "PNG")
        media = painter.media_post(file.getvalue(), mime_type="image/png", description="A gradient")
        said = time.monotonic()
        status = painter.status_post("My first picture #art", media_ids=[media])
        received, when = stream.wait_for("update", lambda thing: str(thing.id) == str(status.id))
        assert when - said < SOON
        assert received.media_attachments[0].description == "A gradient"
        assert requests.get(received.media_attachments[0].url, timeout=60).headers["Content-Type"] == "image/png"
        assert [str(item.id) for item in visitor.timeline_home()] == [str(status.id)]

        visitor.status_favourite(status.id)
        notified, _when = painters_stream.wait_for("notification", lambda thing: thing.type == "favourite")
        assert notified.account.acct == "visitor"
        assert [item.type for item in painter.notifications()][:1] == ["favourite"]

        painter.status_delete(status.id)
        gone, _when = stream.wait_for("delete", lambda thing: str(thing) == str(status.id))
        assert str(gone) == str(status.id)
        assert visitor.timeline_home() == []
        assert status.id not in [item.id for item in visitor.timeline_public()]
        assert painter.notifications(types=["favourite"]) == []
        with pytest.raises(mastodon.MastodonNotFoundError):
            visitor.status(status.id)
    finally:
        for opened in streams:
            end_stream(opened)
