"""Tests of activities that arrive out of order or name unknown accounts: nothing is lost (contract, federation section 17)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from accounts.policies.staff import OPERATOR
from federation.inbound.fetch_queue import _work
from federation.models import Fetch, FetchKind
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from social.kernel import clock
from statuses.models import HeldPost, Mention, Status, UnknownMention
from statuses.services.moderating import approve_held
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import follow
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the posts that were streamed as new."""
    sent: list[int] = []

    def note(posts: Sequence[Any], _homes: Any, event: Any, **_more: Any) -> None:
        sent.extend(post.id for post in posts if event == "update")

    monkeypatch.setattr("timelines.services.fan_out.broadcast_posts", note)
    return sent


def _mention_of(account: Account | str, name: str = "@somebody") -> dict[str, str]:
    return {"type": "Mention", "href": account if isinstance(account, str) else account.uri, "name": name}


def _fetched(uri: str) -> Status:
    """Return a post that was fetched because a reply to it arrived before it."""
    _work(Fetch(kind=FetchKind.POST, uri=uri, host="x"))
    work()
    return Status.objects.get(uri=uri)


def _notified() -> list[tuple[str, str]]:
    return sorted(Notification.objects.values_list("account__username", "type"))


def test_a_post_that_was_fetched_for_a_reply_notifies_once_when_it_is_delivered(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, streamed: list[int]
) -> None:
    user = make_user("bob")
    introduced(zoe, alice)
    yan = elsewhere.person("yan")
    follow(alice, fetch_actor(yan.uri))
    asked = elsewhere.serve(zoe.note(tag=_mention_of(user.account), cc=[user.account.uri]))
    answer = yan.note("<p>answer</p>", inReplyTo=asked["id"])
    assert deal(yan, yan.activity("Create", answer)) == "done"
    status = Status.objects.get(uri=asked["id"])
    assert (_notified(), status.id in streamed) == ([], False), "a fetched post notifies nobody"
    for _time in range(2):
        assert deal(zoe, zoe.activity("Create", asked)) == "done"
        assert _notified() == [("bob", "mention")]
        assert streamed.count(status.id) == 1
    shown = Api(make_token(user)).get("/api/v1/notifications").json()
    assert [one["status"]["id"] for one in shown] == [str(status.id)]
    assert Status.objects.count() == 2


def test_an_edit_of_a_fetched_post_that_arrives_first_counts_as_its_delivery(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, streamed: list[int]
) -> None:
    introduced(zoe, alice)
    note = elsewhere.serve(zoe.note(tag=_mention_of(alice), cc=[alice.uri]))
    old = elsewhere.serve(
        zoe.note(number=2, tag=_mention_of(alice), cc=[alice.uri])
        | {"published": clock.iso(clock.now() - timedelta(days=2))}
    )
    status, other = _fetched(note["id"]), _fetched(old["id"])
    for document in (note, old):
        edited = {**document, "content": "<p>edited</p>", "updated": clock.iso(clock.now())}
        assert deal(zoe, zoe.activity("Update", edited)) == "done"
        assert deal(zoe, zoe.activity("Create", document)) == "done"
    assert streamed.count(status.id) == 1
    assert _notified() == [("alice", "mention")] * 2, "an old post notifies when it is delivered itself"
    assert streamed.count(other.id) == 1
    assert {post.content for post in Status.objects.all()} == {"<p>edited</p>"}


