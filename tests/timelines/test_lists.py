"""Tests of lists: settings, members and posts (contract, parameters "Lists", behaviours section 11)."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.events import AccountUnfollowed
from accounts.models import Account, FollowRequest
from accounts.services.blocking import block_account, mute_account, unmute_account
from accounts.services.follow_requests import authorize_request
from accounts.services.following import unfollow_account
from social.kernel import clock, redis
from social.kernel.cursors import Cursor
from statuses.models import Status
from tests.factories import statuses as factory
from tests.factories.accounts import make_account, make_token
from tests.factories.statuses import make_reblog, make_status
from tests.support.client import Api
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.listeners import EventStream, open_socket
from tests.timelines.server import StreamingServer
from timelines.models import List, ListMember
from timelines.services.lists import leave_lists
from timelines.stores import feed

LISTS = "/api/v1/lists"


def make_list(owner: Person, *members: Person, **values: Any) -> str:
    made = owner.api.post(LISTS, {"title": "Friends", **values})
    assert made.status_code == 200, made.content
    number: str = made.json()["id"]
    for member in members:
        assert add(owner, number, member.id) == (200, {})
    work()
    return number


def add(owner: Person, number: str, *account_ids: int | str) -> tuple[int, Any]:
    answer = owner.api.post(f"{LISTS}/{number}/accounts", {"account_ids": [str(each) for each in account_ids]})
    return answer.status_code, answer.json()


def posts(owner: Person, number: str, **params: Any) -> list[int]:
    """Return the list's timeline, after checking that it is the same with the feed and after the loss of all feeds."""
    work()

    def read() -> list[int]:
        answer = owner.api.get(f"/api/v1/timelines/list/{number}", params)
        assert answer.status_code == 200, answer.content
        return [int(post["id"]) for post in answer.json()]

    found = [read(), read()]
    redis.client("feeds").flushall()
    found.append(read())
    assert found[0] == found[1] == found[2]
    return found[0]


def home(who: Person) -> list[int]:
    work()
    return [int(post["id"]) for post in who.api.get("/api/v1/timelines/home").json()]


@pytest.mark.django_db
def test_seed_025_only_the_owner_can_create_read_change_and_delete_a_list(
    reader: Person, author: Person
) -> None:  # SEED-068, SEED-085
    made = reader.api.post(LISTS, {"title": "Friends"}).json()
    assert made == {"id": made["id"], "title": "Friends", "replies_policy": "list", "exclusive": False}
    loud = {"title": "Loud", "replies_policy": "none", "exclusive": True}
    second = reader.api.post(LISTS, loud).json()
    assert second == {"id": second["id"], **loud}
    assert reader.api.get(LISTS).json() == [made, second]
    path = f"{LISTS}/{made['id']}"
    assert reader.api.get(path).json() == made
    changed = reader.api.put(path, {"replies_policy": "followed", "exclusive": True}).json()
    assert changed == {"id": made["id"], "title": "Friends", "replies_policy": "followed", "exclusive": True}
    assert reader.api.put(path).json() == changed == reader.api.get(path).json()
    for answer in (
        author.api.get(path),
        author.api.put(path, {"title": "Mine"}),
        author.api.delete(path),
        author.api.get(f"{path}/accounts"),
        author.api.post(f"{path}/accounts", {"account_ids": [str(author.id)]}),
        author.api.delete(f"{path}/accounts"),
        author.api.get(f"/api/v1/timelines/list/{made['id']}"),
    ):
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
    assert author.api.get(LISTS).json() == []
    assert (reader.api.delete(path).status_code, reader.api.delete(path).status_code) == (200, 404)
    assert reader.api.get(f"/api/v1/timelines/list/{made['id']}").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({}, "Title can't be blank"),
        ({"title": "  "}, "Title can't be blank"),
        ({"title": ["x"]}, "Title can't be blank"),
        ({"title": "x" * 257}, "Title is too long (maximum is 256 characters)"),
        ({"title": "x", "replies_policy": "nonsense"}, "Replies policy is not included in the list"),
    ],
)
def test_an_invalid_list_is_refused(reader: Person, sent: dict[str, Any], error: str) -> None:
    answer = reader.api.post(LISTS, sent)
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {error}"})
    number = make_list(reader)
    if "title" in sent and isinstance(sent["title"], str):
        answer = reader.api.put(f"{LISTS}/{number}", sent)
        assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {error}"})
    assert List.objects.get(id=number).title == "Friends"


