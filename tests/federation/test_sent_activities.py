"""Tests that deliveries and requests equal those recorded from Mastodon 4.6.5 in the same situation.

They compare the activity, the kind of inbox, the headers and the signed parts (contract, federation sections 7, 10 and 12). The
tests are skipped without the records.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Follow
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, unblock_account
from accounts.services.erasing import delete_user
from accounts.services.following import FollowChange, follow_account, unfollow_account
from federation.documents.synchronization import digest_of
from federation.inbound.fetch_queue import FETCHES
from federation.models import Delivery, Fetch, FetchKind
from federation.outbound.delivering import DELIVERIES
from federation.outbound.relaying import add_relay, remove_relay
from federation.remote.actors import fetch_actor
from federation.remote.posts import find_or_fetch_post
from moderation.policies.reports import ReportDraft
from moderation.services.reports import file_report
from social.kernel import clock
from statuses.services.interactions import favourite_status, unfavourite_status, unreblog_status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import edit, follow, make_reblog, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import Asked, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.wire import FILES, compare_delivery, compare_request
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]
ANYBODY = {"interactionPolicy": {"canQuote": {"automaticApproval": [PUBLIC]}}}


class Scene:
    """The local user Ann and the remote user Zoe, who follow each other, and the deliveries to Zoe's server."""

    def __init__(self, elsewhere: RemoteServer, zoe: RemotePerson) -> None:
        self.elsewhere, self.zoe = elsewhere, zoe
        self.user = make_user("ann")
        self.ann: Account = self.user.account
        self.api = Api(make_token(self.user))
        self.account = fetch_actor(zoe.uri)
        follow(self.account, self.ann, uri=f"{zoe.uri}#follows/1")
        self.count = 0

    def note(self) -> Any:
        """Fetch a post of Zoe and return its row."""
        self.count += 1
        return find_or_fetch_post(self.elsewhere.serve(self.zoe.note(number=self.count, **ANYBODY))["id"])

    def follows(self) -> None:
        follow_account(account=self.ann, target=self.account, change=FollowChange())

    def sent(self, name: str, kind: str, act: Callable[[], object]) -> dict[str, Any]:
        """Run `act`, compare the last delivered activity of this type with the record `name`, and return the activity."""
        self.deliver()
        self.elsewhere.asked.clear()
        act()
        self.deliver()
        found = [asked for asked in self.elsewhere.asked if asked.method == "POST" and asked.activity()["type"] == kind]
        compare_delivery(name, found[-1])
        return found[-1].activity()

    @staticmethod
    def deliver() -> None:
        work()
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        DELIVERIES.run()
        work()


@pytest.fixture
def scene(elsewhere: RemoteServer, zoe: RemotePerson) -> Scene:
    return Scene(elsewhere, zoe)


def test_follows_and_their_answers_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, zoe, account = scene.ann, scene.zoe, scene.account
    scene.sent("follow", "Follow", scene.follows)
    scene.sent("undo_follow", "Undo", lambda: unfollow_account(account=ann, target=account))
    Follow.objects.filter(account=account).delete()
    ask = zoe.activity("Follow", ann.uri)
    scene.sent("accept_follow", "Accept", lambda: deal(zoe, ask, "/users/ann/inbox"))
    again = zoe.activity("Follow", ann.uri)
    scene.sent("accept_follow_again", "Accept", lambda: deal(zoe, again, "/users/ann/inbox"))
    carl = make_user("carl", locked=True)
    deal(zoe, zoe.activity("Follow", carl.account.uri))
    path = f"/api/v1/follow_requests/{account.id}/reject"
    scene.sent("reject_follow", "Reject", lambda: Api(make_token(carl)).post(path))


def test_blocks_and_reports_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, account = scene.ann, scene.account
    scene.sent("block", "Block", lambda: block_account(account=ann, target=account))
    scene.sent("undo_block", "Undo", lambda: unblock_account(account=ann, target=account))
    draft = ReportDraft("This is spam", "", (str(scene.note().id),), forward=True)
    scene.sent("flag", "Flag", lambda: file_report(account=ann, target=account, draft=draft))


def test_posts_edits_and_deletions_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, account = scene.ann, scene.account
    scene.sent("create_note_public", "Create", lambda: make_status(ann))
    scene.sent("create_note_unlisted", "Create", lambda: make_status(ann, visibility="unlisted"))
    scene.sent("create_note_private", "Create", lambda: make_status(ann, visibility="private"))
    scene.sent("create_note_direct", "Create", lambda: make_status(ann, f"@{account.acct} hi", visibility="direct"))
    status = make_status(ann, "one")
    scene.sent("update_note", "Update", lambda: edit(status, "two", spoiler_text="careful"))
    scene.sent("delete_note", "Delete", lambda: scene.api.delete(f"/api/v1/statuses/{status.id}"))


def test_favourites_boosts_and_votes_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, status = scene.ann, scene.note()
    scene.sent("like", "Like", lambda: favourite_status(account_id=ann.id, status=status))
    scene.sent("undo_like", "Undo", lambda: unfavourite_status(account_id=ann.id, status_id=status.id))
    scene.sent("announce_public", "Announce", lambda: make_reblog(ann, status))
    scene.sent("undo_announce", "Undo", lambda: unreblog_status(account_id=ann.id, status_id=status.id))
    options = [{"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": 0}} for name in "ab"]
    end = clock.iso(clock.now() + timedelta(hours=1))
    question = scene.zoe.note(number=77, type="Question", oneOf=options, endTime=end)
    poll = find_or_fetch_post(scene.elsewhere.serve(question)["id"]).poll
    scene.sent("create_vote", "Create", lambda: scene.api.post(f"/api/v1/polls/{poll.id}/votes", {"choices": [1]}))


