"""Tests of the answers to interaction requests, also after a review by staff: rejections are final (docs/adr/0044)."""

from typing import Any

import pytest

from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account
from social.kernel import links
from statuses.models import Favourite, HeldPost, Interaction, InteractionRequest, RequestState, Status
from statuses.policies.interactions import Choice
from statuses.services.moderating import approve_held
from statuses.services.requests import decide_request
from tests.factories.accounts import make_token, make_user
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import follow, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.interactions import post_of, uri_of
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def ask_again(zoe: RemotePerson, post: Status, kind: str) -> str:
    about = uri_of(post)
    if kind == "AnnounceRequest":
        return deal(zoe, zoe.activity(kind, about, instrument=zoe.activity("Announce", about, to=[PUBLIC])))
    return deal(zoe, zoe.activity(kind, about, to=[PUBLIC]))


@pytest.mark.parametrize("kind", ["Like", "Announce", "AnnounceRequest"])
def test_an_interaction_whose_approval_was_revoked_cannot_be_requested_again(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, kind: str
) -> None:
    post = post_of(alice, Choice.FOLLOWERS)
    assert ask_again(zoe, post, kind) == "done"
    request = InteractionRequest.objects.get()
    assert request.state == RequestState.ACCEPTED
    decide_request(account_id=alice.id, request_id=request.id, accepted=False)
    work()
    refusals = len(elsewhere.delivered("Reject"))
    assert ask_again(zoe, post, kind) == "done"
    work()
    assert InteractionRequest.objects.get().state == RequestState.REJECTED
    assert not Favourite.objects.exists()
    assert not Status.objects.filter(account=zoe_here, deleted_at=None).exists()
    assert len(elsewhere.delivered("Reject")) == refusals + 1


def test_a_rejected_local_account_stays_refused_after_following_the_author(alice: Account) -> None:
    bob = make_user("bob").account
    api, post = Api(make_token(bob.user)), post_of(alice, Choice.ASKED)
    for act in ("favourite", "reblog"):
        assert api.post(f"/api/v1/statuses/{post.id}/{act}").status_code == 200
    for request in InteractionRequest.objects.all():
        decide_request(account_id=alice.id, request_id=request.id, accepted=False)
    policy = {"interaction_policy": {f"can_{act}": {"always": ["followers"]} for act in ("favourite", "reblog")}}
    author = Api(make_token(alice.user))
    assert author.put(f"/api/v1/statuses/{post.id}", {"status": "hello", **policy}).status_code == 200
    follow(bob, alice)
    for act in ("favourite", "reblog"):
        assert api.post(f"/api/v1/statuses/{post.id}/{act}").status_code == 403


@pytest.mark.parametrize("known", ["id", "post", "request"])
def test_a_pending_like_is_withdrawn_by_an_undo_in_any_form(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, known: str
) -> None:
    post = post_of(alice, Choice.ASKED)
    like = zoe.activity("Like", uri_of(post))
    request = zoe.activity("LikeRequest", uri_of(post), instrument=like)
    deal(zoe, request if known == "request" else like)
    other = InteractionRequest.objects.create(
        status=post, account=zoe_here, target=alice, kind=Interaction.REBLOG, uri=f"{zoe.uri}/boosts/1"
    )
    undone: dict[str, Any] = {
        "id": like["id"],
        "post": {"type": "Like", "actor": zoe.uri, "object": uri_of(post)},
        "request": request["id"],
    }
    assert deal(zoe, zoe.activity("Undo", undone[known])) == "done"
    assert InteractionRequest.objects.get().id == other.id, "nothing else was removed"


def test_a_block_in_either_direction_removes_pending_requests(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    """Nobody could approve such a reply, because the author does not see replies by blocked accounts (gotosocial#1334)."""
    bob, post = make_user("bob").account, post_of(alice, Choice.ASKED)
    api = Api(make_token(bob.user))
    for act in ("favourite", "reblog"):
        assert api.post(f"/api/v1/statuses/{post.id}/{act}").status_code == 200
    reply = make_status(bob, "well", reply_to=post)
    deal(zoe, zoe.activity("Like", uri_of(post)))
    deal(zoe, zoe.activity("Create", zoe.note("<p>well</p>", number=9, inReplyTo=uri_of(post))))
    other = post_of(make_user("carl").account, Choice.ASKED)
    assert api.post(f"/api/v1/statuses/{other.id}/favourite").status_code == 200
    block_account(account=bob, target=alice)
    deal(zoe, zoe.activity("Block", alice.uri))
    work()
    assert [request.status_id for request in InteractionRequest.objects.all()] == [other.id]
    assert not elsewhere.delivered("Accept", "Reject")
    assert not Status.objects.filter(in_reply_to=post, deleted_at=None).exists()
    assert Api(make_token(alice.user)).get("/api/v1/interaction_requests").json() == []
    assert api.get(f"/api/v1/statuses/{reply.id}").status_code == 404


@pytest.mark.parametrize("choice", [Choice.ASKED, Choice.FOLLOWERS])
@pytest.mark.parametrize("polite", [True, False])
def test_a_reply_approved_by_staff_is_answered_in_the_form_of_its_request(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, choice: Choice, polite: bool
) -> None:
    make_rule(words=("casino",))
    post = post_of(alice, choice)
    reply = zoe.note("<p>casino</p>", number=9, inReplyTo=uri_of(post))
    request = zoe.activity("ReplyRequest", uri_of(post), instrument=reply)
    assert deal(zoe, request if polite else zoe.activity("Create", reply)) == "done"
    assert not elsewhere.delivered("Accept", "Reject")
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    work()
    stored = InteractionRequest.objects.get()
    if choice is Choice.ASKED:
        assert stored.state == RequestState.PENDING
        assert not elsewhere.delivered("Accept")
        decide_request(account_id=alice.id, request_id=stored.id, accepted=True)
        work()
    answered = elsewhere.delivered("Accept")[-1]["object"]
    assert (answered["id"] if polite else answered) == (request["id"] if polite else reply["id"])


def test_a_follower_whose_server_sends_the_reply_itself_gets_an_authorization(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    """GoToSocial up to 0.20 sends a reply only to the author at first, and to others after its approval."""
    post = post_of(alice, Choice.FOLLOWERS)
    reply = zoe.note("<p>yes</p>", number=9, inReplyTo=uri_of(post))
    assert deal(zoe, zoe.activity("Create", reply)) == "done"
    accept = elsewhere.delivered("Accept")[-1]
    assert (accept["object"], accept["target"]) == (reply["id"], links.status_uri("alice", post.id))
    assert InteractionRequest.objects.get().answer == Status.objects.get(uri=reply["id"])
