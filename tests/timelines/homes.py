"""Helpers for the tests of the home timeline."""

from typing import Any

from social.kernel.cursors import Cursor
from tests.factories.statuses import make_status
from tests.timelines.conftest import Person
from timelines.stores import feed

HOME = "/api/v1/timelines/home"


def ids(person: Person, **params: Any) -> list[int]:
    """Return the ids of the posts on a page of the user's home timeline."""
    response = person.api.get(HOME, params)
    assert response.status_code == 200, response.content
    return [int(status["id"]) for status in response.json()]


def cached(person: Person) -> list[int]:
    """Return the ids of the posts in the user's home feed."""
    return [item.id for item in feed.read(feed.home(person.id), person.id, Cursor(2000)).items]


def posts(person: Person, number: int) -> list[int]:
    """Create posts, and return their ids."""
    return [make_status(person.account, f"post {i}").id for i in range(number)]
