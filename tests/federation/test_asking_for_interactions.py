"""Tests of requests to remote authors for permission to reply, favourite or boost, as in GoToSocial (docs/adr/0044)."""

from typing import Any

import pytest

from accounts.models import Account
from federation.remote.posts import find_or_fetch_post
from statuses.models import Favourite, InteractionRequest, RequestState, Status
from tests.factories.statuses import follow, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.interactions import api_of, uri_of
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.terms import check_terms
from tests.support.work import work

pytestmark = pytest.mark.django_db


def asking(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> tuple[Status, Status, dict[str, Any]]:
    """Return a post of Zoe, Alice's reply, which is waiting for consent, and the request that was sent."""
    rule = {"always": [zoe.uri], "approvalRequired": [PUBLIC]}
    note = elsewhere.serve(
        zoe.note(number=3, interactionPolicy={"canReply": rule, "canLike": rule, "canAnnounce": rule})
    )
    post = find_or_fetch_post(note["id"])
    reply = make_status(alice, f"well @zoe@{zoe.home.domain}", reply_to=post)
    work()
    return post, reply, elsewhere.delivered("ReplyRequest")[-1]


def test_a_reply_to_a_remote_post_is_sent_with_the_authorization_of_its_author(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post, reply, request = asking(elsewhere, zoe, alice)
    check_terms(request)
    instrument = request["instrument"]
    assert (request["object"], request["to"], instrument["id"]) == (post.uri, zoe.uri, uri_of(reply))
    assert instrument["to"] == [PUBLIC], "the request contains the reply as it will be sent"
    assert not elsewhere.delivered("Create")
    assert Api().get(f"/users/alice/statuses/{reply.id}", headers={"Accept": ACTIVITY}).status_code == 404
    stamp = f"{zoe.uri}/reply_authorizations/1"
    yan = elsewhere.person("yan")
    assert "not by the author" in deal(yan, yan.activity("Accept", request["id"], result=stamp))
    assert "no authorization" in deal(zoe, zoe.activity("Accept", request["id"], result="https://third.example/1"))
    assert "no authorization" in deal(zoe, zoe.activity("Accept", request["id"]))
    assert deal(zoe, zoe.activity("Accept", request["id"], result=stamp)) == "done"
    create = elsewhere.delivered("Create")[-1]["object"]
    check_terms(elsewhere.delivered("Create")[-1])
    assert (create["replyAuthorization"], create["approvedBy"], create["to"]) == (stamp, stamp, [PUBLIC])
    assert Api().get(f"/api/v1/statuses/{reply.id}").json()["visibility"] == "public"
    # Only the author can withdraw an authorization, and the withdrawal is final.
    gone = {"id": stamp, "type": "ReplyAuthorization", "attributedTo": zoe.uri}
    deal(yan, yan.activity("Delete", gone))
    assert Api().get(f"/api/v1/statuses/{reply.id}").status_code == 200
    assert deal(zoe, zoe.activity("Delete", gone)) == "done"
    assert Api().get(f"/api/v1/statuses/{reply.id}").status_code == 404
    deal(zoe, zoe.activity("Accept", request["id"], result=stamp))
    assert Api().get(f"/api/v1/statuses/{reply.id}").status_code == 404, "an old Accept does not restore the reply"


def test_favourites_and_boosts_of_remote_posts_wait_for_their_author_too(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post, _reply, _request = asking(elsewhere, zoe, alice)
    api = api_of(alice)
    assert api.post(f"/api/v1/statuses/{post.id}/favourite").json()["favourited"] is False
    assert api.post(f"/api/v1/statuses/{post.id}/reblog").json()["reblogged"] is False
    work()
    like, announce = (elsewhere.delivered(f"{name}Request")[-1] for name in ("Like", "Announce"))
    assert (like["instrument"]["type"], announce["instrument"]["object"]) == ("Like", post.uri)
    assert not elsewhere.delivered("Like", "Announce")
    for number, request in enumerate((like, announce)):
        assert deal(zoe, zoe.activity("Accept", request["id"], result=f"{zoe.uri}/stamps/{number}")) == "done"
    assert Favourite.objects.filter(status=post, account=alice).exists()
    assert elsewhere.delivered("Announce")[-1]["announceAuthorization"] == f"{zoe.uri}/stamps/1"


def test_a_rejected_reply_is_deleted_and_was_shown_to_nobody(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    _post, reply, request = asking(elsewhere, zoe, alice)
    assert deal(zoe, zoe.activity("Reject", request["id"])) == "done"
    assert InteractionRequest.objects.get().state == RequestState.REJECTED
    assert api_of(alice).get(f"/api/v1/statuses/{reply.id}").status_code == 404
    assert not elsewhere.delivered("Create")


def test_a_reply_that_only_followers_may_write_waits_for_an_authorization(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    """Servers other than Zoe's do not know who follows her, so the reply must wait for her authorization. A favourite is sent
    only to Zoe's server.
    """
    follow(alice, zoe_here)
    rule = {"always": [zoe.uri, f"{zoe.uri}/followers"]}
    policy = {"canReply": rule, "canLike": rule}
    post = find_or_fetch_post(elsewhere.serve(zoe.note(number=3, interactionPolicy=policy))["id"])
    make_status(alice, "well", reply_to=post)
    assert api_of(alice).post(f"/api/v1/statuses/{post.id}/favourite").json()["favourited"] is True
    work()
    assert elsewhere.delivered("Like")
    assert elsewhere.delivered("ReplyRequest")
    assert not elsewhere.delivered("Create")
