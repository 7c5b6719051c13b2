"""Tests of loading a page of posts with all data for its entities, in a fixed number of queries."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from social.kernel import clock, fragments, redis
from statuses.models import PreviewCard, Status, StatusCard
from statuses.policies.posts import Post
from statuses.queries.marks import load_marks
from statuses.queries.page import hydrate, select
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import PageSerializer, present, present_statuses
from tests.factories.accounts import make_account, make_many_remote, make_remote
from tests.factories.statuses import (
    block,
    follow,
    make_favourite,
    make_media,
    make_reblog,
    make_remote_status,
    make_status,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


def full_posts(viewer: Account, number: int) -> list[Status]:
    """Create posts with every kind of content, by different accounts; every second post is a boost."""
    for domain in (None, "remote.example"):
        CustomEmoji.objects.get_or_create(shortcode="blob", domain=domain, remote_url="https://remote.example/blob.png")
    root = make_status(viewer)
    posts: list[Status] = []
    for place in range(number):
        author, friend = make_remote(display_name=":blob:"), make_remote()
        follow(viewer, author)
        status = make_remote_status(
            author,
            "<p>hello :blob:</p>",
            mentions=[friend],
            tags=[(f"tag{place}", f"Tag{place}")],
            media_ids=[make_media(author).id],
            parent=root,
            visibility="private" if place % 3 == 0 else "public",
        )
        make_favourite(viewer, status)
        posts.append(make_reblog(author, status) if place % 2 else status)
    return posts


def _nothing_kept() -> None:
    redis.client("cache").flushdb()


def _queries(ids: list[int], viewer_id: int | None) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        entities = present_statuses(ids, viewer_id)
    assert len(entities) == len(ids)
    return [query["sql"] for query in captured.captured_queries]


@pytest.mark.parametrize("viewed", [True, False])
def test_a_page_takes_as_many_queries_as_two_posts(alice: Account, viewed: bool) -> None:
    posts = full_posts(alice, 40)
    viewer_id = alice.id if viewed else None
    ids = [post.id for post in posts if viewed or post.visibility == "public"]
    _nothing_kept()
    few = _queries(ids[:2], viewer_id)
    _nothing_kept()
    many = _queries(ids, viewer_id)
    assert len(few) == len(many) == (6 if viewed else 4), "\n".join(many)
    # The queries with cached bodies: rows, relations and marks.
    assert len(_queries(ids[:2], viewer_id)) == len(_queries(ids, viewer_id)) == (3 if viewed else 1)


def test_posts_are_loaded_once_each_in_the_requested_order(alice: Account) -> None:
    posts = [make_status(alice).id for _number in range(5)]
    asked = [posts[3], posts[0], 1, posts[4], posts[3]]
    assert [row.id for row in load_posts(asked)] == [posts[3], posts[0], posts[4]]
    assert load_posts([]) == []
    assert hydrate([], alice.id).rows == []


def test_a_loaded_post_has_the_values_that_visibility_rules_need(alice: Account, bob: Account) -> None:
    status = make_status(alice, "@bob", language="de")
    answer = make_status(bob, "yes", reply_to=status)
    reblog = make_reblog(bob, status)
    first, second, third = load_posts([status.id, answer.id, reblog.id])
    assert (first.account_id, first.addressed_ids, first.language) == (alice.id, [bob.id], "de")
    assert (first.replies_count, first.reblogs_count, first.author.statuses_count) == (1, 1, 1)
    assert abs(first.created_at - status.created_at).total_seconds() < 0.001
    assert first.author.last_status_on == status.created_at.date().isoformat()
    assert (second.is_reply, second.in_reply_to_account_id) == (True, alice.id)
    assert (third.original, third.proper.id, third.mentioned_ids) == (first, status.id, [bob.id])
    assert isinstance(third, Post)


def fetched() -> int:
    """Return the number of rows of favourites and posts that this transaction has read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(idx_tup_fetch + seq_tup_read) FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('statuses_favourite', 'statuses_status')"
        )
        return int(cursor.fetchone()[0])


def test_loading_marks_reads_few_rows_despite_many_favourites(alice: Account, bob: Account) -> None:
    liked = make_status(bob)
    make_favourite(alice, liked)
    make_reblog(alice, liked)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO statuses_status (account_id, text, content, content_type, spoiler_text, sensitive, visibility, local,"
            " version, created_at) SELECT %s, '', '', '', '', false, 'public', true, 1, now() FROM generate_series(1, 5000)",
            [bob.id],
        )
        cursor.execute(
            "INSERT INTO statuses_favourite (account_id, status_id, created_at)"
            " SELECT %s, id, now() FROM statuses_status WHERE id <> %s AND reblog_of_id IS NULL",
            [alice.id, liked.id],
        )
        cursor.execute("ANALYZE statuses_favourite")
        cursor.execute("ANALYZE statuses_status")
    ids = [liked.id, *(make_status(bob).id for _number in range(3))]
    before = fetched()
    marks = load_marks([alice.id], ids)[alice.id]
    load_posts(ids)
    assert fetched() - before < 40
    assert (marks.favourited, marks.reblogged) == ({liked.id}, {liked.id})


