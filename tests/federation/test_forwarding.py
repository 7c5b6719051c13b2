"""Tests of forwarding activities about remote posts that other servers know through local users.

Contract, federation sections 10 and 11.
"""

from typing import Any

import pytest

from accounts.models import Account
from federation.inbound import forwarding
from federation.inbound.fetch_queue import FETCHES
from federation.models import Delivery, Fetch, FetchKind, OutboundActivity
from federation.remote.actors import fetch_actor
from social.api.limits import Rule
from social.kernel import clock
from statuses.models import Quote, QuoteState, Status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import follow, make_reblog, make_remote_status, make_status
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db
SIGNATURE = {"type": "RsaSignature2017", "creator": "x", "signatureValue": "AA=="}


def uri_of(status: Status) -> str:
    return f"{status.account.uri}/statuses/{status.id}"


def key_ids(server: RemoteServer) -> list[str]:
    posted = [asked.headers["signature"] for asked in server.asked if asked.method == "POST"]
    return [signature.partition('keyId="')[2].partition('"')[0] for signature in posted]


def passed_on(kind: str) -> int:
    return OutboundActivity.objects.filter(type=kind, uri__startswith="http://localhost").count()


def test_replies_to_public_posts_their_edits_and_deletions_reach_the_followers_of_the_parents_author(
    elsewhere: RemoteServer, third: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    follow(fetch_actor(third.person("yan").uri), alice)
    post = make_status(alice, "a question")
    work()
    elsewhere.asked.clear()
    third.asked.clear()
    note = zoe.note("<p>one</p>", inReplyTo=uri_of(post))
    created = zoe.activity("Create", note) | {"signature": SIGNATURE}
    for _again in range(2):
        assert deal(zoe, created) == "done"
    edited = zoe.activity("Update", note | {"content": "<p>two</p>", "updated": clock.iso(clock.now())})
    assert deal(zoe, edited) == "done"
    gone = zoe.activity("Delete", {"id": note["id"], "type": "Tombstone"})
    assert deal(zoe, gone) == "done"
    assert third.delivered() == [created, edited, gone], "the activities are forwarded unchanged and once"
    assert set(key_ids(third)) == {"http://social.localhost/actor#main-key"}, (
        "the server's own actor signs, not the followed account (security row 9)"
    )
    assert elsewhere.delivered() == [], "the author's own server has the reply already"
    assert not OutboundActivity.objects.exists()


def test_only_public_posts_sent_by_their_own_author_are_forwarded(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(make_remote("yan", "third.example"), alice)
    zoe_here = introduced(zoe, alice)
    follow(zoe_here, alice)
    public, private = make_status(alice, "everybody"), make_status(alice, "followers", visibility="private")
    work()
    followers = {"to": [f"{zoe.uri}/followers"], "cc": [alice.uri]}
    tag = [{"type": "Mention", "href": alice.uri}]
    sent = [
        zoe.activity("Create", zoe.note(number=1, inReplyTo=uri_of(private))),
        zoe.activity("Create", zoe.note(number=2, inReplyTo=uri_of(public), tag=tag, **followers)),
        zoe.activity("Create", zoe.note(number=3, inReplyTo=uri_of(public), to=[alice.uri], cc=[], tag=tag)),
        zoe.activity("Create", zoe.note(number=4)),
        zoe.activity("Create", zoe.note(number=5, inReplyTo=uri_of(public), content="x" * forwarding.BODY_LIMIT)),
    ]
    for activity in sent:
        assert deal(zoe, activity) == "done"
    # A forwarded activity is not forwarded again, so that servers cannot form a loop.
    relay = elsewhere.person("relay", key=2)
    note = elsewhere.serve(zoe.note(number=6, inReplyTo=uri_of(public)))
    assert deal(relay, zoe.activity("Create", note)) == "done"
    assert Status.objects.filter(account=zoe_here, deleted_at=None).count() == 6
    assert not OutboundActivity.objects.filter(uri__startswith=zoe.uri).exists()


def test_edits_and_deletions_are_forwarded_to_servers_that_know_the_post_from_boosts_and_quotes(
    zoe: RemotePerson, alice: Account
) -> None:
    """The server's own actor signs the forwarded activities, so they do not reveal who else has boosted the post."""
    bob = make_account("bob")
    follow(make_remote("yan", "third.example"), alice)
    follow(make_remote("xan", "fourth.example"), bob)
    introduced(zoe, alice)
    notes = [zoe.note(number=number) for number in range(2)]
    for note in notes:
        assert deal(zoe, zoe.activity("Create", note)) == "done"
    boosted, quiet = (Status.objects.get(uri=note["id"]) for note in notes)
    make_reblog(alice, boosted)
    quote = make_status(bob, "look")
    Quote.objects.create(status=quote, quoted_status=boosted, quoted_uri=boosted.uri, state=QuoteState.ACCEPTED)
    work()
    Delivery.objects.all().delete()
    later = clock.iso(clock.now())
    for note in notes:
        assert deal(zoe, zoe.activity("Update", note | {"content": "<p>new</p>", "updated": later})) == "done"
        assert deal(zoe, zoe.activity("Update", note | {"content": "<p>same moment</p>", "updated": later})) == "done"
    waiting = Delivery.objects.select_related("activity__account").filter(activity__uri__startswith=zoe.uri)
    assert {row.host for row in waiting} == {"third.example", "fourth.example"}
    assert {row.activity.account.uri for row in waiting} == {"http://social.localhost/actor"}
    assert passed_on("Update") == 1
    assert deal(zoe, zoe.activity("Delete", boosted.uri)) == "done"
    assert deal(zoe, zoe.activity("Delete", quiet.uri)) == "done"
    assert {(row.activity.type, row.host) for row in waiting.all()} == {
        ("Delete", "third.example"),
        ("Delete", "fourth.example"),
    }, "the deletion replaces the waiting edit"


def test_the_number_of_activities_forwarded_for_a_stranger_is_limited(
    zoe: RemotePerson, alice: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(forwarding, "FORWARDED", Rule("forwarded", 2, 3600, "account"))
    follow(make_remote("yan", "third.example"), alice)
    post = make_status(alice, "a question")
    notes = [zoe.note(number=number, inReplyTo=uri_of(post)) for number in range(4)]
    for note in notes:
        assert deal(zoe, zoe.activity("Create", note)) == "done"
    assert passed_on("Create") == 2
    assert Status.objects.filter(local=False).count() == 4
    for note in notes:
        assert deal(zoe, zoe.activity("Delete", note["id"])) == "done"
    assert passed_on("Delete") == 4, "deletions are forwarded without a limit"


def test_a_forwarded_edit_is_fetched_once_from_its_origin_after_caches_have_expired(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    relay = elsewhere.person("relay", key=2)
    fetch_actor(relay.uri)
    note = zoe.note("<p>one</p>")
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    later = clock.iso(clock.now())
    elsewhere.serve(note | {"content": "<p>true</p>", "updated": later})
    asked = len(elsewhere.gets())
    for _again in range(3):
        lie = zoe.activity("Update", note | {"content": "<p>a lie</p>", "updated": later})
        assert deal(relay, lie) == "done"
    assert len(elsewhere.gets()) == asked
    waiting = Fetch.objects.get(kind=FetchKind.EDIT)
    assert (waiting.due_at - clock.now()).total_seconds() > 180
    Fetch.objects.update(due_at=clock.now())
    FETCHES.run()
    assert len(elsewhere.gets()) == asked + 1
    assert Status.objects.get(uri=note["id"]).content == "<p>true</p>"
    private = zoe.note(number=2, to=[f"{zoe.uri}/followers"], cc=[])
    assert deal(zoe, zoe.activity("Create", private)) == "done"
    assert deal(relay, zoe.activity("Update", private)) == "rejected: the actor is not the signer"


def test_a_forwarded_revocation_counts_if_the_origin_no_longer_serves_the_authorization(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    relay = elsewhere.person("relay", key=2)
    zoe_here = introduced(zoe, alice)
    uri = f"{zoe.uri}/quote_authorizations/1"
    quoted, quoting = make_remote_status(zoe_here), make_remote_status(fetch_actor(elsewhere.person("yan").uri))
    Quote.objects.create(
        status=quoting, quoted_status=quoted, quoted_uri=quoted.uri, approval_uri=uri, state=QuoteState.ACCEPTED
    )
    elsewhere.serve({"id": uri, "type": "QuoteAuthorization"})
    gone = zoe.activity("Delete", {"id": uri, "type": "QuoteAuthorization"}, to=[PUBLIC])
    assert deal(relay, gone).startswith("rejected: another server says that the object was deleted")
    del elsewhere.pages["/users/zoe/quote_authorizations/1"]
    deal(relay, gone | {"actor": relay.uri})
    assert Quote.objects.get().state == QuoteState.ACCEPTED, "a relay cannot revoke the consent"
    assert deal(relay, gone | {"id": f"{uri}#delete"}) == "done"
    assert Quote.objects.get().state == QuoteState.REVOKED
