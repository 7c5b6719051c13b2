"""Tests of absent users: publishing a post takes no work for them, and they miss no post."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import Account, Follow, TagFollow, User
from accounts.models.relations import FollowerState
from accounts.services.tags import ensure_tags
from federation.outbound.audience import followers_inboxes
from social.kernel import clock
from tests.factories import statuses as factory
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_status
from tests.timelines.conftest import Person, person
from tests.timelines.plans import looked_at
from timelines.models import List, ListMember
from timelines.queries.fan_out import list_active_followers, load_hashtag_followers, load_readers
from timelines.queries.lists import load_lists_of_members
from timelines.services import presence
from timelines.services.presence import note_absent_people, record_presence

pytestmark = pytest.mark.django_db
ABSENT = 1500
# At least one row would be read for each absent follower. The number also varies by some tens of rows with PostgreSQL's
# statistics, which decide the order of joins.
MORE = ABSENT // 15


def go_away(people: Collection[Person]) -> None:
    long_ago = clock.now() - timedelta(days=8, minutes=1)
    User.objects.filter(id__one_of=[one.user.id for one in people]).update(active_at=long_ago)


def state_of(follower: Account, target: Account) -> str:
    return Follow.objects.values_list("follower_state", flat=True).get(account=follower, target=target)


def make_absent_followers(target: Account, number: int) -> None:
    """Create followers of an account who were last active a month ago."""
    long_ago = clock.now() - timedelta(days=30)
    accounts = Account.objects.bulk_create(
        [Account(username=f"absent{one}", uri=f"https://absent.example/{one}") for one in range(number)], batch_size=500
    )
    User.objects.bulk_create(
        [User(account=one, email=f"{one.username}@example.com", active_at=long_ago) for one in accounts], batch_size=500
    )
    Follow.objects.bulk_create([Follow(account=one, target=target) for one in accounts], batch_size=500)


def test_absent_followers_cost_a_post_nothing(author: Person) -> None:
    readers = [person() for _number in range(5)]
    for one in readers:
        factory.follow(one.account, author.account)
    elsewhere = make_remote()
    factory.follow(elsewhere, author.account)
    status = make_status(author.account)

    def find() -> None:
        found = load_readers([author.id], people=[author.id], followable=(), tagged=[status.id])
        assert set(found.of(author.id)) == {author.id, *(one.id for one in readers)}
        assert list_active_followers([author.id])[author.id] == {author.id, *(one.id for one in readers)}
        assert followers_inboxes(author.id) == {elsewhere.shared_inbox_url}

    before = looked_at(find)
    make_absent_followers(author.account, ABSENT)
    assert note_absent_people() == ABSENT
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_follow, accounts_account, accounts_user")
    assert looked_at(find) < before + MORE


def test_absent_followers_of_hashtags_and_owners_of_lists_cost_a_post_nothing(author: Person) -> None:
    tag, status = ensure_tags([("cats", "cats")])[0], make_status(author.account, "#cats")

    def find() -> None:
        found = load_readers([author.id], people=[author.id], followable=(), tagged=[status.id])
        assert (set(found.by_hashtag), set(found.lists)) == (set(), set())
        assert (load_hashtag_followers([status.id]), load_lists_of_members([author.id])) == ({}, {})

    before = looked_at(find)
    make_absent_followers(author.account, ABSENT)
    people = list(Follow.objects.filter(target=author.account).values_list("account_id", flat=True))
    TagFollow.objects.bulk_create(
        (TagFollow(id=number + 1, account_id=one, tag=tag) for number, one in enumerate(people))
    )
    lists = List.objects.bulk_create(List(account_id=one, title="List") for one in people)
    ListMember.objects.bulk_create(ListMember(list=one, account=author.account) for one in lists)
    Follow.objects.filter(target=author.account).delete()
    assert load_hashtag_followers([status.id]) == {}, "the followers are absent, but not marked as absent yet"
    assert note_absent_people() == ABSENT
    assert note_absent_people() == 0
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_follow, accounts_account, accounts_user, accounts_tagfollow")
        cursor.execute("ANALYZE timelines_list, timelines_listmember")
    assert looked_at(find) < before + MORE
    record_presence(people[0])
    found = load_readers([author.id], people=[author.id], followable=(), tagged=[status.id])
    assert found.by_hashtag == {status.id: {people[0]}}
    assert [one.owner_id for one in found.lists[author.id]] == [people[0]]


def test_marking_owners_of_lists_as_absent_is_fast_even_with_outdated_statistics(author: Person) -> None:
    def read() -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables"
                " WHERE relname IN ('timelines_list', 'timelines_listmember')"
            )
            return int(cursor.fetchone()[0])

    ListMember.objects.create(list=List.objects.create(account=author.account, title="List"), account=author.account)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE timelines_list, timelines_listmember")
    make_absent_followers(author.account, 300)
    people = Follow.objects.filter(target=author.account).values_list("account_id", flat=True)
    lists = List.objects.bulk_create(List(account_id=one, title="List") for one in people)
    ListMember.objects.bulk_create(ListMember(list=one, account=author.account) for one in lists)
    with connection.cursor() as cursor:
        # PostgreSQL would read tables of one or two pages sequentially for each user, but not larger ones.
        cursor.execute("SET LOCAL enable_seqscan = off")
    before = read()
    assert note_absent_people() == 300
    assert ListMember.objects.filter(absent=False).count() == List.objects.filter(absent=False).count() == 1
    # Each step may read each row a few times, but not every row once for every other row.
    assert read() - before < 50_000


def test_a_user_who_returns_is_active_again(reader: Person, author: Person) -> None:
    factory.follow(reader.account, author.account)
    go_away([reader])
    assert note_absent_people() == 1
    assert state_of(reader.account, author.account) == FollowerState.ABSENT
    assert note_absent_people() == 0
    record_presence(reader.id)
    assert state_of(reader.account, author.account) == FollowerState.ACTIVE
    assert note_absent_people() == 0


def test_users_are_absent_after_eight_days_without_activity(author: Person) -> None:
    today, last_week, away, new = (person() for _number in range(4))
    for one in (today, last_week, away, new):
        factory.follow(one.account, author.account)
    User.objects.filter(id=last_week.user.id).update(active_at=clock.now() - timedelta(days=7, hours=23))
    User.objects.filter(id=new.user.id).update(active_at=None)
    go_away([away])
    assert note_absent_people() == 1
    assert set(list_active_followers([author.id])[author.id]) == {author.id, today.id, last_week.id, new.id}


def test_a_user_who_returns_while_absent_users_are_marked_stays_active(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory.follow(reader.account, author.account)
    go_away([reader])
    note = presence._note_absent

    def interrupted(*arguments: Any) -> int:
        record_presence(reader.id)
        return note(*arguments)

    monkeypatch.setattr(presence, "_note_absent", interrupted)
    assert note_absent_people() == 0
    assert state_of(reader.account, author.account) == FollowerState.ACTIVE


def test_a_new_follow_records_whether_its_follower_is_active(author: Person) -> None:
    local, remote = make_user().account, make_remote()
    for follower in (local, remote):
        factory.follow(follower, author.account)
    assert state_of(local, author.account) == FollowerState.ACTIVE
    assert state_of(remote, author.account) == FollowerState.REMOTE