def test_quotes_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, zoe, quoted = scene.ann, scene.zoe, scene.note()

    def quote() -> None:
        body = {"status": "look", "quoted_status_id": str(quoted.id)}
        assert scene.api.post("/api/v1/statuses", body).status_code == 200

    request = scene.sent("quote_request", "QuoteRequest", quote)
    accept = zoe.activity("Accept", request["id"], result=f"{zoe.uri}/quote_authorizations/7")
    scene.sent("update_note_quote_approved", "Update", lambda: deal(zoe, accept))
    for name, kind, policy in (("accept", "Accept", "public"), ("reject", "Reject", "nobody")):
        status = make_status(ann, "one", quote_approval_policy=policy)
        scene.count += 1
        note = zoe.note("<p>I quote</p>", number=scene.count, quote=f"{ann.uri}/statuses/{status.id}")
        asked = zoe.activity("QuoteRequest", note["quote"], instrument=note)
        scene.sent(f"{name}_quote_request", kind, lambda asked=asked: deal(zoe, asked, "/users/ann/inbox"))
        if policy == "public":
            path = f"/api/v1/statuses/{status.id}/quotes/{find_or_fetch_post(note['id']).id}/revoke"
            scene.sent("delete_quote_authorization", "Delete", lambda path=path: scene.api.post(path))


def test_pins_and_the_deletion_of_an_account_are_sent_as_mastodon_sends_them(scene: Scene) -> None:
    ann, user = scene.ann, scene.user
    status = make_status(ann, "pinned")
    for name, kind, act in (("add", "Add", "pin"), ("remove", "Remove", "unpin")):
        path = f"/api/v1/statuses/{status.id}/{act}"
        scene.sent(f"{name}_featured_post", kind, lambda path=path: scene.api.post(path))
    scene.sent("delete_actor", "Delete", lambda: delete_user(user=user))


def test_relays_are_followed_and_left_as_mastodon_does(scene: Scene) -> None:
    inbox = scene.elsewhere.uri("inbox")
    scene.sent("follow_relay", "Follow", lambda: add_relay(by=OPERATOR, inbox_url=inbox))
    scene.sent("undo_follow_relay", "Undo", lambda: remove_relay(by=OPERATOR, inbox_url=inbox))


def test_replies_are_forwarded_unchanged(scene: Scene, third: RemoteServer) -> None:
    """The body is forwarded unchanged, so only the rest of the request is compared."""
    follow(fetch_actor(third.person("yan").uri), scene.ann)
    status = make_status(scene.ann, "a question")
    scene.deliver()
    third.asked.clear()
    note = scene.zoe.note("<p>an answer</p>", number=50, inReplyTo=f"{scene.ann.uri}/statuses/{status.id}")
    deal(scene.zoe, scene.zoe.activity("Create", note))
    scene.deliver()
    compare_request("create_note_forwarded_reply", third.asked[-1])


def first_get(server: RemoteServer, part: str) -> Asked:
    return next(asked for asked in server.asked if asked.method == "GET" and part in asked.path)


def test_fetches_are_requested_as_mastodon_requests_them(scene: Scene, third: RemoteServer) -> None:
    elsewhere, zoe = scene.elsewhere, scene.zoe
    compare_request("fetch_actor", first_get(elsewhere, "/users/zoe"))
    compare_request("fetch_webfinger", first_get(elsewhere, "webfinger"))
    searched = elsewhere.serve(zoe.note(number=99))["id"]
    assert scene.api.get("/api/v2/search", {"q": searched, "resolve": "true"}).status_code == 200
    compare_request("fetch_url_of_search", first_get(elsewhere, "/statuses/99"))
    assert scene.api.get("/api/v2/search", {"q": f"@nobody@{third.domain}", "resolve": "true"}).status_code == 200
    compare_request("fetch_host_meta", first_get(third, "host-meta"))
    quoted = third.serve(third.person("yan").note("<p>quoted</p>", **ANYBODY))
    stamp = third.uri("users/yan/quote_authorizations/1")
    quoting = zoe.note("<p>I quote</p>", number=98, quote=quoted["id"], quoteAuthorization=stamp)
    follow(scene.ann, scene.account)
    deal(zoe, zoe.activity("Create", quoting))
    compare_request("fetch_quote_authorization", first_get(third, "quote_authorizations"))
    uri = f"{zoe.uri}/followers_synchronization"
    note = zoe.note(number=97, to=[f"{zoe.uri}/followers"], cc=[])
    header = f'collectionId="{zoe.uri}/followers", digest="{digest_of([zoe.uri])}", url="{uri}"'
    zoe.send(zoe.activity("Create", note), **{"collection-synchronization": header})
    work()
    Fetch.objects.filter(kind=FetchKind.FOLLOWERS).update(due_at=clock.now())
    FETCHES.run()
    compare_request("fetch_followers_synchronization", first_get(elsewhere, "synchronization"))
