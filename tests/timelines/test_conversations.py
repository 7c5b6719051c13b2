"""Tests of conversations (contract, behaviours section 11; clients.md, trap 33)."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.services.blocking import block_account
from statuses.models import Mention, Status
from tests.factories.accounts import make_remote
from tests.factories.statuses import follow, make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work
from tests.timelines.conftest import Person, person
from tests.timelines.listeners import EventStream
from tests.timelines.server import StreamingServer
from timelines.models import Conversation
from timelines.services.conversations import add_posts

pytestmark = pytest.mark.django_db
PATH = "/api/v1/conversations"


@pytest.fixture(autouse=True)
def _followed(author: Person, reader: Person) -> None:
    """Let the reader follow the author, because messages by others are held; see tests/notifications/test_requests.py."""
    follow(reader.account, author.account)


def direct(author: Person, text: str, *, reply_to: Status | None = None) -> Status:
    post = make_status(author.account, text, reply_to=reply_to, visibility="direct")
    work()
    return post


def conversations(one: Person, **params: Any) -> list[tuple[list[str], str, bool]]:
    """Return the accounts, the last post and the unread state of each conversation."""
    answer = one.api.get(PATH, params)
    assert answer.status_code == 200
    return [
        ([person["username"] for person in found["accounts"]], found["last_status"]["id"], found["unread"])
        for found in answer.json()
    ]


def at(one: Person) -> str:
    return f"@{one.account.username}"


def test_seed_019_a_direct_post_makes_the_conversation_unread_for_its_recipient(author: Person, reader: Person) -> None:
    me, you = author.account.username, reader.account.username
    first = direct(author, f"{at(reader)} first")
    assert (conversations(author), conversations(reader)) == (
        [([you], str(first.id), False)],
        [([me], str(first.id), True)],
    )
    shown = reader.api.get(PATH).json()[0]
    read = reader.api.post(f"{PATH}/{shown['id']}/read").json()
    assert (read["id"], read["unread"]) == (shown["id"], False)
    assert reader.api.post(f"{PATH}/{shown['id']}/unread").json()["unread"] is True
    answer = direct(reader, f"{at(author)} second", reply_to=first)
    assert conversations(reader) == [([me], str(answer.id), False)]
    assert conversations(author) == [([you], str(answer.id), True)]
    muted = author.api.post(f"/api/v1/statuses/{first.id}/mute")
    assert (muted.status_code, muted.json()["muted"]) == (200, True)
    before = len(author.api.get("/api/v1/notifications").json())
    third = direct(reader, f"{at(author)} third", reply_to=answer)
    assert len(author.api.get("/api/v1/notifications").json()) == before
    assert conversations(reader)[0][1] == str(third.id)


def test_other_participants_create_another_conversation_and_only_direct_posts_create_one(
    author: Person, reader: Person
) -> None:
    third = person()
    follow(third.account, author.account)
    first = direct(author, f"{at(reader)} first")
    more = direct(author, f"{at(reader)} {at(third)} more", reply_to=first)
    note = direct(author, "note to self")
    make_status(author.account, f"{at(reader)} private", visibility="private")
    work()
    names = sorted([reader.account.username, third.account.username])
    found = [(sorted(people), last, unread) for people, last, unread in conversations(author)]
    assert found == [
        ([author.account.username], str(note.id), False),
        (names, str(more.id), False),
        ([reader.account.username], str(first.id), False),
    ]
    assert [last for _people, last, _unread in conversations(reader)] == [str(more.id), str(first.id)]
    assert len(conversations(third)) == 1


def test_the_last_post_of_a_conversation_is_the_cursor_of_its_page(author: Person, reader: Person) -> None:
    posts = [direct(author, f"{at(reader)} {number}") for number in range(4)]
    page = author.api.get(PATH, {"limit": 2})
    assert [found["last_status"]["id"] for found in page.json()] == [str(posts[3].id), str(posts[2].id)]
    assert f"max_id={posts[2].id}" in page.headers["Link"]
    assert f"min_id={posts[3].id}" in page.headers["Link"]
    assert [found[1] for found in conversations(author, max_id=posts[2].id)] == [str(posts[1].id), str(posts[0].id)]
    assert [found[1] for found in conversations(author, min_id=posts[1].id, limit=1)] == [str(posts[2].id)]
    assert [found[1] for found in conversations(author, since_id=posts[1].id, limit=1)] == [str(posts[3].id)]
    assert "Link" not in author.api.get(PATH, {"max_id": 1}).headers


def test_a_removed_conversation_returns_with_the_next_post_and_belongs_to_its_owner_alone(
    author: Person, reader: Person
) -> None:
    first = direct(author, f"{at(reader)} first")
    number = reader.api.get(PATH).json()[0]["id"]
    for call in (
        author.api.delete(f"{PATH}/{number}"),
        author.api.post(f"{PATH}/{number}/read"),
        reader.api.post(f"{PATH}/1/read"),
    ):
        assert (call.status_code, call.json()) == (404, {"error": "Record not found"})
    assert (reader.api.delete(f"{PATH}/{number}").json(), reader.api.delete(f"{PATH}/{number}").status_code) == (
        {},
        404,
    )
    assert (conversations(reader), len(conversations(author))) == ([], 1)
    assert reader.api.get(f"/api/v1/statuses/{first.id}").status_code == 200
    again = direct(author, f"{at(reader)} again", reply_to=first)
    assert conversations(reader) == [([author.account.username], str(again.id), True)]
    assert Api().get(PATH).status_code == 401


def test_deleted_posts_leave_a_conversation_and_a_block_deletes_it_for_the_blocker(
    author: Person, reader: Person
) -> None:
    first = direct(author, f"{at(reader)} first")
    second = direct(author, f"{at(reader)} second", reply_to=first)
    author.api.delete(f"/api/v1/statuses/{second.id}")
    work()
    assert (
        [found[1] for found in conversations(reader)]
        == [found[1] for found in conversations(author)]
        == [str(first.id)]
    )
    block_account(account=reader.account, target=author.account)
    work()
    assert (conversations(reader), len(conversations(author))) == ([], 1)
    author.api.delete(f"/api/v1/statuses/{first.id}")
    work()
    assert not Conversation.objects.exists()


def test_a_remote_post_is_added_to_a_conversation_once(reader: Person) -> None:
    stranger = make_remote()
    follow(reader.account, stranger)
    post = make_remote_status(stranger, "<p>psst</p>", visibility="direct", mentions=[reader.account])
    work()
    assert [unread for _people, _last, unread in conversations(reader)] == [True]
    reader.api.post(f"{PATH}/{reader.api.get(PATH).json()[0]['id']}/read")
    add_posts([(reader.id, post.id)])
    assert [unread for _people, _last, unread in conversations(reader)] == [False]
    assert not Conversation.objects.filter(account=stranger).exists()


def test_many_posts_to_many_accounts_take_as_many_statements_as_one(author: Person) -> None:
    def cost(size: int) -> int:
        people = [person() for _ in range(size)]
        posts = [make_status(author.account, visibility="direct") for _ in range(size)]
        Mention.objects.bulk_create(
            [Mention(status=post, account=one.account) for post in posts for one in people], batch_size=100
        )
        pairs = [(one.id, post.id) for one in people for post in posts]
        with CaptureQueriesContext(connection) as queries:
            add_posts(pairs)
        assert Conversation.objects.filter(account_id__in=[one.id for one in people]).count() == size * size
        return len(queries)

    assert cost(1) == cost(3)


@pytest.mark.django_db(transaction=True)
def test_the_direct_stream_sends_conversations(server: StreamingServer, author: Person, reader: Person) -> None:
    with EventStream(server, "direct", reader.api.token) as stream:
        assert stream.line() == ":)\n"
        direct(author, f"{at(reader)} first")
        assert stream.line() == "event: conversation\n"
        assert '"unread":true' in stream.line().replace(" ", "")
