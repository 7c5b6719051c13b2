"""Tests of the streaming API over real sockets (contract, behaviours section 16; clients.md, traps 43-46)."""

import json
import time
from datetime import timedelta

import pytest

from accounts.identity.services.sessions import publish_user_state
from accounts.identity.services.tokens import revoke_tokens
from accounts.models import AccessToken, Account, User
from accounts.services.blocking import block_account, mute_account, unmute_account
from social.kernel import clock
from statuses.events import StatusPublished
from statuses.models import Status, StatusCard
from statuses.policies.previews import Preview
from statuses.services.cards import attach_card, store_card
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import (
    edit,
    make_favourite,
    make_media,
    make_reblog,
    make_remote_status,
    make_status,
)
from tests.support.patience import SOON
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.listeners import Socket, open_socket
from tests.timelines.server import StreamingServer
from timelines.services.fan_out import fan_out_posts

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_post_reaches_followers_immediately_as_the_entity_that_the_api_returns(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # SEED-139, SEED-141; clients.md, trap 46
    follow(reader, author)
    with open_socket(server, reader, "user") as socket:
        status = make_status(author.account, "hello #world", media=[make_media(author.account)])
        started = time.monotonic()
        work()
        message = socket.next()
        assert time.monotonic() - started < SOON
        assert list(message) == ["stream", "event", "payload"]
        assert (message["stream"], message["event"]) == (["user"], "update")
        shown = json.loads(message["payload"])
        assert shown == reader.api.get(f"/api/v1/statuses/{status.id}").json()
        assert isinstance(shown["id"], str)
        assert shown["favourited"] is False
        assert shown["filtered"] == []


def test_the_author_and_users_who_marked_a_post_get_it_with_their_own_marks(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    booster = person()
    follow(reader, booster)
    original = make_status(author.account)
    make_favourite(reader.account, original)
    work()
    with open_socket(server, reader, "user") as mine, open_socket(server, booster, "user") as theirs:
        boost = make_reblog(booster.account, original)
        work()
        for socket, someone in ((mine, reader), (theirs, booster)):
            assert socket.update() == someone.api.get(f"/api/v1/statuses/{boost.id}").json()


def test_a_post_is_streamed_again_when_its_link_preview_is_attached(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    follow(reader, author)
    with open_socket(server, reader, "user") as mine, open_socket(server, reader, "public") as public:
        status = make_status(author.account, "https://news.example.com/article")
        attach_card(status.id)
        store_card(card_id=StatusCard.objects.get(status=status).card_id, preview=Preview(title="Article"))
        work()
        for socket in (mine, public):
            assert socket.update()["card"]["title"] == "Article"
            message = socket.next()
            assert message["event"] == "status.update"
            assert json.loads(message["payload"]) == reader.api.get(f"/api/v1/statuses/{status.id}").json()


def test_filters_are_applied_to_streamed_posts_and_their_changes_are_announced(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # clients.md, trap 45; behaviours section 16 "filters_changed"
    follow(reader, author)
    with open_socket(server, reader, "user") as home, open_socket(server, reader, "public") as public:
        made = reader.api.post(
            "/api/v2/filters",
            {"title": "Weather", "context": ["home"], "keywords_attributes": [{"keyword": "rain"}]},
        )
        assert made.status_code == 200
        work()
        assert home.next() == {"stream": ["user"], "event": "filters_changed"}
        status = make_status(author.account, "A quote of [] and Rain")
        work()
        wanted = reader.api.get(f"/api/v1/statuses/{status.id}").json()
        assert wanted["filtered"][0]["keyword_matches"] == ["Rain"]
        for socket in (home, public):
            assert json.loads(socket.next()["payload"]) == wanted
        make_status(author.account, "nothing else")
        work()
        assert json.loads(public.next()["payload"])["filtered"] == []


def test_each_public_stream_sends_its_own_posts(server: StreamingServer, reader: Person, author: Person) -> None:
    names = [
        *("public", "public:media", "public:local", "public:local:media", "public:remote", "public:remote:media"),
        *("hashtag", "hashtag:local"),
    ]
    remote = make_remote()
    with open_socket(server, reader) as socket:
        for name in names:
            socket.say(type="subscribe", stream=name, tag="x")
        assert socket.is_silent()

        def received(number: int) -> set[str]:
            found = {socket.next()["stream"][0] for _ in range(number)}
            assert socket.is_silent()
            return found

        first = make_status(author.account, "#x")
        work()
        assert received(4) == {"public", "public:local", "hashtag", "hashtag:local"}
        make_status(author.account, "hi", media=[make_media(author.account)])
        work()
        assert received(4) == {"public", "public:media", "public:local", "public:local:media"}
        make_remote_status(remote, "<p>there</p>")
        work()
        assert received(2) == {"public", "public:remote"}
        make_status(reader.account, "#x reply", reply_to=first)
        work()
        assert received(2) == {"hashtag", "hashtag:local"}
        make_status(author.account, "quiet #x", visibility="unlisted")
        make_status(author.account, "private #x", visibility="private")
        make_reblog(reader.account, first)
        work()
        assert socket.is_silent()


def test_public_streams_leave_out_accounts_that_the_viewer_hides(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    other, witness = person(), person()

    def comes(*writers: Person) -> list[bool]:
        found = []
        for writer in writers:
            status = make_status(writer.account)
            work()
            found.append(str(status.id) in received())
        return found

    with open_socket(server, reader, "public") as socket:

        def received() -> list[str]:
            """Return the ids of the posts that arrived before a post that the reader always gets: a stream keeps its order."""
            last = make_status(witness.account, language="eo")
            work()
            ids = []
            while (number := json.loads(socket.next()["payload"])["id"]) != str(last.id):
                ids.append(number)
            return ids

        assert comes(author, reader) == [True, True]
        mute_account(account=reader.account, target=author.account)
        work()
        assert comes(author, other, reader) == [False, True, True]
        make_status(other.account, f"@{author.account.username} hi")
        work()
        assert received() == [], "a muted account is mentioned"
        unmute_account(account=reader.account, target=author.account)
        work()
        assert comes(author) == [True]
        block_account(account=author.account, target=reader.account)
        work()
        assert comes(author, other) == [False, True]
        User.objects.filter(id=reader.user.id).update(preferences={"chosen_languages": ["eo"]})
        block_account(account=reader.account, target=author.account)
        work()
        make_status(other.account, language="de")
        known = make_status(other.account, language="eo")
        work()
        assert received() == [str(known.id)]


def test_home_streams_follow_the_rules_of_the_timeline(server: StreamingServer, reader: Person, author: Person) -> None:
    stranger = person()
    follow(reader, author)
    unwanted = make_status(stranger.account)
    work()
    with open_socket(server, reader, "user") as socket:
        make_status(author.account, "to a stranger", reply_to=unwanted)
        make_status(author.account, "to nobody", visibility="direct")
        make_status(stranger.account)
        work()
        assert socket.is_silent()
        Account.objects.filter(id=author.id).update(limited_at=clock.now())
        expected = make_status(author.account, "limited authors reach their followers")
        work()
        assert socket.update()["id"] == str(expected.id)


def test_a_boost_of_a_post_already_in_the_timeline_is_not_streamed(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    booster = person()
    follow(reader, author)
    follow(reader, booster)
    original = make_status(author.account)
    work()
    assert [post["id"] for post in reader.api.get("/api/v1/timelines/home").json()] == [str(original.id)]
    with open_socket(server, reader, "user") as socket, open_socket(server, booster, "user") as other:
        boost = make_reblog(booster.account, original)
        work()
        assert socket.is_silent()
        assert other.update()["id"] == str(boost.id), "readers who have not seen the post get its boost"
    assert [post["id"] for post in reader.api.get("/api/v1/timelines/home").json()] == [str(original.id)]


def test_only_the_older_of_two_simultaneous_boosts_is_streamed_also_when_repeated(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    boosters = [person(), person()]
    for booster in boosters:
        follow(reader, booster)
    original = make_status(author.account)
    with open_socket(server, reader, "user") as socket:
        first, second = (make_reblog(booster.account, original) for booster in boosters)
        for _time in range(2):  # simulates a crash between writing feeds and publishing
            fan_out_posts([StatusPublished(status_id=id, account_id=0, local=True) for id in (second.id, first.id)])
            assert socket.update()["id"] == str(first.id)
            assert socket.is_silent()
    assert [post["id"] for post in reader.api.get("/api/v1/timelines/home").json()] == [str(first.id)]


def test_simultaneous_posts_are_all_streamed_also_to_their_author(server: StreamingServer, author: Person) -> None:
    with open_socket(server, author, "user") as socket:
        posts = [make_status(author.account, text) for text in ("first", "second", "third")]
        fan_out_posts([StatusPublished(status_id=post.id, account_id=0, local=True) for post in posts])
        assert [socket.update()["id"] for _post in posts] == [str(post.id) for post in posts]


def test_revoking_a_token_immediately_ends_only_its_own_sockets(
    server: StreamingServer, reader: Person
) -> None:  # security row 23
    second = make_token(reader.user)
    with open_socket(server, reader, "user") as socket, Socket(server, second, stream="user") as other:
        started = time.monotonic()
        revoke_tokens(AccessToken.objects.filter(token=reader.api.token))
        assert socket.is_closed(SOON) == 1008
        assert time.monotonic() - started < SOON
        assert other.is_silent()


def test_a_disabled_user_loses_all_streams_immediately(server: StreamingServer, reader: Person) -> None:
    with open_socket(server, reader, "user") as socket, open_socket(server, reader, "public") as other:
        publish_user_state(user=reader.user)
        work()
        assert socket.is_silent(), "streams of a user who stays enabled continue"
        User.objects.filter(id=reader.user.id).update(disabled_at=clock.now())
        started = time.monotonic()
        publish_user_state(user=reader.user)
        work()
        assert socket.is_closed(SOON) == other.is_closed(SOON) == 1008
        assert time.monotonic() - started < SOON


def test_nothing_is_encoded_without_subscribers(
    server: StreamingServer, reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    from timelines.services import broadcasting

    follow(reader, author)
    made: list[int] = []
    original = broadcasting.present
    monkeypatch.setattr(broadcasting, "present", lambda page: made.append(len(page.rows)) or original(page))
    make_status(author.account)
    work()
    assert made == []
    with open_socket(server, reader, "user") as socket:
        make_status(author.account)
        work()
        assert socket.update()
    assert made == [1]


@pytest.mark.parametrize("by_edit", [True, False])
def test_a_changed_interaction_policy_is_published_as_an_update(
    server: StreamingServer, reader: Person, by_edit: bool
) -> None:
    author, mentioned = person(), person("mentioned")
    follow(reader, author)
    status = make_status(author.account, "one @mentioned #tag")
    work()
    path, values = f"/api/v1/statuses/{status.id}", {"quote_approval_policy": "nobody"}
    with (
        open_socket(server, reader, "user") as home,
        open_socket(server, reader, "public") as public,
        open_socket(server, reader, "hashtag", tag="tag") as tagged,
        open_socket(server, mentioned, "user:notification") as notified,
    ):
        if by_edit:
            answer = author.api.put(path, {"status": "one @mentioned #tag", **values})
        else:
            answer = author.api.put(f"{path}/interaction_policy", values)
        assert answer.status_code == 200
        work()
        for socket in (home, public, tagged, notified):
            message = socket.next()
            assert message["event"] == "status.update"
            entity = json.loads(message["payload"])
            assert (entity["id"], entity["edited_at"]) == (str(status.id), None)
            assert entity["quote_approval"]["automatic"] == []
        author.api.put(f"{path}/interaction_policy", values)
        work()
        assert home.is_silent(), "nothing has changed"


def test_an_edit_is_streamed_as_the_entity_that_each_viewer_would_get(server: StreamingServer, reader: Person) -> None:
    author, mentioned = person(), person("mentioned")
    follow(reader, author)
    status = make_status(author.account, "one #tag")
    # The age of the post does not matter, because the edit is new.
    Status.objects.filter(id=status.id).update(created_at=clock.now() - timedelta(days=3))
    reader.api.post(f"/api/v1/statuses/{status.id}/favourite")
    work()
    with (
        open_socket(server, reader, "user") as home,
        open_socket(server, reader, "public") as public,
        open_socket(server, reader, "hashtag", tag="new") as tagged,
        open_socket(server, mentioned, "user:notification") as notified,
        open_socket(server, person(), "user") as stranger,
    ):
        edit(status, "two @mentioned #new")
        work()
        wanted = reader.api.get(f"/api/v1/statuses/{status.id}").json()
        assert (wanted["favourited"], wanted["content"].startswith("<p>two")) == (True, True)
        for socket in (home, public, tagged):
            message = socket.next()
            assert message["event"] == "status.update"
            entity = json.loads(message["payload"])
            assert (entity["id"], entity["edited_at"]) == (wanted["id"], wanted["edited_at"])
            if socket is home:
                assert entity == wanted
        assert notified.next()["event"] == "status.update"
        assert stranger.is_silent()
