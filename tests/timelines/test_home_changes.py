"""Tests of the immediate effect of changed relations and posts on a home timeline."""

from datetime import timedelta

import pytest

from accounts.models import Mute
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, end_timed_mutes, mute_account, unmute_account
from accounts.services.sanctions import suspend_account, unsuspend_account
from social.kernel import clock, redis
from statuses.models import Status
from tests.factories import statuses as factory
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_reblog, make_remote_status, make_status
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.homes import cached, ids, posts
from timelines.stores import feed

pytestmark = pytest.mark.django_db


def test_a_block_or_mute_hides_posts_before_the_feed_is_rebuilt(reader: Person, author: Person) -> None:
    friend = person()
    follow(reader, author)
    follow(reader, friend)
    ids(reader)
    hidden = posts(author, 25)
    shown = posts(friend, 3)
    hidden += posts(author, 2)
    work()
    assert ids(reader, limit=2) == hidden[:-3:-1]
    mute_account(account=reader.account, target=author.account)
    assert ids(reader, limit=3) == shown[::-1], "the page is full nevertheless"
    unmute_account(account=reader.account, target=author.account)
    work()
    assert ids(reader, limit=40) == sorted([*hidden, *shown], reverse=True)
    block_account(account=author.account, target=reader.account)
    assert ids(reader) == shown[::-1]


def test_unmuting_restores_posts_except_direct_ones(reader: Person, author: Person) -> None:
    follow(reader, author)
    name = reader.account.username
    direct, open_one = make_status(author.account, f"@{name} secret", visibility="direct"), make_status(author.account)
    work()
    assert ids(reader) == [open_one.id, direct.id]
    mute_account(account=reader.account, target=author.account)
    during = make_status(author.account, f"@{name} a second", visibility="direct")
    unmute_account(account=reader.account, target=author.account)
    work()
    assert ids(reader) == [open_one.id]
    assert during.id not in ids(reader)
    later = make_status(author.account, f"@{name} a third", visibility="direct")
    work()
    assert ids(reader) == [later.id, open_one.id]
    feed.drop([feed.home(reader.id)])
    assert ids(reader) == [later.id, open_one.id], "also from SQL"


def test_an_expired_mute_hides_nothing(reader: Person, author: Person) -> None:
    follow(reader, author)
    mute_account(account=reader.account, target=author.account, duration=60)
    work()
    written = posts(author, 2)
    direct = make_status(author.account, f"@{reader.user.account.username} in private", visibility="direct")
    work()
    assert ids(reader) == []
    end = clock.now()
    later = make_status(author.account, f"@{reader.user.account.username} after the end", visibility="direct")
    Mute.objects.update(expires_at=end)
    assert end_timed_mutes() == 1
    work()
    # The posts appear again while the feed is still cached, as after an unmute.
    assert ids(reader) == [later.id, *written[::-1]]
    assert direct.id not in ids(reader)
    redis.client("feeds").flushall()
    assert ids(reader) == [later.id, *written[::-1]]


def test_only_expired_mutes_are_ended(reader: Person, author: Person) -> None:
    for target, seconds in ((author, 60), (person(), 0), (person(), 600)):
        mute_account(account=reader.account, target=target.account, duration=seconds)
    Mute.objects.filter(target=author.account).update(expires_at=clock.now())
    assert end_timed_mutes() == 1
    assert end_timed_mutes() == 0
    assert Mute.objects.filter(account=reader.account).count() == 2


def test_a_deleted_post_disappears_immediately_and_permanently(reader: Person, author: Person) -> None:
    follow(reader, author)
    ids(reader)
    written = posts(author, 3)
    work()
    assert author.api.delete(f"/api/v1/statuses/{written[1]}").status_code == 200
    assert ids(reader) == [written[2], written[0]]
    work()
    assert cached(reader) == [written[2], written[0]]
    redis.client("feeds").flushall()
    assert ids(reader) == [written[2], written[0]]


def test_an_old_fetched_post_appears_immediately_in_its_place(reader: Person, author: Person) -> None:
    elsewhere = make_remote("elsewhere", "one.example")
    factory.follow(reader.account, elsewhere)
    follow(reader, author)
    earlier, later = posts(author, 2)
    assert ids(reader) == [later, earlier]
    # The id of the fetched post is between the ids of the two other posts.
    moment = Status.objects.get(id=later).created_at
    fetched = make_remote_status(elsewhere, created_at=moment - timedelta(milliseconds=1), publish_event=False)
    work()
    expected = sorted([earlier, later, fetched.id], reverse=True)
    assert ids(reader) == expected
    redis.client("feeds").flushall()
    assert ids(reader) == expected


def test_deleting_a_post_removes_its_boosts(reader: Person, author: Person) -> None:
    booster = person()
    follow(reader, booster)
    ids(reader)
    status = make_status(author.account)
    boost = make_reblog(booster.account, status)
    work()
    assert ids(reader) == [boost.id]
    assert author.api.delete(f"/api/v1/statuses/{status.id}").status_code == 200
    work()
    assert ids(reader) == []
    assert cached(reader) == []


def test_an_undone_boost_disappears_from_the_timeline(reader: Person, author: Person) -> None:
    booster = person()
    follow(reader, booster)
    ids(reader)
    status = make_status(author.account)
    make_reblog(booster.account, status)
    work()
    assert booster.api.post(f"/api/v1/statuses/{status.id}/unreblog").status_code == 200
    work()
    assert cached(reader) == []


@pytest.mark.parametrize("looked", [False, True], ids=["not looked at", "looked at before the feed is updated"])
def test_another_boost_of_the_same_post_replaces_an_undone_boost(reader: Person, author: Person, looked: bool) -> None:
    first, second = person(), person()
    for other in (first, second):
        follow(reader, other)
    ids(reader)
    status = make_status(author.account)
    shown, skipped = make_reblog(first.account, status), make_reblog(second.account, status)
    work()
    assert ids(reader) == [shown.id]
    assert first.api.post(f"/api/v1/statuses/{status.id}/unreblog").status_code == 200
    if looked:
        assert ids(reader) == [skipped.id]
    work()
    assert ids(reader) == [skipped.id]
    assert ids(reader) == cached(reader) == [skipped.id]


def test_changed_follow_options_restore_posts_that_the_old_options_hid(reader: Person, author: Person) -> None:
    follow(reader, author)
    written = [make_status(author.account, "hello", language="en").id for _ in range(2)]
    written.append(make_reblog(author.account, make_status(person().account)).id)
    work()
    strict, open_to_all = {"languages": ["de"], "reblogs": False}, {"languages": [], "reblogs": True}
    for options, expected in ((strict, []), (open_to_all, written[::-1])):
        assert reader.api.post(f"/api/v1/accounts/{author.id}/follow", options).status_code == 200
        work()
        assert ids(reader) == expected
        assert cached(reader) == expected


def test_ending_a_suspension_restores_posts_missing_from_feeds_built_meanwhile(reader: Person, author: Person) -> None:
    follow(reader, author)
    theirs, own = make_status(author.account), make_status(reader.account)
    suspend_account(by=OPERATOR, account=author.account)
    assert ids(reader) == [own.id]
    work()
    assert cached(reader) == [own.id]
    unsuspend_account(by=OPERATOR, account=author.account)
    work()
    assert ids(reader) == [own.id, theirs.id]
