"""Tests of query plans for tables in which most rows have the same key, and these rows were added last.

`filter(column=key).order_by("id")[:some]` uses the primary key if the planner expects such rows everywhere: it then reads the
whole table up to the first match, again in every step.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import Account, AccountStat, Domain, Follow, Tag
from accounts.queries.discovery import list_directory, load_suggestions
from accounts.services import erasing
from accounts.transfers.services.portable_lists import find_list
from benchmarks.measuring import insert
from federation.models import Delivery, OutboundActivity
from federation.remote.servers import load_servers
from social.kernel import clock
from social.kernel.cursors import Cursor
from social.kernel.ids import first_at
from statuses.models import Bookmark, Favourite, MediaAttachment, Mention, Status, StatusTag
from statuses.queries.listings import AccountStatusesFilter, load_account_statuses
from statuses.services import account_steps, deleting
from statuses.services.interactions import take_back_favourites
from tests.factories.accounts import make_account, make_many_remote, make_remote
from tests.timelines.plans import looked_at
from timelines.queries import public
from timelines.queries.public import PublicFilter, TagFilter, list_tagged_ids

pytestmark = pytest.mark.django_db

OTHERS, OF_KEY = 5_000, 3_000
#: The maximum number of rows that a step of 100 to 500 rows may read, including the changed rows and their relations.
FEW = 3_000


@pytest.fixture(scope="module")
def skewed_data(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """The id of the hub. Each test's changes are rolled back after the test, and the data itself after the last test."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_hub().id
        transaction.set_rollback(True)


@pytest.fixture
def hub(skewed_data: int) -> Account:
    """The account to which most rows of the tables belong."""
    return Account.objects.get(id=skewed_data)


def make_hub() -> Account:
    """Create an account with three thousand new replies and mentions, whose authors follow it and whom it favourites."""
    hub, other = make_account("hub"), make_account("other")
    make_many_remote(OF_KEY)
    first = first_at(clock.now()) - (OTHERS + OF_KEY + 10 << 16)
    everything = f"generate_series(1, {OTHERS + OF_KEY}) n"
    of_key = f"n > {OTHERS}"
    number, root, boosted = f"{first} + (n::bigint << 16)", first - 2, first - 1
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE strangers AS SELECT row_number() OVER () AS place, id FROM accounts_account"
            " WHERE domain = 'many.example'"
        )
    stranger = f"(SELECT id FROM strangers WHERE place = 1 + n % {OF_KEY})"
    for post in (root, boosted):
        Status.objects.create(id=post, account=hub, local=True)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for condition, place, more in (
            (f"n <= {OTHERS}", number, {}),
            (f"{of_key} AND n % 2 = 0", number, {"in_reply_to_id": str(root), "in_reply_to_account_id": str(hub.id)}),
            (f"{of_key} AND n % 2 = 1", number, {"reblog_of_id": str(boosted)}),
        ):
            insert(
                Status,
                {
                    "id": place,
                    "account_id": stranger,
                    "local": "false",
                    "uri": "'https://many.example/' || n",
                    "created_at": "now()",
                }
                | more,
                f"(SELECT * FROM {everything} WHERE {condition}) numbers",
            )
        whose = f"CASE WHEN {of_key} THEN {hub.id} ELSE {other.id} END"
        insert(Mention, {"status_id": number, "account_id": whose}, everything)
        insert(Favourite, {"status_id": number, "account_id": whose, "created_at": "now()"}, everything)
        insert(Bookmark, {"status_id": number, "account_id": whose, "created_at": "now()"}, everything)
        insert(
            Follow,
            {
                "account_id": f"CASE WHEN {of_key} THEN {hub.id} ELSE {stranger} END",
                "target_id": f"CASE WHEN {of_key} THEN {stranger} ELSE {other.id} END",
                "created_at": "now()",
            },
            f"(SELECT n FROM {everything} WHERE n > {OTHERS - OF_KEY}) numbers",
        )
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute(
            "ANALYZE statuses_status, statuses_mention, statuses_favourite, statuses_bookmark, accounts_follow,"
            " accounts_account"
        )
    return hub


def test_steps_read_few_rows_besides_their_own(hub: Account) -> None:
    boosted = Status.objects.filter(account=hub).latest("id").id
    root = Status.objects.filter(account=hub).earliest("id").id
    of_many = make_remote("many")
    steps: dict[str, Callable[[], object]] = {
        "posts that answer or mention the account": lambda: account_steps._leave_posts_of_others(hub.id),
        "boosts of a post": lambda: deleting._delete_boosts([boosted]),
        "answers to a post": lambda: deleting._detach_answers([root]),
        "posts moved to another account, after some were": lambda: account_steps._move("account_id", of_many, hub),
        "answers moved to another account": lambda: account_steps._move("in_reply_to_account_id", hub, of_many),
        "files of the account": lambda: account_steps._remove_files(hub.id),
        "likes of the account": lambda: take_back_favourites(account_id=hub.id, limit=100),
        "bookmarks that are exported": lambda: next(find_list("bookmarks").rows(hub.id)),
        "posts of an account with a hashtag": lambda: load_account_statuses(
            hub.id, None, AccountStatusesFilter(tagged="none"), Cursor(20)
        ),
    }
    found = {name: looked_at(call, "ORDER BY") for name, call in steps.items()}
    assert {name: rows for name, rows in found.items() if rows > FEW} == {}


