"""Tests of the database cost of a home timeline for a user who follows thousands of accounts and a thousand hashtags."""

import json
import time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat, Follow, TagFollow
from accounts.services.tags import ensure_tags
from social.kernel import clock
from social.kernel.cursors import Cursor
from social.kernel.ids import first_at
from statuses.models import Status
from tests.factories.accounts import make_account, make_many_remote, make_remote
from tests.factories.statuses import make_remote_status
from timelines.queries.home import list_home_items

pytestmark = [pytest.mark.django_db, pytest.mark.verify]
PEOPLE, TAGS, EACH, DAYS = 2000, 1000, 30, 40
SIZES = ((PEOPLE, 0), (PEOPLE, 10), (PEOPLE, TAGS), (0, TAGS), (20, 10), (50, 0), (200, 0))


def copies(template: Status, author_sql: str, series: str) -> str:
    """Return SQL that copies a post for every row of a series, with ids of the last days and different authors."""
    changed = {
        "id": f"%(now)s - ((n.number * 7919) %% {DAYS * 86_400})::bigint * 65536000 - n.number",
        "account_id": author_sql,
        "uri": "'https://many.example/posts/' || %(kind)s || n.number",
        "thread_root_id": f"%(now)s - ((n.number * 7919) %% {DAYS * 86_400})::bigint * 65536000 - n.number",
    }
    columns = [field.column for field in Status._meta.concrete_fields]
    values = [changed.get(column, f"t.{column}") for column in columns]
    return (
        f"INSERT INTO statuses_status ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM {series} n (number), statuses_status t WHERE t.id = {template.id} RETURNING id"
    )


def blocks(account_id: int, cursor: Cursor) -> tuple[int, float, int]:
    """Run the query for a page of the home timeline; return its buffers, milliseconds and number of posts, and print repeated
    timings.
    """
    with CaptureQueriesContext(connection) as queries:
        found = list_home_items(account_id, cursor)
    assert len(queries) == 1
    plan: dict[str, Any] = {}
    with connection.cursor() as statement:
        for _time in range(2):  # the second time all data is in memory
            statement.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {queries[0]['sql']}")
            (rows,) = statement.fetchone()
            plan = (json.loads(rows) if isinstance(rows, str) else rows)[0]
    for _time in range(8):  # after eight executions the query is prepared, with a generic plan
        began = time.perf_counter()
        list_home_items(account_id, cursor)
        print(f"  {1000 * (time.perf_counter() - began):.1f}", end="")
    touched = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    return touched, plan["Execution Time"], len(found)


@pytest.fixture
def readers() -> dict[tuple[int, int], Account]:
    """The readers, keyed by the numbers of accounts and hashtags that they follow."""
    authors = make_many_remote(PEOPLE)
    strangers = make_many_of("stranger", 500)
    tags = ensure_tags([(f"tag{number}", f"tag{number}") for number in range(TAGS)])
    template = make_remote_status(make_remote(), "<p>words</p>")
    now = first_at(clock.now())
    readers = {sizes: make_account() for sizes in SIZES}
    for (people, wanted), reader in readers.items():
        AccountStat.objects.update_or_create(account=reader, defaults={"following_count": people})
        Follow.objects.bulk_create(
            [Follow(account=reader, target=author) for author in authors[:people]], batch_size=500
        )
        TagFollow.objects.bulk_create([TagFollow(account=reader, tag=tag) for tag in tags[:wanted]], batch_size=500)
    with connection.cursor() as statement:
        # The ids contain the time of the follow; therefore the follows are older than the posts.
        statement.execute("UPDATE accounts_tagfollow SET id = id - %s", [2 * DAYS * 86_400_000 << 16])
        ids = {"people": [one.id for one in authors], "strangers": [one.id for one in strangers], "now": now}
        series = f"generate_series(1, {PEOPLE * EACH})"
        statement.execute(
            copies(template, f"(%(people)s::bigint[])[1 + n.number %% {PEOPLE}]", series), ids | {"kind": "p"}
        )
        series = f"generate_series({PEOPLE * EACH + 1}, {PEOPLE * EACH + TAGS * EACH})"
        statement.execute(
            copies(template, "(%(strangers)s::bigint[])[1 + n.number %% 500]", series), ids | {"kind": "t"}
        )
        made = [row[0] for row in statement.fetchall()]
        statement.execute(
            "INSERT INTO statuses_statustag (status_id, tag_id) SELECT p.id, (%s::bigint[])[1 + p.place %% %s]"
            " FROM unnest(%s::bigint[]) WITH ORDINALITY p (id, place)",
            [[tag.id for tag in tags], TAGS, made],
        )
        statement.execute("ANALYZE")
    return readers


def make_many_of(prefix: str, number: int) -> list[Account]:
    return Account.objects.bulk_create(
        [
            Account(username=f"{prefix}{one}", domain="other.example", uri=f"https://other.example/{prefix}{one}")
            for one in range(number)
        ],
        batch_size=500,
    )


def test_a_page_takes_a_few_index_reads_for_each_followed_account_and_hashtag(
    readers: dict[tuple[int, int], Account],
) -> None:
    newest, deep = Cursor(40), Cursor(40, before=first_at(clock.now()) - (20 * 86_400_000 << 16))
    for name, cursor in (("newest", newest), ("twenty days ago", deep)):
        for (people, tags), reader in readers.items():
            touched, milliseconds, found = blocks(reader.id, cursor)
            print(
                f" ms. {name}: {people} people, {tags} hashtags: {touched} buffers, {milliseconds:.1f} ms, {found} posts"
            )
            assert found == 40
            if people == PEOPLE:
                # Two of three posts are by followed accounts, so a page is filled without looking up each followed account,
                # which would read 9,000 buffers or more. The exact number depends on what has been vacuumed.
                assert touched < 1500, (name, people, tags)
            else:
                # The whole condition is checked for about as many posts as a page has; the index lookups of followed accounts
                # and hashtags only read ids.
                assert touched < 1500 + 20 * (people + tags), (name, people, tags)


def test_a_page_is_planned_once_for_readers_with_few_and_many_follows(
    readers: dict[tuple[int, int], Account],
) -> None:
    for people in (50, 200, PEOPLE, 50, 200):
        for days in range(4):
            list_home_items(readers[people, 0].id, Cursor(40, before=first_at(clock.now()) - (days * 86_400_000 << 16)))
    with connection.cursor() as statement:
        statement.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%%RECURSIVE%%walk%%'"
        )
        ((generic, custom),) = statement.fetchall()
    # PostgreSQL tries five plans for specific values, and afterwards uses the generic plan if the specific plans are not
    # cheaper.
    assert generic >= 10, (generic, custom)
    assert custom <= 5
