"""Tests that a home timeline always equals the result of SQL alone, whatever happens and whatever data Redis loses."""

import contextlib
import random
from datetime import timedelta

import pytest

from accounts.models import Block, Follow, Mute
from accounts.services.blocking import block_account, mute_account, unblock_account, unmute_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from social.kernel import clock, redis
from social.kernel.cursors import Cursor
from social.kernel.errors import KernelError
from statuses.models import Status
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_reblog, make_remote_status, make_status
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.worlds import shown
from timelines.queries.home import list_home_items
from timelines.services.home import load_home_page
from timelines.stores.feed import feed_key, home, read

pytestmark = pytest.mark.django_db


class Life:
    """A reader who sometimes reads, and other accounts that post, follow, block and delete."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.reader = person()
        self.people = [person() for _ in range(4)]
        self.remote = make_remote()
        Follow.objects.create(account=self.reader.account, target=self.remote)

    def someone(self) -> Person:
        return self.chance.choice(self.people)

    def a_post(self) -> Status | None:
        return self.chance.choice(list(Status.objects.filter(deleted_at=None, reblog_of=None)) or [None])

    def post(self) -> None:
        make_status(self.chance.choice([self.reader, *self.people]).account)

    def answer(self) -> None:
        make_status(self.someone().account, reply_to=self.a_post())

    def boost(self) -> None:
        if status := self.a_post():
            make_reblog(self.someone().account, status)

    def late_post(self) -> None:
        moment = clock.now() - timedelta(seconds=self.chance.randint(0, 3600))
        make_remote_status(self.remote, created_at=moment)

    def delete(self) -> None:
        author = self.someone()
        status = Status.objects.filter(account=author.account, deleted_at=None).order_by("?").first()
        if status is not None:
            author.api.delete(f"/api/v1/statuses/{status.id}")

    def follow(self) -> None:
        follow_account(account=self.reader.account, target=self.someone().account, change=FollowChange())

    def unfollow(self) -> None:
        unfollow_account(account=self.reader.account, target=self.someone().account)

    def mute(self) -> None:
        target = self.someone().account
        change = unmute_account if Mute.objects.filter(target=target).exists() else mute_account
        change(account=self.reader.account, target=target)

    def block(self) -> None:
        one, other = self.reader.account, self.someone().account
        if self.chance.random() < 0.5:
            one, other = other, one
        change = unblock_account if Block.objects.filter(account=one, target=other).exists() else block_account
        change(account=one, target=other)

    def forget(self) -> None:
        redis.client("feeds").flushdb()

    def read(self) -> None:
        """Compare a random page with the result of SQL."""
        work()
        known = list(Status.objects.values_list("id", flat=True)) or [1]
        bound = self.chance.choice([None, None, *known])
        cursor = Cursor(
            self.chance.choice([2, 5, 20, 40]),
            before=bound if self.chance.random() < 0.5 else None,
            after=bound if self.chance.random() < 0.5 else None,
        )
        if cursor.after and cursor.before is None and self.chance.random() < 0.5:
            cursor = Cursor(cursor.limit, after=cursor.after, ascending=True)
        page = load_home_page(self.reader.id, cursor).ids
        truth = shown(list_home_items(self.reader.id, Cursor(10_000)))
        span = [post for post in truth if (cursor.after or 0) < post < (cursor.before or 2**62)]
        assert page == (span[-cursor.limit :] if cursor.ascending else span[: cursor.limit]), cursor


@pytest.mark.parametrize("seed", range(6))
def test_a_home_timeline_is_the_same_with_and_without_a_feed(seed: int) -> None:
    live_a_life(seed, 120)


@pytest.mark.verify
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("seed", range(100, 160))
def test_a_home_timeline_is_the_same_with_and_without_a_feed_in_long_runs(seed: int) -> None:
    live_a_life(seed, 400)


def live_a_life(seed: int, length: int) -> None:
    life = Life(seed)
    rare = [life.delete, life.follow, life.unfollow, life.mute, life.block, life.forget]
    common = [life.post, life.post, life.post, life.answer, life.boost, life.late_post, life.read, life.read, work]
    for _ in range(3):
        life.follow()
    for _ in range(length):
        with contextlib.suppress(KernelError):  # the randomly chosen action may not be permitted
            life.chance.choice(rare if life.chance.random() < 0.15 else common)()
    life.read()


def test_no_post_is_missing_after_redis_restarts_with_old_data(reader: Person, author: Person) -> None:
    follow(reader, author)
    posted = [str(make_status(author.account).id) for _ in range(3)]
    work()
    assert [status["id"] for status in reader.api.get("/api/v1/timelines/home").json()] == posted[::-1]
    connection = redis.client("feeds")
    copy = connection.dump(feed_key(home(reader.id)))
    posted.append(str(make_status(author.account).id))
    work()
    # The state of Redis after it was killed and has loaded its last snapshot: the data, but no Lua scripts.
    connection.restore(feed_key(home(reader.id)), 0, copy, replace=True)
    connection.script_flush()
    assert [status["id"] for status in reader.api.get("/api/v1/timelines/home").json()] == posted[::-1]
    posted.append(str(make_status(author.account).id))
    work()
    assert read(home(reader.id), reader.id, Cursor(1)).lowest is not None, "the feed is used again"
    assert [status["id"] for status in reader.api.get("/api/v1/timelines/home").json()] == posted[::-1]