@pytest.mark.django_db
def test_seed_155_an_account_has_at_most_fifty_lists_shown_on_one_page(reader: Person) -> None:  # SEED-115
    List.objects.bulk_create(List(account=reader.account, title=str(number)) for number in range(50))
    answer = reader.api.post(LISTS, {"title": "One more"})
    error = "Validation failed: You have reached the maximum number of lists"
    assert (answer.status_code, answer.json()) == (422, {"error": error})
    shown = reader.api.get(LISTS)
    assert len(shown.json()) == 50
    assert "Link" not in shown.headers


@pytest.mark.django_db
def test_seed_069_members_are_followed_requested_or_the_owner_and_all_or_none_are_added(
    reader: Person, author: Person
) -> None:  # SEED-116
    follow(reader, author)
    stranger, asked = person(), make_account()
    FollowRequest.objects.create(account=reader.account, target=asked)
    number = make_list(reader)
    refused = (422, {"error": "Validation failed: Account must be a followed account"})
    assert add(reader, number, author.id, stranger.id) == refused
    for unknown in (1, "x"):
        assert add(reader, number, author.id, unknown) == (404, {"error": "Record not found"})
    assert not ListMember.objects.exists()
    assert add(reader, number, author.id, asked.id, reader.id) == (200, {})
    assert add(reader, number) == (200, {})
    assert add(reader, number, author.id) == (422, {"error": "Validation failed: Account is already on the list"})
    taken = reader.api.delete(f"{LISTS}/{number}/accounts", {"account_ids": [str(author.id), "1", "x"]})
    assert (taken.status_code, taken.json()) == (200, {})
    shown = reader.api.get(f"{LISTS}/{number}/accounts").json()
    assert [account["id"] for account in shown] == [str(asked.id), str(reader.id)]


@pytest.mark.django_db
def test_members_are_listed_in_pages_by_account_and_all_with_limit_0(reader: Person) -> None:
    number = make_list(reader)
    friends = [make_account() for _ in range(3)]
    for friend in friends:
        factory.follow(reader.account, friend)
    ListMember.objects.bulk_create(ListMember(list_id=int(number), account=friend) for friend in friends)
    newest_first = [str(friend.id) for friend in friends[::-1]]

    def read(**params: Any) -> tuple[list[str], str]:
        answer = reader.api.get(f"{LISTS}/{number}/accounts", params)
        return [account["id"] for account in answer.json()], answer.headers.get("Link", "")

    first, links = read(limit=2)
    assert first == newest_first[:2]
    assert re.search(rf'limit=2&max_id={first[1]}>; rel="next", .*since_id={first[0]}>; rel="prev"', links)
    second, links = read(limit=2, max_id=first[1])
    assert second == newest_first[2:]
    assert "next" not in links
    assert read(limit=0) == (newest_first[::-1], "")
    Account.objects.filter(id=friends[0].id).update(suspended_at=clock.now())
    assert read()[0] == newest_first[:2], "suspended accounts are left out"


@pytest.mark.django_db
def test_seed_096_the_owner_sees_which_lists_contain_an_account(reader: Person, author: Person) -> None:
    for one, other in ((reader, author), (author, reader)):
        follow(one, other)
    number = make_list(reader, author)
    make_list(reader)
    path = f"/api/v1/accounts/{author.id}/lists"
    assert [each["id"] for each in reader.api.get(path).json()] == [number]
    assert author.api.get(path).json() == []
    Account.objects.filter(id=author.id).update(suspended_at=clock.now())
    assert reader.api.get(path).json() == []
    assert reader.api.get("/api/v1/accounts/1/lists").status_code == 404


@pytest.mark.django_db
def test_seed_137_lists_need_their_own_scopes(reader: Person) -> None:
    reads, writes = (Api(make_token(reader.user, scope)) for scope in ("read:lists", "write:lists"))
    assert (reads.get(LISTS).status_code, reads.post(LISTS, {"title": "x"}).status_code) == (200, 403)
    assert (writes.get(LISTS).status_code, writes.post(LISTS, {"title": "x"}).status_code) == (403, 200)


