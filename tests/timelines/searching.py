"""Helpers that create posts for search to find, and that search for them."""

from typing import Any

from accounts.models import Account
from social.kernel.outbox import OutboxRow, drain
from statuses.models import Status
from tests.factories.statuses import make_status as publish
from tests.support.client import Api
from tests.timelines.conftest import Person

SEARCH = "/api/v2/search"


def index() -> None:
    """Run the jobs in the search queue."""
    while drain("search"):
        pass
    failed = OutboxRow.objects.filter(queue="search").exclude(last_error="").values_list("subscriber", "last_error")
    assert not list(failed), list(failed)


def make_status(author: Person | Account, text: str = "hello", **values: Any) -> Status:
    return publish(author.account if isinstance(author, Person) else author, text, **values)


def search(api: Api, q: str, **params: Any) -> dict[str, Any]:
    response = api.get(SEARCH, {"q": q, **params})
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def posts(one: Person, q: str, **params: Any) -> list[int]:
    index()
    return [int(status["id"]) for status in search(one.api, q, **params)["statuses"]]


def ids(*found: Status) -> list[int]:
    return [status.id for status in found]
