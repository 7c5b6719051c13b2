"""What every endpoint promises, for the endpoints of this app."""

from __future__ import annotations

from tests.factories import statuses as factory
from tests.factories.accounts import make_account
from tests.factories.statuses import make_media, make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def _posts(callers: Callers, size: int) -> None:
    author = make_account()
    factory.follow(callers.account, author)
    for _ in range(size):
        make_status(author, f"#here @{callers.account.username}", media=[make_media(author)])


def home(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene()


def public(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene()


def tag(callers: Callers, size: int) -> Scene:
    _posts(callers, size)
    return Scene(ids={"hashtag": "here"})


def nothing(callers: Callers, size: int) -> Scene:
    return Scene(ids={"stream": "public", "variant": "local"})


ELSEWHERE = {"STREAMING_URL": "wss://streaming.example"}
ROWS = [
    Row("GET api/v1/timelines/home", home),
    Row("GET api/v1/timelines/public", public),
    Row("GET api/v1/timelines/tag/<hashtag>", tag),
    Row("GET api/v1/streaming", nothing, settings=ELSEWHERE),
    Row("GET api/v1/streaming/<stream>", nothing, settings=ELSEWHERE),
    Row("GET api/v1/streaming/<stream>/<variant>", nothing, settings=ELSEWHERE),
]
test_promises = battery(ROWS)
