"""Tests of fetching the thread around a remote post when it is opened, within limits (contract, federation section 13)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, User
from federation.models import ThreadStep, ThreadWalk
from federation.remote import threads
from federation.remote.actors import fetch_actor
from social.api.limits import Rule
from social.kernel import clock, links
from statuses.models import Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import counts, make_favourite, make_remote_status, make_status
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.runtime.processes import free_port
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
HEADER = "Mastodon-Async-Refresh"


@pytest.fixture
def reader() -> User:
    return make_user("reader")


@pytest.fixture
def api(reader: User) -> Api:
    return Api(make_token(reader))


def known(zoe: RemotePerson, note: dict[str, Any], age: timedelta = timedelta(hours=1)) -> Status:
    """Create a post of Zoe that is both stored here and served by her server."""
    zoe.home.serve(note)
    return make_remote_status(
        fetch_actor(zoe.uri),
        uri=note["id"],
        created_at=clock.now() - age,
        in_reply_to_uri=note.get("inReplyTo"),
    )


def collection(uri: str, *items: Any, **page: Any) -> dict[str, Any]:
    return {
        "replies": {
            "id": f"{uri}/replies",
            "type": "Collection",
            "first": {"type": "CollectionPage", "partOf": f"{uri}/replies", "items": list(items), **page},
        }
    }


def read(api: Api, status: Status) -> tuple[list[str], list[str], str | None]:
    answer = api.get(f"/api/v1/statuses/{status.id}/context")
    assert answer.status_code == 200
    above, below = ([one["uri"] for one in answer.json()[name]] for name in ("ancestors", "descendants"))
    return above, below, answer.headers.get(HEADER)


def test_a_thread_is_returned_immediately_and_complete_after_the_refresh(
    elsewhere: RemoteServer, third: RemoteServer, zoe: RemotePerson, api: Api
) -> None:
    yan, xan = third.person("yan"), elsewhere.person("xan")
    start = elsewhere.serve(xan.note("<p>start</p>", number=1))
    middle = elsewhere.serve(xan.note("<p>middle</p>", number=2, inReplyTo=start["id"]))
    uri = zoe.note()["id"]
    own = elsewhere.serve(zoe.note(number=2, inReplyTo=uri))
    answer = yan.note(number=3, inReplyTo=uri)
    deep = elsewhere.serve(xan.note(number=4, inReplyTo=answer["id"]))
    third.serve(answer | collection(answer["id"], deep["id"]))
    page = f"{uri}/replies?only_other_accounts=true&page=true"
    stray = third.serve(yan.note("<p>stray</p>", number=5))
    elsewhere.serve(
        {"id": page, "type": "CollectionPage", "items": [answer["id"], stray["id"], own["id"], uri]},
        "/users/zoe/statuses/1/replies",
    )
    post = known(zoe, zoe.note(inReplyTo=middle["id"]) | collection(uri, own["id"], next=page))
    above, below, header = read(api, post)
    assert (above, below, header) == ([], [], f'id="{post.id}", retry=3, result_count=0')
    refresh = f"/api/v1_alpha/async_refreshes/{post.id}"
    assert api.get(refresh).json() == {"async_refresh": {"id": str(post.id), "status": "running", "result_count": 0}}
    assert read(api, post)[2] == header, "everybody who opens the post meanwhile gets the same header"
    work()
    assert api.get(refresh).json() == {"async_refresh": {"id": str(post.id), "status": "finished", "result_count": 5}}
    above, below, header = read(api, post)
    assert (above, below, header) == ([start["id"], middle["id"]], [own["id"], answer["id"], deep["id"]], None)
    assert not Status.objects.filter(uri=stray["id"]).exists(), "the post is not a reply in this thread"
    asked = len(elsewhere.gets()) + len(third.gets())
    work()
    assert len(elsewhere.gets()) + len(third.gets()) == asked, "the thread is not fetched again for a while"
    ThreadWalk.objects.update(begun_at=clock.now() - timedelta(minutes=16))
    assert read(api, post)[2] is not None
    assert Api().get(refresh).status_code == 401
    assert api.get(f"/api/v1_alpha/async_refreshes/{post.id + 1}").status_code == 404


def test_nothing_is_fetched_for_visitors_recent_local_or_restricted_posts(
    zoe: RemotePerson, api: Api, alice: Account, reader: User
) -> None:
    old = known(zoe, zoe.note())
    young = known(zoe, zoe.note(number=2), timedelta(minutes=4))
    own = make_status(alice)
    private = make_remote_status(
        old.account, visibility="direct", mentions=[reader.account], created_at=clock.now() - timedelta(hours=1)
    )
    assert [read(api, post)[2] for post in (young, own, private)] == [None] * 3
    assert read(Api(), old)[2] is None
    assert not ThreadStep.objects.exists()
    assert api.get(f"/api/v1_alpha/async_refreshes/{own.id}").status_code == 404


def test_a_local_reply_causes_a_fetch_from_the_server_of_its_parent(
    elsewhere: RemoteServer, zoe: RemotePerson, api: Api, alice: Account
) -> None:
    uri = zoe.note()["id"]
    other = elsewhere.serve(zoe.note("<p>another reply</p>", number=2, inReplyTo=uri))
    post = known(zoe, zoe.note() | collection(uri, other["id"]))
    answer = make_status(alice, "mine", reply_to=make_status(alice, "first", reply_to=post))
    assert read(api, answer)[2] == f'id="{post.id}", retry=3, result_count=0'
    work()
    assert other["id"] in read(api, post)[1]


def test_replies_below_a_local_post_are_fetched_from_the_servers_of_its_replies(
    elsewhere: RemoteServer, third: RemoteServer, zoe: RemotePerson, api: Api, alice: Account
) -> None:
    """A server that does not respond delays nothing."""
    post = make_status(alice, "start")
    Status.objects.filter(id=post.id).update(created_at=clock.now() - timedelta(hours=1))
    assert read(api, post)[2] is None, "no part of the thread is on another server"
    answer = zoe.note(inReplyTo=links.status_uri(alice.username, post.id))
    deep = third.serve(third.person("yan").note(number=2, inReplyTo=answer["id"]))
    elsewhere.serve(answer | collection(answer["id"], deep["id"], f"http://localhost:{free_port()}/lost"))
    make_remote_status(fetch_actor(zoe.uri), uri=answer["id"], parent=post)
    assert read(api, post) == ([], [answer["id"]], f'id="{post.id}", retry=3, result_count=0')
    work()
    assert read(api, post) == ([], [answer["id"], deep["id"]], None)
    assert ThreadStep.objects.filter(dead_at=None).count() == 1, "the server is asked once more"


def test_an_opened_remote_post_shows_the_counts_of_its_server_plus_local_actions(
    elsewhere: RemoteServer, zoe: RemotePerson, api: Api, alice: Account
) -> None:
    def totals(likes: Any, shares: Any, replies: Any) -> dict[str, Any]:
        found = zip(("likes", "shares", "replies"), (likes, shares, replies), strict=True)
        return {name: {"type": "Collection", "totalItems": total} for name, total in found}

    def shown(*figures: Any) -> tuple[int, ...]:
        if figures:
            elsewhere.serve(zoe.note("<p>anew</p>", updated=clock.now().isoformat()) | totals(*figures))
            ThreadWalk.objects.update(begun_at=clock.now() - timedelta(minutes=16))
            read(api, post)
            work()
        found = api.get(f"/api/v1/statuses/{post.id}").json()
        return tuple(found[f"{name}_count"] for name in ("favourites", "reblogs", "replies"))

    post = known(zoe, zoe.note())
    assert shown() == (0, 0, 0)
    assert shown(7, 2, 9) == (7, 2, 9)
    post.refresh_from_db()
    assert post.content == "<p>anew</p>", "the edit had not been delivered to this server"
    make_favourite(alice, post)
    answer = make_status(alice, "mine", reply_to=post)
    assert shown() == (8, 2, 10)
    delete_status(status_id=answer.id)
    assert shown() == (8, 2, 9)
    assert shown(1, 0, 4) == (1, 0, 4)
    assert shown("many", -1, None) == (1, 0, 4), "these values are not numbers"
    assert shown(10**12, 10**6 + 1, 10**6) == (10**6,) * 3
    assert counts(post) == (0, 0, 1), "rules use only the local counts"


def test_the_number_of_threads_fetched_for_a_user_per_hour_is_limited(
    elsewhere: RemoteServer, zoe: RemotePerson, api: Api, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(threads.limits, "THREADS", Rule("threads", 1, 3600, "account"))
    first, second = known(zoe, zoe.note()), known(zoe, zoe.note(number=2))
    assert [read(api, one)[2] is not None for one in (first, second, first)] == [True, False, True]
    assert read(Api(make_token(make_user("patient"))), second)[2] is not None


def test_row_34_fetching_a_thread_stays_within_its_budget_whatever_servers_send(
    elsewhere: RemoteServer, third: RemoteServer, zoe: RemotePerson, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases: endless pages, loops, pages on other servers, thousands of missing posts."""
    monkeypatch.setattr(threads, "POSTS_LIMIT", 12)
    monkeypatch.setattr(threads, "PAGES_LIMIT", 5)
    uri = zoe.note()["id"]

    def serve_another_page() -> None:
        number = len([each for each in elsewhere.gets() if "replies" in each])
        page = {"type": "CollectionPage", "next": f"{uri}/replies?page={number}", "items": [f"{uri}{number}"]}
        elsewhere.serve(page, "/users/zoe/statuses/1/replies")

    elsewhere.before_answer = serve_another_page
    foreign = third.uri("replies")
    post = known(zoe, zoe.note() | collection(uri, *[f"{uri}x{n}" for n in range(6)], next=f"{uri}/replies?page=0"))
    assert read(api, post)[2] is not None
    work()
    asked = [path for path in elsewhere.gets() if path.startswith("/users/zoe/statuses/1")]
    assert len([path for path in asked if "replies" in path]) == 5
    assert len([path for path in asked if "replies" not in path]) == 12
    assert len(asked) == len(set(asked)), "every address is requested once"
    elsewhere.before_answer = lambda: None
    monkeypatch.setattr(threads, "ACTORS_LIMIT", 1)
    start = f"{zoe.uri}/statuses/4"
    people = [elsewhere.person(name) for name in ("yan", "xan")]
    answers = [elsewhere.serve(one.note(number=5, inReplyTo=start))["id"] for one in people]
    read(api, known(zoe, zoe.note(number=4) | collection(start, *answers)))
    work()
    assert Status.objects.filter(uri__in=answers).count() == 1
    first = known(zoe, zoe.note(number=2) | collection(f"{zoe.uri}/statuses/2", next=foreign))
    second = known(zoe, zoe.note(number=3) | {"replies": foreign})
    for one in (first, second):
        read(api, one)
    work()
    assert third.gets() == []


def test_the_first_replies_listed_in_a_new_post_are_fetched_from_its_server(
    elsewhere: RemoteServer, third: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    uri = zoe.note()["id"]
    answers = [elsewhere.serve(zoe.note(number=number, inReplyTo=uri))["id"] for number in range(2, 9)]
    foreign = third.serve(third.person("yan").note(inReplyTo=uri))["id"]
    assert deal(zoe, zoe.activity("Create", zoe.note() | collection(uri, foreign, *answers))) == "done"
    assert set(Status.objects.exclude(uri=uri).values_list("uri", flat=True)) == set(answers[:5])