def test_an_account_that_gets_a_fetched_post_in_its_inbox_may_read_it(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    note = elsewhere.serve(zoe.note(to=[zoe.uri], cc=[]))
    status = _fetched(note["id"])
    assert not Mention.objects.exists()
    assert deal(zoe, zoe.activity("Create", note), "/users/alice/inbox") == "done"
    assert Mention.objects.get(status=status, silent=True).account == alice


def test_row_08_nobody_else_delivers_a_fetched_post(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, streamed: list[int]
) -> None:
    introduced(zoe, alice)
    note = elsewhere.serve(zoe.note(tag=_mention_of(alice), cc=[alice.uri]))
    _fetched(note["id"])
    yan = elsewhere.person("yan")
    for said in (note, {**note, "attributedTo": yan.uri}):
        deal(yan, yan.activity("Create", said))
    assert (_notified(), streamed) == ([], [])


def test_an_unknown_mentioned_account_is_added_to_the_mentions_once_known(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    yan, eve = elsewhere.person("yan"), elsewhere.uri("users/eve")
    stranger = elsewhere.person("stranger")
    note = zoe.note(
        tag=[_mention_of(yan.uri), _mention_of(eve), _mention_of(stranger.uri), _mention_of(alice)],
        cc=[yan.uri, eve, alice.uri],
    )
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    status = Status.objects.get(uri=note["id"])

    def mentioned() -> list[str]:
        entity = Api().get(f"/api/v1/statuses/{status.id}").json()
        return sorted(person["username"] for person in entity["mentions"])

    assert mentioned() == ["alice", "yan"], "row 22: only addressed accounts are notified"
    assert not Account.objects.filter(uri=stranger.uri).exists()
    assert list(UnknownMention.objects.values_list("uri", flat=True)) == [eve]
    # Her server responds from now on, and a local user searches for her.
    elsewhere.person("eve")
    fetch_actor(eve)
    assert mentioned() == ["alice", "eve", "yan"]
    assert not UnknownMention.objects.exists()
    assert _notified() == [("alice", "mention")]


def test_an_edit_replaces_the_unknown_mentioned_accounts(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    one, two = elsewhere.uri("users/one"), elsewhere.uri("users/two")
    note = zoe.note(tag=[_mention_of(one)], cc=[one])
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    edited = note | {"content": "<p>2</p>", "tag": [_mention_of(two)], "cc": [two], "updated": clock.iso(clock.now())}
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert list(UnknownMention.objects.values_list("uri", flat=True)) == [two]


def test_local_accounts_can_be_mentioned_by_their_pages_too(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    page = alice.uri.replace("/users/", "/@")
    note = zoe.note(tag=[_mention_of(page)], cc=[alice.uri, page])
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    assert Mention.objects.get(silent=False).account == alice
    assert _notified() == [("alice", "mention")]


def test_remote_accounts_can_be_mentioned_by_their_pages_if_the_post_is_addressed_to_their_ids(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    known, other, yan = make_remote("known"), make_remote("other"), elsewhere.person("yan")
    pages = [known.url, other.url, elsewhere.uri("@yan")]
    note = zoe.note(tag=[_mention_of(str(page)) for page in pages], cc=[known.uri, yan.uri])
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    mentioned = Mention.objects.filter(status__uri=note["id"], silent=False).values_list("account__username", flat=True)
    assert sorted(mentioned) == ["known", "yan"], "row 22: only addressed accounts are notified"
    assert not [asked.path for asked in elsewhere.asked if "@yan" in asked.path and "webfinger" not in asked.path]


def test_row_71_the_number_of_look_ups_that_one_server_causes_is_limited(
    zoe: RemotePerson, alice: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    introduced(zoe, alice)
    monkeypatch.setattr("federation.remote.actors.find_or_fetch", lambda _uri: alice)
    asked: list[str] = []
    monkeypatch.setattr(
        "federation.remote.requests.enqueue", lambda *rows, **_: asked.extend(r.uri for r in rows) or []
    )
    settings.RATE_LIMITS = True
    for number in range(25):
        people = [f"https://h{number}-{person}.example/u" for person in range(60)]
        note = zoe.note(number=number, tag=[_mention_of(uri) for uri in people], cc=people)
        assert deal(zoe, zoe.activity("Create", note)) == "done"
    assert len([uri for uri in asked if uri.endswith(".example/u")]) == 600
    assert UnknownMention.objects.count() == 25 * 60


def test_a_post_that_is_held_when_fetched_counts_as_delivered_after_its_delivery(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    make_rule(words=["casino"])
    note = elsewhere.serve(zoe.note("<p>casino</p>", to=[zoe.uri], cc=[]))
    with pytest.raises(Rejected):
        _work(Fetch(kind=FetchKind.POST, uri=note["id"], host="x"))
    assert HeldPost.objects.get().announced is False
    assert deal(zoe, zoe.activity("Create", note), "/users/alice/inbox") == "done"
    held = HeldPost.objects.get()
    assert (held.announced, held.recipient) == (True, alice)


def test_a_boost_of_a_held_post_is_stored_when_the_post_is_approved(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    yan, _booster = elsewhere.person("yan"), introduced(zoe, alice)
    make_rule(words=["casino"])
    note = elsewhere.serve(yan.note("<p>casino</p>"))
    assert deal(zoe, zoe.activity("Announce", note["id"], to=[PUBLIC])) == "done"
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    work()
    boost = Status.objects.get(reblog_of__uri=note["id"])
    assert boost.account.uri == zoe.uri