def test_a_post_that_thousands_have_boosted_costs_no_more_to_show_than_others(alice: Account, bob: Account) -> None:
    people = make_many_remote(1500)
    famous, *others = Status.objects.bulk_create(
        (Status(account=bob, local=False, uri=f"https://many.example/posts/{number}") for number in range(1501)),
        batch_size=500,
    )
    # All other posts have one boost, so the planner expects one boost for any post.
    boosts = [*((person, famous) for person in people), *((people[0], status) for status in others)]
    Status.objects.bulk_create(
        (
            Status(account=person, local=False, uri=f"https://many.example/boosts/{number}", reblog_of=status)
            for number, (person, status) in enumerate(boosts)
        ),
        batch_size=500,
    )
    own = make_reblog(alice, famous)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE statuses_status")
    before = fetched()
    assert load_marks([alice.id], [famous.id])[alice.id].reblogged == {famous.id}
    assert load_marks([bob.id], [famous.id, others[0].id]) == {}
    assert fetched() - before < 40
    Status.objects.filter(id=own.id).update(deleted_at=clock.now())
    assert load_marks([alice.id], [famous.id]) == {}


def test_the_marks_of_many_viewers_come_in_one_query_and_each_is_the_viewers_own(alice: Account, bob: Account) -> None:
    posts = [make_status(bob) for _number in range(3)]
    make_favourite(alice, posts[0])
    make_reblog(bob, posts[1])
    with CaptureQueriesContext(connection) as captured:
        marks = load_marks([alice.id, bob.id], [post.id for post in posts])
    assert len(captured.captured_queries) == 1
    assert set(marks) == {alice.id, bob.id}
    assert (marks[alice.id].favourited, marks[alice.id].reblogged) == ({posts[0].id}, set())
    assert (marks[bob.id].favourited, marks[bob.id].reblogged) == (set(), {posts[1].id})


def test_cards_are_added_to_a_body_that_is_cached(alice: Account) -> None:
    status = make_status(alice)
    present_statuses([status.id], None)
    card = PreviewCard.objects.create(url="https://there.example/", title="a card")
    StatusCard.objects.create(status=status, card=card, url=card.url)
    page = hydrate([status.id], None)
    assert (page.bodies, page.sources) != ({}, {})
    assert page.sources == {}
    (entity,) = orjson.loads(orjson.dumps(present(page)))
    assert (entity["card"]["title"], entity["poll"], entity["quote"]) == ("a card", None, None)


def test_the_text_that_filters_search_is_cached_beside_the_body(alice: Account) -> None:
    status = make_status(alice, "Ham & **eggs** #spam", spoiler_text="food", media=[make_media(alice, "a plate")])
    for _time in ("made", "kept"):
        serializer = PageSerializer(hydrate([status.id], None))
        assert serializer.data
        fragments.save(serializer.fresh)
        assert serializer.bodies[status.id]["words"] == "food\n\nHam & **eggs** #spam\n\na plate"


def test_the_relations_of_a_page_include_every_account_that_conditions_may_need(
    alice: Account, bob: Account, carol: Account
) -> None:
    dave = make_account("dave")
    for person in (bob, carol, dave):
        follow(alice, person)
    root = make_status(dave)
    answer = make_status(bob, "@carol", reply_to=root)
    page = select([make_reblog(make_account(), answer).id], alice.id)
    assert set(page.relations.following) == {bob.id, carol.id, dave.id}


def test_the_callers_condition_is_applied_after_visibility(alice: Account, bob: Account) -> None:
    mine, hidden = make_status(alice), make_status(bob, visibility="direct")
    asked: list[int] = []

    def refuse(row: Post, _relations: Any) -> bool:
        asked.append(row.id)
        return False

    assert select([mine.id, hidden.id], alice.id, refuse).rows == []
    assert asked == [mine.id]


def test_a_cached_body_is_never_shown_to_accounts_that_may_not_read_it(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    assert len(present_statuses([status.id], bob.id)) == 1
    block(alice, bob)
    assert present_statuses([status.id], bob.id) == []
    Status.objects.filter(id=status.id).update(visibility="private")
    assert present_statuses([status.id], None) == []


def test_without_redis_a_page_is_complete(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [post.id for post in full_posts(alice, 4)]
    whole = orjson.dumps(present_statuses(ids, alice.id))

    def down(*_arguments: object) -> None:
        raise redis.RedisError("down")

    monkeypatch.setattr(redis, "client", down)
    assert orjson.dumps(present_statuses(ids, alice.id)) == whole
    monkeypatch.undo()


def test_a_post_deleted_during_loading_is_left_out(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    from statuses.queries import page

    posts = [make_status(alice), make_status(alice)]
    real = page.load_bodies
    monkeypatch.setattr(page, "load_bodies", lambda ids: real(set(ids) - {posts[0].id}))
    shown = orjson.loads(orjson.dumps(present_statuses(posts, alice.id)))
    assert [entity["id"] for entity in shown] == [str(posts[1].id)]


@pytest.mark.parametrize("microsecond", [0, 1, 999, 1000, 122_999, 123_000, 123_999, 999_000, 999_999])
def test_times_are_truncated_to_the_millisecond_and_never_rounded_up(microsecond: int) -> None:
    moment = datetime(2026, 5, 17, 23, 59, 59, microsecond, tzinfo=UTC)
    status = make_status(make_account())
    Status.objects.filter(id=status.id).update(created_at=moment)
    (row,) = load_posts([status.id])
    assert row.created_at == moment.replace(microsecond=microsecond // 1000 * 1000)