def test_follows_of_an_erased_account_are_found_without_reading_follows_of_others(
    hub: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "end_following", lambda *_pair, **_more: None)
    assert looked_at(lambda: erasing._end_relations(hub.id), "accounts_follow") < 1000


def test_a_page_of_a_hashtag_reads_few_posts_whatever_its_filters(
    hub: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    common, rare = (Tag.objects.create(name=name, display_name=name) for name in ("common", "rare"))
    insert(StatusTag, {"status_id": "id", "tag_id": str(common.id)}, "statuses_status WHERE reblog_of_id IS NULL")
    insert(
        StatusTag, {"status_id": "id", "tag_id": str(rare.id)}, "(SELECT id FROM statuses_status ORDER BY id LIMIT 9) s"
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE statuses_statustag, accounts_tag")
    monkeypatch.setattr(public, "POSTS_LOOKED_AT", 500)

    def page(tags: TagFilter, wanted: PublicFilter | None = None) -> list[int]:
        return list_tagged_ids(None, Cursor(20), wanted or PublicFilter(), tags)

    assert len(page(TagFilter("common"))) == 20
    assert len(page(TagFilter("common", all=["rare"]))) == len(page(TagFilter("rare", all=["common"]))) == 9
    assert page(TagFilter("common", none=["common"])) == page(TagFilter("common"), PublicFilter(only_media=True)) == []
    assert looked_at(lambda: page(TagFilter("common", all=["rare"]))) < 3_000
    assert looked_at(lambda: page(TagFilter("common", none=["common"]))) < 100
    assert looked_at(lambda: page(TagFilter("common"), PublicFilter(only_media=True))) < 3_000
    assert looked_at(lambda: page(TagFilter("common"), PublicFilter(local=True))) < 3_000


def test_lists_of_accounts_and_servers_read_few_rows_however_many_there_are(hub: Account) -> None:
    strangers = Account.objects.filter(domain="many.example")
    strangers.update(discoverable=True)
    AccountStat.objects.bulk_create(
        AccountStat(account=account, statuses_count=1, followers_count=place, last_status_at=clock.now())
        for place, account in enumerate(strangers)
    )
    names = [Domain.objects.create(name=f"few{number}.example").name for number in range(20)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_account, accounts_accountstat, accounts_domain")
    page = list_directory(None, order="active", local=False).values_list("id", flat=True)[1500:1540]
    assert len(list(page)) == 40
    plan = page.explain()
    assert ("accounts_accountstat_active" in plan, "Sort" in plan, "accounts_user" in plan) == (True, False, True), plan
    assert looked_at(lambda: list(page)) < 10_000
    assert looked_at(lambda: load_servers([*names, "many.example"], limit=50)) < 40_000
    assert looked_at(lambda: load_servers(names, limit=50)) < 1_500
    assert looked_at(lambda: load_suggestions(hub.id)) < 30_000


@pytest.mark.parametrize("wanted", [{}, {"only_media": True}, {"exclude_replies": True}, {"exclude_direct": True}])
def test_a_page_of_an_account_reads_few_of_its_posts_without_statistics(wanted: dict[str, Any]) -> None:
    author, number = make_account("writer"), f"{first_at(clock.now()) - (2_010 << 16)} + (n::bigint << 16)"
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        columns = {"id": number, "account_id": str(author.id), "local": "true", "created_at": "now()"}
        insert(Status, columns, "generate_series(1, 2000) n")
        insert(
            MediaAttachment,
            {"status_id": number, "account_id": str(author.id), "type": "'image'", "created_at": "now()"},
            "generate_series(1, 2000) n",
        )
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute(
            "SELECT pg_clear_attribute_stats('public', 'statuses_status', attname, false) FROM pg_attribute"
            " WHERE attrelid = 'statuses_status'::regclass AND attnum > 0 AND NOT attisdropped"
        )
        # Only this column is analysed; its statistics say that the author has most of the rows.
        cursor.execute("ANALYZE statuses_status (account_id)")

    def page() -> list[int]:
        return [
            row.id for row in load_account_statuses(author.id, None, AccountStatusesFilter(**wanted), Cursor(20)).rows
        ]

    assert len(page()) == 20
    assert looked_at(page) < 1_000


def test_deliveries_that_were_given_up_are_counted_once_for_all_servers_of_a_page() -> None:
    names = [Domain.objects.create(name=f"few{number}.example").name for number in range(20)]
    activity = OutboundActivity.objects.create(account=make_account("sender"), type="Create", body={})
    with connection.cursor() as cursor:
        insert(
            Delivery,
            {
                "due_at": "now()",
                "dead_at": "now()",
                "created_at": "now()",
                "host": "CASE WHEN n <= 3 THEN 'few1.example' ELSE 'many.example' END",
                "activity_id": str(activity.id),
                "inbox_url": "'https://many.example/inbox/' || n",
                "key": "n::text",
            },
            "generate_series(1, 2000) n",
        )
        cursor.execute("ANALYZE federation_delivery, accounts_domain")
    given_up = {server["domain"]: server["given_up"] for server in load_servers(names, limit=50)}
    assert given_up == dict.fromkeys(names, 0) | {"few1.example": 3}
    assert looked_at(lambda: load_servers(names, limit=50)) < 4_000
