"""Tests of streams for pages of signed-in users, who are identified by their session (docs/adr/0038)."""

import json
from collections.abc import Callable

import pytest
import requests
from django.conf import settings
from django.test import Client
from websockets.exceptions import InvalidStatus

from social.kernel.outbox import drain
from tests.factories.statuses import make_status
from tests.support.client import signed_in
from tests.support.patience import SOON
from tests.timelines.conftest import Person, follow, work
from tests.timelines.listeners import Socket, open_from_page
from tests.timelines.server import StreamingServer

pytestmark = pytest.mark.django_db(transaction=True)


def browser_of(someone: Person) -> Client:
    browser = signed_in(someone.user)
    assert browser.get("/").status_code == 200
    return browser


def test_a_page_receives_posts_and_notifications_through_its_session(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    follow(reader, author)
    own = make_status(reader.account, "mine")
    work()
    with open_from_page(server, browser_of(reader)) as home:
        with open_from_page(server, browser_of(reader), stream="user:notification") as other:
            status = make_status(author.account, "hello")
            work()
            assert home.update()["id"] == str(status.id)
            assert author.api.post(f"/api/v1/statuses/{own.id}/favourite").status_code == 200
            while drain("notifications"):
                pass
            assert json.loads(other.next()["payload"])["status"]["id"] == str(own.id)
            assert home.next()["event"] == "notification"
        home.say(type="subscribe", stream="direct")
        assert home.is_silent()


def test_pages_of_other_sites_and_other_requests_receive_nothing_through_a_session(
    server: StreamingServer, reader: Person
) -> None:
    browser = browser_of(reader)
    name = settings.SESSION_COOKIE_NAME
    cookie = f"{name}={browser.cookies[name].value}"
    own = settings.BASE_URL
    for headers in (
        {"Cookie": cookie},
        {"Cookie": cookie, "Origin": "https://elsewhere.example"},
        {"Cookie": cookie, "Origin": f"{own}.elsewhere.example"},
        {"Cookie": cookie, "Origin": "null"},
        {"Cookie": f"{name}=unknown", "Origin": own},
        {"Origin": own},
        # A session does not replace a wrong token.
        {"Cookie": cookie, "Origin": own, "Authorization": "Bearer wrong"},
    ):
        with pytest.raises(InvalidStatus) as refused:
            Socket(server, None, headers=headers, stream="user")
        assert refused.value.response.status_code == 401, headers
    answer = requests.get(f"{server.http}/user", headers={"Cookie": cookie, "Origin": own}, timeout=10)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "end",
    [
        lambda browser, _other: browser.post("/auth/sign_out"),
        lambda _browser, other: other.post("/auth/sessions"),
    ],
    ids=["signed out", "signed out from another browser"],
)
def test_row_24_streams_of_a_page_end_with_its_session(
    server: StreamingServer, reader: Person, end: Callable[[Client, Client], object]
) -> None:
    browser, other = browser_of(reader), browser_of(reader)
    with open_from_page(server, browser) as ended, Socket(server, reader.api.token, stream="user") as kept:
        end(browser, other)
        assert ended.is_closed(SOON) == 1008
        assert kept.is_silent()
