"""What every endpoint promises, for the endpoints of this floor."""

from __future__ import annotations

from tests.factories import statuses as factory
from tests.factories.accounts import make_account
from tests.factories.statuses import make_media, make_status
from tests.support.battery import Row, Scene, battery, every_door
from tests.timelines.conftest import TimelinesDoor


def _posts(door: TimelinesDoor, size: int) -> None:
    author = make_account()
    factory.follow(door.main.account, author)
    for _ in range(size):
        make_status(author, f"#here @{door.main.account.username}", media=[make_media(author)])


def home(door: TimelinesDoor, size: int) -> Scene:
    _posts(door, size)
    return Scene(params={"limit": 40})


def public(door: TimelinesDoor, size: int) -> Scene:
    _posts(door, size)
    return Scene(params={"limit": 40})


def tag(door: TimelinesDoor, size: int) -> Scene:
    _posts(door, size)
    return Scene(ids={"hashtag": "here"}, params={"limit": 40})


test_promises = battery(
    [
        Row("GET api/v1/timelines/home", home, entity="Status", many=True, pages="min_id"),
        Row("GET api/v1/timelines/public", public, entity="Status", many=True, pages="min_id"),
        Row("GET api/v1/timelines/tag/<hashtag>", tag, entity="Status", many=True, pages="min_id"),
    ]
)
test_doors = every_door("timelines.urls")