@pytest.mark.django_db
# SEED-022; clients.md, trap 34
def test_seed_117_a_list_shows_the_posts_of_its_members(reader: Person, author: Person) -> None:
    other, asked = person(), person()
    for each in (author, other):
        follow(reader, each)
    before = make_status(author.account, "before").id
    number = make_list(reader, author, reader)
    FollowRequest.objects.create(account=reader.account, target=asked.account)
    add(reader, number, asked.id)
    assert posts(reader, number) == [before], "earlier posts of a member are included"
    expected = [
        before,
        make_status(author.account, "public").id,
        make_status(author.account, "for followers", visibility="private").id,
        make_reblog(author.account, make_status(person().account)).id,
        make_status(reader.account, "my own").id,
    ]
    make_status(other.account, "not in the list")
    make_status(asked.account, "not accepted yet")
    make_status(author.account, f"@{reader.account.username} direct", visibility="direct")
    assert posts(reader, number) == expected[::-1]
    assert posts(reader, number, limit=2, max_id=expected[3]) == [expected[2], expected[1]]
    assert posts(reader, number, limit=1, min_id=expected[1]) == [expected[2]]
    authorize_request(account=asked.account, requester=reader.account)
    work()
    expected.append(make_status(asked.account, "accepted").id)
    assert posts(reader, number)[0] == expected[-1]


@pytest.mark.django_db
def test_seed_070_the_replies_policy_decides_which_replies_a_list_shows(reader: Person, author: Person) -> None:
    friend, stranger, member = person(), person(), person()
    for each in (author, friend, member):
        follow(reader, each)
    numbers = {
        policy: make_list(reader, author, member, replies_policy=policy) for policy in ("none", "list", "followed")
    }

    def answers(to: Person) -> int:
        parent = Status.objects.create(account=to.account, local=True, text="?", content="?", visibility="unlisted")
        answer: int = make_status(author.account, "!", reply_to=parent).id
        return answer

    to_itself, to_owner, to_member, to_friend, to_stranger = map(answers, (author, reader, member, friend, stranger))
    assert to_stranger
    shown = {policy: set(posts(reader, number)) for policy, number in numbers.items()}
    answered = {to_itself, to_owner, to_member, to_friend, to_stranger}
    assert shown["none"] & answered == {to_itself, to_owner}
    assert shown["list"] & answered == {to_itself, to_owner, to_member}
    assert shown["followed"] & answered == {to_itself, to_owner, to_member, to_friend}
    reader.api.put(f"{LISTS}/{numbers['none']}", {"replies_policy": "followed"})
    assert set(posts(reader, numbers["none"])) & answered == shown["followed"] & answered, (
        "also for posts already in the feed"
    )


@pytest.mark.django_db
def test_posts_of_members_of_an_exclusive_list_appear_only_in_that_list(reader: Person, author: Person) -> None:
    follow(reader, author)
    number = make_list(reader, author, reader)
    theirs, mine = make_status(author.account).id, make_status(reader.account).id
    assert home(reader) == [mine, theirs]
    reader.api.put(f"{LISTS}/{number}", {"exclusive": True})
    assert reader.api.get("/api/v1/timelines/home").json()[0]["id"] == str(mine), "immediately"
    assert home(reader) == [mine]
    later = make_status(author.account).id
    assert home(reader) == [mine]
    assert posts(reader, number) == [later, mine, theirs]
    assert home(reader) == [mine], "also from SQL"
    reader.api.post("/api/v1/tags/cats/follow")
    tagged = make_status(author.account, "#cats").id
    assert home(reader) == [tagged, mine], "followed hashtags are delivered nevertheless"
    reader.api.delete(f"{LISTS}/{number}/accounts", {"account_ids": [str(author.id)]})
    assert home(reader) == [tagged, later, mine, theirs]
    add(reader, number, author.id)
    assert home(reader) == [tagged, mine]
    reader.api.delete(f"{LISTS}/{number}")
    assert home(reader) == [tagged, later, mine, theirs]


@pytest.mark.django_db
def test_unfollowed_members_and_their_posts_leave_the_list(reader: Person, author: Person) -> None:
    for each in (author, other := person()):
        follow(reader, each)
    number = make_list(reader, author, other)
    gone, stays = make_status(author.account).id, make_status(other.account).id
    assert posts(reader, number) == [stays, gone]
    mute_account(account=reader.account, target=other.account)
    assert posts(reader, number) == [gone]
    unmute_account(account=reader.account, target=other.account)
    unfollow_account(account=reader.account, target=author.account)
    assert reader.api.get(f"/api/v1/timelines/list/{number}").json()[0]["id"] == str(stays), "immediately"
    assert [each["id"] for each in reader.api.get(f"{LISTS}/{number}/accounts").json()] == [str(other.id)]
    assert reader.api.get(f"/api/v1/accounts/{author.id}/lists").json() == []
    assert posts(reader, number) == [stays]
    assert not ListMember.objects.filter(account=author.account).exists()
    block_account(account=other.account, target=reader.account)
    assert posts(reader, number) == []
    assert not ListMember.objects.exists()


