"""Tests that one account's filters do not delay other users (security row 67)."""

import threading
from collections.abc import AsyncIterator

import pytest

from social.api.identities import find_in_database
from social.kernel.text.searching import Text
from statuses.policies.filters import Filters
from tests.conformance.people import Person
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_remote_status
from tests.timelines.conftest import work
from tests.timelines.test_connections import Client
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.threads import in_thread

pytestmark = pytest.mark.django_db(transaction=True)
V2 = "/api/v2/filters"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of the thread in which each search for keywords ran."""
    found: list[str] = []
    search = Filters.search

    def counted(self: Filters, text: Text) -> dict[int, str]:
        found.append(threading.current_thread().name)
        return search(self, text)

    monkeypatch.setattr(Filters, "search", counted)
    return found


@pytest.fixture
async def registry() -> AsyncIterator[ConnectionRegistry]:
    registry = ConnectionRegistry()
    registry.start()
    yield registry
    await registry.stop()


def _filter(person: Person, *keywords: str) -> None:
    attributes = [{"keyword": keyword, "whole_word": True} for keyword in keywords]
    person.api.post(V2, {"title": "T", "context": ["home"], "keywords_attributes": attributes})


async def test_row_67_filters_are_applied_once_per_event_and_viewer_outside_of_the_event_loop(
    registry: ConnectionRegistry, searches: list[str], alice: Person, bob: Person
) -> None:
    await in_thread(_filter, alice, "ba", "b")
    await in_thread(_filter, bob, "c")
    clients = []
    for person in (alice, bob):
        identity = await in_thread(find_in_database, str(person.api.token))
        assert identity is not None
        for _number in range(8):
            client = Client(registry, identity)
            assert await client.open()
            await client.connection.subscribe("public")
            clients.append(client)
    author = await in_thread(make_remote, "zoe", "remote.example")
    await in_thread(make_remote_status, author, "ba " * 30_000)
    await in_thread(work)
    payloads = [(await client.next()).payload or b"" for client in clients]
    assert [b'"keyword_matches":["ba"]' in payload for payload in payloads] == [True] * 8 + [False] * 8
    assert len(searches) == 2
    assert threading.current_thread().name not in searches


def test_row_67_filters_are_applied_once_to_a_post_however_often_a_page_shows_it(
    searches: list[str], alice: Person, bob: Person
) -> None:
    _filter(alice, "ba", "b")
    post = bob.post("ba")
    carol = Person("carol")
    for booster in (bob, carol):
        booster.do(f"statuses/{post['id']}/reblog")
        alice.do(f"accounts/{booster.id}/follow")
    searches.clear()
    shown = alice.read("timelines/home")
    assert [status["filtered"][0]["keyword_matches"] for status in shown] == [["ba"]] * len(shown)
    shown = alice.read(f"accounts/{bob.id}/statuses")
    assert len(shown) == 2, "the post and its boost are shown"
    assert len(searches) == 2, "each page searches once"
