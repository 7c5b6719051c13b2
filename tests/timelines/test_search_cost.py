"""Tests of the database cost of a page of search results, however many posts match."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import first_at
from statuses.models import Favourite, Status
from tests.factories.accounts import make_remote
from tests.timelines.conftest import Person
from tests.timelines.plans import looked_at
from tests.timelines.searching import index, make_status, posts, search
from timelines.services import postgres_index
from timelines.services.search_index import write_documents

pytestmark = pytest.mark.django_db


def test_pages_of_any_size_take_the_same_number_of_queries(indexable: Person, reader: Person) -> None:
    def cost(word: str, size: int) -> int:
        for _number in range(size):
            make_status(indexable, f"{word} #{word}{_number}")
        index()
        search(reader.api, word)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = search(reader.api, word)
        assert (len(found["statuses"]), len(found["hashtags"])) == (size, size)
        return len(queries)

    assert cost("few", 2) == cost("many", 12)


def test_older_periods_are_not_queried_if_there_are_only_new_posts(indexable: Person, reader: Person) -> None:
    def statements(word: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            search(reader.api, word, type="statuses")
        return sum("found (id, own)" in query["sql"] for query in queries.captured_queries)

    make_status(indexable, "a dog")
    index()
    assert statements("cat") == 1
    spread(indexable, "a cow", [400])
    assert statements("cat") == 3


def spread(author: Person | Account, text: str, ages: Sequence[float], **values: Any) -> list[int]:
    """Create indexed remote posts of these ages in days, and return their ids, newest first."""
    account = author.account if isinstance(author, Person) else author
    made = [
        Status(
            id=first_at(clock.now() - timedelta(days=age)) + place % 1000,
            account=account,
            content=f"<p>{text}</p>",
            local=False,
            uri=f"https://remote.example/spread/{account.id}/{place}",
            created_at=clock.now() - timedelta(days=age),
            visibility="public",
            **values,
        )
        for place, age in enumerate(ages)
    ]
    Status.objects.bulk_create(made, batch_size=1000)
    write_documents([status.id for status in made])
    return [status.id for status in made]


def cost(one: Person, q: str) -> int:
    """Return how many rows PostgreSQL handles to find the posts for a search."""

    def find() -> None:
        assert len(search(one.api, q, type="statuses")["statuses"]) == 20

    return looked_at(find, of="timelines_searchdocument")


@pytest.mark.parametrize(
    "few", [postgres_index._LIBRARY_LIMIT, 1], ids=["begins with the library", "begins with the words"]
)
def test_pages_of_public_and_favourited_posts_go_back_through_years_in_order(
    indexable: Person, author: Person, reader: Person, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_index, "_LIBRARY_LIMIT", few)
    stranger = make_remote()
    # Ages of posts at the limits of the periods that are searched one after the other, and far beyond the last period.
    ages = [0.01, 0.5, 0.9, 1.5, 2.4, 3, 9, 12.5, 13, 24, 26, 37, 40, 150, 199, 205, 390, 410, 600, 610, 2000, 4000]
    public = spread(indexable, "a dog", ages)
    liked = spread(stranger, "the dog", [age + 0.002 for age in ages])
    Favourite.objects.bulk_create([Favourite(account=reader.account, status_id=number) for number in liked])
    expected = sorted([*public, *liked], reverse=True)
    paged: list[int] = []
    for offset in range(0, 50, 5):
        paged += posts(reader, "dog", limit=5, offset=offset, type="statuses")
    assert paged == expected
    walked: list[int] = []
    while found := posts(reader, "dog", limit=3, type="statuses", **({"max_id": walked[-1]} if walked else {})):
        walked += found
    assert walked == expected
    assert posts(reader, "in:library dog", limit=40) == sorted(liked, reverse=True)
    assert posts(reader, f"from:{stranger.username}@{stranger.domain}", limit=40) == sorted(liked, reverse=True)
    assert posts(reader, "in:public dog", limit=40) == sorted(public, reverse=True)
    assert posts(reader, "dog", min_id=expected[10], limit=40) == expected[:10]


def test_a_word_in_every_post_is_found_without_reading_all_favourites(indexable: Person, reader: Person) -> None:
    made = spread(indexable, "a dog", [number / 40 for number in range(3000)])
    Favourite.objects.bulk_create(
        [Favourite(account=reader.account, status_id=number) for number in made], batch_size=1000
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE statuses_status, statuses_favourite, timelines_searchdocument")
    assert cost(reader, "dog") < 3000
    assert cost(reader, "in:library dog") < 3000
    assert cost(reader, f"from:{indexable.account.username}") < 3000