@pytest.mark.django_db
def test_one_query_finds_the_lists_of_many_unfollowed_accounts(reader: Person) -> None:
    events = [AccountUnfollowed(reader.id, make_account().id, number, None, reader.id) for number in range(5)]
    with CaptureQueriesContext(connection) as queries:
        leave_lists(events)
    assert len(queries) == 1


@pytest.mark.django_db
def test_a_moved_account_is_replaced_in_lists_by_its_new_account(reader: Person, author: Person) -> None:
    follow(reader, author)
    number, new = make_list(reader, author), person()
    Account.objects.filter(id=author.id).update(moved_to=new.account)
    follow(reader, new)
    unfollow_account(account=reader.account, target=author.account)
    work()
    shown = reader.api.get(f"{LISTS}/{number}/accounts").json()
    assert [account["id"] for account in shown] == [str(new.id)]


@pytest.mark.django_db
def test_deleted_posts_and_undone_boosts_leave_the_feeds_of_lists(reader: Person, author: Person) -> None:
    other = person()
    for each in (author, other):
        follow(reader, each)
    number = make_list(reader, author, other)
    posts(reader, number)
    post, original = make_status(author.account), make_status(person().account)
    reader.api.get(f"/api/v1/timelines/list/{number}")
    shown, skipped = make_reblog(author.account, original), make_reblog(other.account, original)
    work()

    def cached() -> list[int]:
        return [item.id for item in feed.read(feed.of_list(int(number)), reader.id, Cursor(100)).items]

    assert cached() == [skipped.id, shown.id, post.id]
    assert posts(reader, number) == [shown.id, post.id]
    author.api.delete(f"/api/v1/statuses/{post.id}")
    author.api.post(f"/api/v1/statuses/{original.id}/unreblog")
    work()
    assert posts(reader, number) == cached() == [skipped.id]


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["feed", "everything lost"])
def test_a_page_of_a_list_takes_as_many_queries_for_many_members_as_for_two(state: str) -> None:
    counted = {}
    for size in (2, 20):
        owner, members = person(), [person() for _ in range(size)]
        for member in members:
            factory.follow(owner.account, member.account)
        number = make_list(owner, *members)
        for member in members:
            make_status(member.account, f"@{owner.account.username}")
        posts(owner, number, limit=size)
        if state == "everything lost":
            redis.client("cache").delete(*redis.client("cache").keys("*"))
        owner.api.remember_token()
        with CaptureQueriesContext(connection) as seen:
            assert len(owner.api.get(f"/api/v1/timelines/list/{number}", {"limit": size}).json()) == size
        counted[size] = len(seen)
    assert counted[2] == counted[20]
    assert counted[20] <= 10


@pytest.mark.django_db(transaction=True)
def test_seed_024_a_list_is_streamed_only_to_its_owner(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # SEED-140, SEED-141
    follow(reader, author)
    number = make_list(reader, author)
    foreign = {"error": "Not authorized to stream this list", "status": 401}
    with open_socket(server, reader, "list", list=number) as socket, open_socket(server, author) as theirs:
        post = make_status(author.account, "hello")
        make_status(reader.account, "not in the list")
        work()
        message = socket.next()
        assert (message["stream"], message["event"]) == (["list", number], "update")
        assert f'"id":"{post.id}"' in message["payload"]
        author.api.delete(f"/api/v1/statuses/{post.id}")
        work()
        assert socket.next() == {"stream": ["list", number], "event": "delete", "payload": str(post.id)}
        assert socket.is_silent()
        for sent in (number, "1", "abc"):
            theirs.say(type="subscribe", stream="list", list=sent)
            assert theirs.next() == foreign
        theirs.say(type="subscribe", stream="list")
        assert theirs.next() == {"error": "Missing list name parameter", "status": 400}
        # As in all parameters, an id may be a JSON number (contract, parameters section 0).
        theirs.say(type="subscribe", stream="list", list=int(number))
        assert theirs.next() == foreign
        socket.say(type="unsubscribe", stream="list", list=int(number))
        assert socket.is_silent()
        make_status(author.account, "again")
        work()
        assert socket.is_silent()
    with EventStream(server, "list", str(reader.api.token), list=number) as events:
        assert events.line() == ":)\n"
