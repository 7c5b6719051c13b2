"""Tests of the streams that announce a deleted post (contract, behaviours section 16)."""

from contextlib import ExitStack

import pytest

from accounts.models import Account
from accounts.services.blocking import block_account, mute_account, unmute_account
from accounts.services.following import unfollow_account
from statuses.models import Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_remote
from tests.factories.statuses import (
    make_media,
    make_reblog,
    make_remote_media,
    make_remote_status,
    make_status,
)
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.listeners import Socket, open_socket
from tests.timelines.server import StreamingServer

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_deletion_is_sent_on_every_stream_that_sent_the_post(
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


def test_a_deletion_is_not_sent_to_those_who_could_not_read_the_post(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # security row 19
    follower, stranger, asker = person(), person(), person()
    assert stranger.api.post("/api/v1/tags/x/follow").status_code == 200
    for one in (reader, follower):
        follow(one, author)
    Account.objects.filter(id=author.id).update(locked=True)
    assert asker.api.post(f"/api/v1/accounts/{author.id}/follow").json()["requested"]
    with ExitStack() as stack:
        homes = [stack.enter_context(open_socket(server, one, "user")) for one in (reader, follower, stranger, asker)]
        for one in (follower, asker):
            number = one.api.post("/api/v1/lists", {"title": "List"}).json()["id"]
            added = one.api.post(f"/api/v1/lists/{number}/accounts", {"account_ids": [str(author.id)]})
            assert added.status_code == 200
            homes.append(stack.enter_context(open_socket(server, one, "list", list=number)))
        work()
        for visibility in ("direct", "private", "unlisted"):
            sent = {"status": f"@{reader.account.username} #x", "visibility": visibility}
            number = author.api.post("/api/v1/statuses", sent).json()["id"]
            assert author.api.delete(f"/api/v1/statuses/{number}").status_code == 200
            work()
            received = [deletions(socket) for socket in homes]
            everybody = [number] if visibility != "direct" else []
            assert received == [[number], everybody, [], [], everybody, []], visibility


def deletions(socket: Socket) -> list[str]:
    """Return the posts whose deletion the socket has received, and check that it has received no updates of posts."""
    found = []
    socket.say(type="subscribe", stream="no such stream")
    while "error" not in (message := socket.next()):
        assert message["event"] in ("delete", "notification"), message
        if message["event"] == "delete":
            found.append(message["payload"])
    return found


def test_streams_of_local_posts_do_not_send_deletions_of_remote_posts(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # behaviours section 16: a deletion is sent to every stream that had the post
    theirs = make_remote_status(make_remote(), "<p>#x</p>", tags=[("x", "x")])
    own = make_status(author.account, "#x")
    work()
    with (
        open_socket(server, reader, "hashtag:local", tag="x") as local,
        open_socket(server, reader, "hashtag", tag="x") as everything,
    ):
        for status in (theirs, own):
            delete_status(status_id=status.id)
            work()
        assert [everything.next()["payload"] for _ in range(2)] == [str(theirs.id), str(own.id)]
        assert local.next() == {"stream": ["hashtag:local", "x"], "event": "delete", "payload": str(own.id)}


def test_media_streams_send_only_deletions_of_posts_with_files(
    server: StreamingServer, reader: Person, author: Person
) -> None:  # behaviours section 16: a deletion is sent to every stream that had the post
    def remote_picture(server_name: str) -> Status:
        status = make_remote_status(make_remote(domain=server_name), "<p>a picture</p>")
        make_remote_media(status, copied=False)
        return status

    plain = [make_status(author.account), make_remote_status(make_remote())]
    own, theirs = make_status(author.account, media=[make_media(author.account)]), remote_picture("pictures.example")
    emptied = make_status(author.account, media=[make_media(author.account)])
    assert author.api.put(f"/api/v1/statuses/{emptied.id}", {"status": "no picture any more"}).status_code == 200
    work()
    expected = {
        "public": [*plain, own, theirs, emptied],
        "public:media": [own, theirs, emptied],
        "public:local:media": [own, emptied],
        "public:remote:media": [theirs],
    }
    with ExitStack() as stack:
        sockets = {name: stack.enter_context(open_socket(server, reader, name)) for name in expected}
        for status in expected["public"]:
            delete_status(status_id=status.id)
            work()
        assert {name: deletions(socket) for name, socket in sockets.items()} == {
            name: [str(status.id) for status in statuses] for name, statuses in expected.items()
        }


def make_list(owner: Person, *members: Person) -> str:
    number: str = owner.api.post("/api/v1/lists", {"title": "Friends"}).json()["id"]
    sent = {"account_ids": [str(member.id) for member in members]}
    assert owner.api.post(f"/api/v1/lists/{number}/accounts", sent).status_code == 200
    work()
    return number


def look(someone: Person, list_number: str | None = None) -> None:
    """Request the home timeline, and the timeline of the list if there is one."""
    work()
    for timeline in ("home", *([f"list/{list_number}"] if list_number else ())):
        assert someone.api.get(f"/api/v1/timelines/{timeline}").status_code == 200


def test_posts_hidden_by_a_mute_or_block_are_deleted_from_open_streams(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    friend = person()
    for each in (author, friend):
        follow(reader, each)
    number = make_list(reader, author, friend)
    mine = make_status(author.account, "hello")
    about = make_status(friend.account, f"@{author.account.username}")
    stays = make_status(friend.account, "stays")
    look(reader, number)
    with open_socket(server, reader, "user") as at_home, open_socket(server, reader, "list", list=number) as in_list:
        mute_account(account=reader.account, target=author.account)
        work()
        for socket in (at_home, in_list):
            gone = [socket.next() for _ in range(2)]
            assert {event["payload"] for event in gone if event["event"] == "delete"} == {str(mine.id), str(about.id)}
            assert socket.is_silent()
        # A client with an open stream does not request a timeline in between.
        mute_account(account=reader.account, target=friend.account)
        work()
        for socket in (at_home, in_list):
            assert (socket.next()["payload"], socket.is_silent()) == (str(stays.id), True)
        unmute_account(account=reader.account, target=friend.account)
        unmute_account(account=reader.account, target=author.account)
        look(reader)
        block_account(account=author.account, target=reader.account)
        work()
        events = [at_home.next() for _ in range(1)]
        assert [(event["event"], event["payload"]) for event in events] == [("delete", str(mine.id))]
        assert at_home.is_silent()


def test_posts_hidden_by_a_mute_are_deleted_from_streams_of_users_who_never_loaded_a_timeline(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    follow(reader, author)
    number = make_list(reader, author)
    before = make_status(author.account, "before")
    work()
    with open_socket(server, reader, "user") as at_home, open_socket(server, reader, "list", list=number) as in_list:
        since = make_status(author.account, "since")
        work()
        for socket in (at_home, in_list):
            assert socket.next()["event"] == "update"
        mute_account(account=reader.account, target=author.account)
        work()
        for socket in (at_home, in_list):
            gone = [socket.next() for _ in range(2)]
            assert {(event["event"], event["payload"]) for event in gone} == {
                ("delete", str(before.id)),
                ("delete", str(since.id)),
            }
            assert socket.is_silent()


def test_a_mute_deletes_from_streams_posts_that_another_change_removed_from_the_feed(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    stranger = person()
    for each in (author, stranger):
        follow(reader, each)
    number = make_list(reader, author, stranger)
    muted, unfollowed = make_status(author.account), make_status(stranger.account)
    work()
    with open_socket(server, reader, "user") as at_home, open_socket(server, reader, "list", list=number) as in_list:
        # All changes are written before any job runs, so that each job finds the feed as the previous one left it.
        unfollow_account(account=reader.account, target=stranger.account)
        mute_account(account=reader.account, target=author.account)
        work()
        assert [deletions(socket) for socket in (at_home, in_list)] == [[str(muted.id)]] * 2, unfollowed.id


def test_a_mute_deletes_from_streams_posts_that_loading_the_timeline_removed_from_the_feed(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    follow(reader, author)
    number = make_list(reader, author)
    status = make_status(author.account)
    look(reader, number)
    with open_socket(server, reader, "user") as at_home, open_socket(server, reader, "list", list=number) as in_list:
        mute_account(account=reader.account, target=author.account)
        for timeline in ("home", f"list/{number}"):
            assert reader.api.get(f"/api/v1/timelines/{timeline}").json() == []
        work()
        assert [deletions(socket) for socket in (at_home, in_list)] == [[str(status.id)]] * 2
