"""Promises of the streaming API over real sockets (contract, behaviours section 16; clients.md, traps 43-46)."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from accounts.models import AccessToken, Account, User
from accounts.services.blocking import block_account, mute_account, unmute_account
from accounts.services.sessions import publish_user_state
from accounts.services.tokens import revoke_tokens
from social.kernel import clock
from statuses.models import Status, StatusCard
from statuses.policies.previews import Preview
from statuses.services.cards import attach_card, store_card
from tests.factories.accounts import make_remote, make_token
from tests.factories.statuses import edit, make_favourite, make_media, make_reblog, make_remote_status, make_status
from tests.runtime.processes import eventually
from tests.support.patience import SOON
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.listeners import Socket, open_socket
from tests.timelines.server import StreamingServer, streaming_server
from timelines.consumers.registry import MAX_CONNECTIONS
from timelines.services.broadcasting import broadcast_notification, broadcast_to_account
from timelines.stores.messages import Event

pytestmark = pytest.mark.django_db(transaction=True)


def refusal(url: str, **options: Any) -> tuple[int, str | None, dict[str, Any]]:
    with pytest.raises(InvalidStatus) as refused:
        connect(url, open_timeout=5, **options)
    response = refused.value.response
    return response.status_code, response.headers.get("X-Error-Message"), json.loads(response.body or b"{}")


def test_a_post_reaches_followers_at_once_as_they_would_read_it(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # SEED-139, SEED-141, trap 46
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


def test_the_author_and_who_has_marked_a_post_get_it_with_their_own_marks(
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


def test_a_post_is_streamed_again_when_the_preview_of_its_link_is_there(
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


def test_filters_are_applied_to_what_is_streamed_and_changes_are_announced(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # trap 45, behaviours section 16 "filters_changed"
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


@pytest.mark.parametrize("how", ["query", "header", "protocol", "protocol and query"])
def test_the_token_can_be_sent_in_three_ways(server: StreamingServer, reader: Person, how: str) -> None:  # trap 44
    token, url, options = str(reader.api.token), server.ws, {}
    if "query" in how:
        url += f"?access_token={quote(token)}"
    if how == "header":
        options["additional_headers"] = {"Authorization": f"Bearer {token}"}
    if "protocol" in how:
        options["subprotocols"] = [token]
    with connect(url, open_timeout=5, **options) as socket:
        assert socket.subprotocol == (token if "protocol" in how else None)
        socket.send(json.dumps({"type": "subscribe", "stream": "nothing"}))
        assert json.loads(socket.recv(3)) == {"error": "Unknown stream type", "status": 400}


def test_without_a_good_token_the_upgrade_fails_with_the_reason(server: StreamingServer, reader: Person) -> None:
    missing, invalid = "Missing access token", "Invalid access token"
    assert refusal(server.ws) == (401, missing, {"error": missing})
    assert refusal(f"{server.ws}?access_token=wrong") == (401, invalid, {"error": invalid})
    application = make_token(None, "read")
    assert refusal(f"{server.ws}?access_token={application}")[:2] == (401, invalid)
    User.objects.filter(id=reader.user.id).update(disabled_at=clock.now())
    assert refusal(f"{server.ws}?access_token={reader.api.token}")[:2] == (401, invalid)


def test_a_refused_socket_is_no_error_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with streaming_server(log) as server:
        for _ in range(3):
            refusal(f"{server.ws}?access_token=wrong")
    assert log.read_text() == ""


def test_scopes_are_asked_per_stream(server: StreamingServer) -> None:  # security row 23 (scope bypass)
    scopes = {"error": "Access token does not have the required scopes", "status": 401}
    with open_socket(server, person(scopes="write"), "user") as socket:
        assert socket.next() == scopes
        for stream in ("public", "hashtag", "user:notification"):
            socket.say(type="subscribe", stream=stream, tag="x")
            assert socket.next() == scopes
    statuses_only = person(scopes="read:statuses")
    with open_socket(server, statuses_only, "user") as socket:
        socket.say(type="subscribe", stream="user:notification")
        assert socket.next() == scopes
        broadcast_notification(statuses_only.id, b'{"id":"1"}')
        broadcast_to_account(statuses_only.id, Event.FILTERS_CHANGED, None)
        assert socket.next() == {"stream": ["user"], "event": "filters_changed"}  # trap 45


def test_notifications_come_on_both_user_streams(server: StreamingServer, reader: Person) -> None:
    with open_socket(server, reader, "user") as socket:
        socket.say(type="subscribe", stream="user:notification")
        assert socket.is_silent()
        broadcast_notification(reader.id, b'{"id":"7"}')
        found = sorted(socket.next()["stream"][0] for _ in range(2))
        assert found == ["user", "user:notification"]


def test_streams_are_added_and_removed_over_one_socket(server: StreamingServer, author: Person) -> None:  # trap 43
    with open_socket(server, author) as socket:
        for _ in range(2):  # the second one is ignored
            socket.say(type="subscribe", stream="hashtag", tag="Cats")
        socket.say(type="subscribe", stream="public:local")
        assert socket.is_silent(), "there is no acknowledgement"
        make_status(author.account, "#cats")
        work()
        assert sorted(socket.next()["stream"] for _ in range(2)) == [["hashtag", "Cats"], ["public:local"]]
        socket.say(type="unsubscribe", stream="hashtag", tag="Cats")
        socket.say(type="unsubscribe", stream="hashtag", tag="never subscribed")
        assert socket.is_silent()
        make_status(author.account, "#cats")
        work()
        assert socket.next()["stream"] == ["public:local"]
        assert socket.is_silent()


def test_a_hashtag_is_left_in_any_spelling(server: StreamingServer, author: Person) -> None:
    with open_socket(server, author) as socket:
        socket.say(type="subscribe", stream="hashtag", tag="Cats")
        socket.say(type="unsubscribe", stream="hashtag", tag="cats")
        assert socket.is_silent()
        make_status(author.account, "#cats")
        work()
        assert socket.is_silent()


def test_an_unknown_message_is_ignored_and_a_binary_one_ends_the_socket(
    server: StreamingServer, reader: Person
) -> None:
    with open_socket(server, reader) as socket:
        for nonsense in ("", "no json", "[]", "1", "{}", '{"type":"unsubscribe"}', '{"type":"sing","stream":"user"}'):
            socket.socket.send(nonsense)
        for nameless in ({}, {"stream": ""}, {"stream": 1}, {"stream": None}):
            socket.say(type="subscribe", **nameless)
            assert socket.next() == {"error": "Unknown stream type", "status": 400}
        socket.say(type="subscribe", stream="hashtag")
        assert socket.next() == {"error": "Missing tag name parameter", "status": 400}
        socket.socket.send(b"\x00")
        assert socket.is_closed(2) == 1003


@pytest.mark.parametrize("path", ["", "/", "/user", "/public/local"])
def test_sockets_are_accepted_with_and_without_a_path(server: StreamingServer, author: Person, path: str) -> None:
    with Socket(server, author.api.token, path) as socket:
        if not path.strip("/"):
            socket.say(type="subscribe", stream="user")
        assert socket.is_silent()
        make_status(author.account)
        work()
        assert socket.next()["stream"] == [path.strip("/").replace("/", ":") or "user"]


def test_each_public_stream_gets_its_own_posts(server: StreamingServer, reader: Person, author: Person) -> None:
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


def test_a_deletion_is_sent_to_every_stream_the_post_was_on(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    booster = person()
    follow(reader, author)
    follow(reader, booster)
    status = make_status(author.account, "#x")
    work()
    with open_socket(server, reader, "user") as socket, open_socket(server, reader, "public") as public:
        socket.say(type="subscribe", stream="hashtag", tag="x")
        assert socket.is_silent()
        boost = make_reblog(booster.account, status)
        assert author.api.delete(f"/api/v1/statuses/{status.id}").status_code == 200
        work()
        found = sorted(
            (message["stream"], message["event"], message["payload"]) for message in (socket.next() for _ in range(3))
        )
        assert found == [
            (["hashtag", "x"], "delete", str(status.id)),
            (["user"], "delete", str(status.id)),
            (["user"], "delete", str(boost.id)),
        ]
        assert public.next() == {"stream": ["public"], "event": "delete", "payload": str(status.id)}


def test_public_streams_leave_out_whom_each_viewer_hides(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    other = person()

    def comes(*writers: Person) -> list[bool]:
        found = []
        for writer in writers:
            status = make_status(writer.account)
            work()
            arrived = any(witness_id == str(status.id) for witness_id in received())
            found.append(arrived)
        return found

    with open_socket(server, reader, "public") as socket:

        def received() -> list[str]:
            socket.say(type="subscribe", stream="no such stream")
            ids = []
            while "error" not in (message := socket.next()):
                ids.append(json.loads(message["payload"])["id"])
            return ids

        assert comes(author, reader) == [True, True]
        mute_account(account=reader.account, target=author.account)
        work()
        assert comes(author, other, reader) == [False, True, True]
        make_status(other.account, f"@{author.account.username} hi")
        work()
        assert received() == [], "somebody muted is mentioned"
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


def test_a_boost_of_what_stands_in_the_timeline_already_is_not_streamed(
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
        assert other.update()["id"] == str(boost.id), "who has not seen the post gets its boost"
    assert [post["id"] for post in reader.api.get("/api/v1/timelines/home").json()] == [str(original.id)]


def test_a_revoked_token_ends_its_sockets_and_no_others_at_once(
    server: StreamingServer, reader: Person
) -> None:  # security row 23
    second = make_token(reader.user)
    with open_socket(server, reader, "user") as socket, Socket(server, second, stream="user") as other:
        started = time.monotonic()
        revoke_tokens(AccessToken.objects.filter(token=reader.api.token))
        assert socket.is_closed(SOON) == 1008
        assert time.monotonic() - started < SOON
        assert other.is_silent()


def test_a_disabled_user_loses_every_stream_at_once(server: StreamingServer, reader: Person) -> None:
    with open_socket(server, reader, "user") as socket, open_socket(server, reader, "public") as other:
        publish_user_state(user=reader.user)
        work()
        assert socket.is_silent(), "a change that leaves the user enabled ends nothing"
        User.objects.filter(id=reader.user.id).update(disabled_at=clock.now())
        started = time.monotonic()
        publish_user_state(user=reader.user)
        work()
        assert socket.is_closed(SOON) == other.is_closed(SOON) == 1008
        assert time.monotonic() - started < SOON


def test_nothing_is_encoded_for_people_who_are_not_listening(
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


def test_sockets_are_pinged_and_who_does_not_answer_is_dropped(
    django_db_setup: None, reader: Person, tmp_path: Path
) -> None:
    with streaming_server(tmp_path / "log", ping=0.3) as server, open_socket(server, reader, "user") as socket:
        pings: list[bytes] = []
        protocol = socket.socket.protocol
        original = protocol.recv_frame
        protocol.recv_frame = lambda frame: (pings.append(frame.data) if frame.opcode == 9 else None, original(frame))[
            1
        ]
        time.sleep(1.2)
        assert len(pings) >= 2
        assert socket.is_silent(), "an answered ping keeps the socket"


def test_row_65_names_and_hashtags_have_an_end_before_they_are_looked_at(
    server: StreamingServer, reader: Person
) -> None:
    with open_socket(server, reader) as socket:
        for kind in ("subscribe", "unsubscribe"):
            began = _cpu(server)
            for _number in range(20):
                socket.say(type=kind, stream="hashtag", tag="\ufdfa" * 8_000)
                assert socket.next() == {"error": "Missing tag name parameter", "status": 400}
                socket.say(type=kind, stream="hashtag" + "\ufdfa" * 8_000, tag="x")
                assert socket.next() == {"error": "Unknown stream type", "status": 400}
            assert _cpu(server) - began < 0.5
        socket.say(type="subscribe", stream="hashtag", tag="cats")
        assert socket.is_silent()


def test_row_65_one_token_has_a_bounded_number_of_sockets(server: StreamingServer, reader: Person) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(open_socket(server, reader)) for _number in range(MAX_CONNECTIONS)]
        url = f"{server.ws}?access_token={reader.api.token}"
        status, _message, body = refusal(url)
        assert (status, body) == (429, {"error": "Too many connections with this access token"})
        with open_socket(server, person()) as other:
            assert other.is_silent()
        sockets[0].socket.close()

        def opens() -> bool:
            with suppress(InvalidStatus):
                stack.enter_context(open_socket(server, reader))
                return True
            return False

        eventually(opens, 3)


def _cpu(server: StreamingServer) -> float:
    spent = psutil.Process(server.process.pid).cpu_times()
    return float(spent.user + spent.system)


def test_an_edit_reaches_streams_as_each_viewer_would_read_it(server: StreamingServer, reader: Person) -> None:
    author, mentioned = person(), person("mentioned")
    follow(reader, author)
    status = make_status(author.account, "one #tag")
    # However old a post is: it is the edit that is new.
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
