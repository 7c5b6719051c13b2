"""Tests of quotes between servers, shown only with the quoted author's consent (FEP-044f; security row 36).

Contract, federation section 7.
"""

from typing import Any

import pytest

from accounts.models import Account, Follow
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, block_domain
from accounts.services.following import FollowChange, follow_account
from accounts.services.sanctions import suspend_account, unsuspend_account
from federation.remote.actors import fetch_actor
from federation.remote.posts import find_or_fetch_post
from notifications.models import Notification
from social.kernel import clock
from statuses.models import Quote, QuoteState, Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.federation.activities import PUBLIC, QUOTABLE, deal, quote_state, remote
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> Account:
    return make_user("ann").account


def _quoting(ann: Account, zoe: RemotePerson, elsewhere: RemoteServer) -> tuple[Status, dict[str, Any]]:
    """Create a post of Ann that quotes a post of Zoe, and return it with the request that was sent."""
    note = elsewhere.serve(zoe.note(**QUOTABLE))
    follow(fetch_actor(zoe.uri), ann, uri=f"{zoe.uri}#follows/1")
    quoted = find_or_fetch_post(note["id"])
    api = Api(make_token(ann.user))
    answer = api.post("/api/v1/statuses", {"status": "look", "quoted_status_id": str(quoted.id)}).json()
    assert answer["quote"]["state"] == "pending"
    work()
    return Status.objects.get(id=answer["id"]), elsewhere.delivered("QuoteRequest")[-1]


def _request(someone: RemotePerson, quoted: Status, **more: Any) -> dict[str, Any]:
    uri = f"{quoted.account.uri}/statuses/{quoted.id}"
    note = someone.note("<p>I quote</p>", quote=uri) | more
    return someone.activity("QuoteRequest", uri, instrument=note)


def _hide(by: str, quoted: Status, zoe: RemotePerson) -> None:
    """Stop Zoe from quoting the post, in one of three ways."""
    if by == "domain block":
        block_domain(account=quoted.account, domain=zoe.home.domain)
    elif by == "block":
        block_account(account=quoted.account, target=remote(zoe))
    else:
        Status.objects.filter(id=quoted.id).update(quote_policy=0)


def test_a_remote_author_is_asked_for_consent_which_is_sent_with_the_quote(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    status, request = _quoting(ann, zoe, elsewhere)
    note = request["instrument"]
    assert (request["actor"], note["id"]) == (ann.uri, f"{ann.uri}/statuses/{status.id}")
    assert request["object"] == note["quote"] == zoe.note()["id"]
    assert request["id"].startswith(f"{ann.uri}/quote_requests/")
    assert [asked.path for asked in elsewhere.asked if b"QuoteRequest" in asked.body][-1] == "/users/zoe/inbox"
    stamp = f"{zoe.uri}/quote_authorizations/7"
    assert deal(zoe, zoe.activity("Accept", request["id"], result=stamp)) == "done"
    update = elsewhere.delivered("Update")[-1]
    assert update["object"]["quoteAuthorization"] == stamp
    shown = Api(make_token(ann.user)).get(f"/api/v1/statuses/{status.id}").json()["quote"]
    assert (shown["state"], shown["quoted_status"]["uri"]) == ("accepted", request["object"])
    # Only a Delete by the quoted author revokes the quote, and other servers get the post without it.
    gone = {"id": stamp, "type": "QuoteAuthorization", "attributedTo": zoe.uri}
    yan = elsewhere.person("yan")
    deal(yan, yan.activity("Delete", gone))
    assert quote_state(status) == QuoteState.ACCEPTED
    assert deal(zoe, zoe.activity("Delete", gone)) == "done"
    assert quote_state(status) == QuoteState.REVOKED
    assert "quoteAuthorization" not in elsewhere.delivered("Update")[-1]["object"]


def test_row_36_nobody_else_can_consent_for_the_quoted_author(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    status, request = _quoting(ann, zoe, elsewhere)
    yan = elsewhere.person("yan")
    stamp = f"{zoe.uri}/quote_authorizations/7"
    assert "not by the quoted author" in deal(yan, yan.activity("Accept", request["id"], result=stamp))
    assert "no authorization" in deal(zoe, zoe.activity("Accept", request["id"], result="https://other.example/1"))
    assert "no authorization" in deal(zoe, zoe.activity("Accept", request["id"]))
    assert quote_state(status) == QuoteState.PENDING
    assert deal(zoe, zoe.activity("Reject", request["id"])) == "done"
    assert quote_state(status) == QuoteState.REJECTED
    assert deal(zoe, zoe.activity("Accept", request["id"], result=stamp)) == "done"
    assert quote_state(status) == QuoteState.REJECTED, "a refused quote stays refused"


def test_an_activity_whose_object_has_no_id_decides_about_no_quote(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """Quotes that have neither a request nor an authorization must not match such an activity."""
    status, _request = _quoting(ann, zoe, elsewhere)
    make_status(ann, "mine", quoted_status_id=str(make_status(ann, "one").id))
    deal(zoe, zoe.activity("Delete", {"type": "Tombstone"}))
    assert quote_state(status) == QuoteState.PENDING
    follow_account(account=ann, target=remote(zoe), change=FollowChange())
    accept = zoe.activity("Accept", {"type": "Follow", "actor": ann.uri, "object": zoe.uri})
    assert deal(zoe, accept) == "done"
    assert Follow.objects.filter(account=ann, target=remote(zoe)).exists()


@pytest.mark.parametrize("visibility", ["private", "direct", "deleted"])
def test_a_request_about_a_post_that_is_not_public_is_not_answered(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account, visibility: str
) -> None:
    fetch_actor(zoe.uri)
    hidden = make_status(ann, "one", visibility="public" if visibility == "deleted" else visibility)
    if visibility == "deleted":
        delete_status(status_id=hidden.id)
    assert deal(zoe, _request(zoe, hidden)).startswith("rejected: ")
    assert not elsewhere.delivered("Reject")


@pytest.mark.parametrize("known", [True, False])
def test_the_policy_decides_the_answer_to_a_request(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account, known: bool
) -> None:
    fetch_actor(zoe.uri)
    allowed = make_status(ann, "one", quote_approval_policy="public")
    request = _request(zoe, allowed)
    if known:
        follow(ann, fetch_actor(zoe.uri))
        assert deal(zoe, zoe.activity("Create", request["instrument"])) == "done"
    assert deal(zoe, request) == "done"
    quote = Quote.objects.get()
    (accept,) = elsewhere.delivered("Accept")
    stamp = f"{ann.uri}/quote_authorizations/{quote.id}"
    quoting_uri, quoted_uri = request["instrument"]["id"], request["object"]
    assert (quote.state, accept["result"]) == (QuoteState.ACCEPTED, stamp)
    assert accept["id"] == f"{ann.uri}#accepts/quote_requests/{quote.id}"
    assert accept["object"] == {
        "id": request["id"],
        "type": "QuoteRequest",
        "actor": zoe.uri,
        "object": quoted_uri,
        "instrument": quoting_uri,
    }
    document = zoe.get(f"/users/ann/quote_authorizations/{quote.id}").json()
    assert document.pop("@context")
    assert document == {
        "id": stamp,
        "type": "QuoteAuthorization",
        "attributedTo": ann.uri,
        "interactingObject": quoting_uri,
        "interactionTarget": quoted_uri,
    }
    assert list(Notification.objects.filter(type="quote").values_list("account__username", flat=True)) == ["ann"]
    assert Api().get(f"/api/v1/statuses/{allowed.id}").json()["quotes_count"] == 1
    # A repeated request is accepted again, but not after the quote has been revoked.
    deal(zoe, request | {"id": f"{request['id']}2"})
    assert len(elsewhere.delivered("Accept")) == 2
    path = f"/api/v1/statuses/{allowed.id}/quotes/{quote.status_id}/revoke"
    assert Api(make_token(ann.user)).post(path).status_code == 200
    work()
    (delete,) = elsewhere.delivered("Delete")
    assert (delete["id"], delete["object"], delete["to"]) == (f"{stamp}#delete", document, [PUBLIC])
    assert zoe.get(f"/users/ann/quote_authorizations/{quote.id}").status_code == 404
    deal(zoe, request | {"id": f"{request['id']}3"})
    assert len(elsewhere.delivered("Accept")) == 2
    assert len(elsewhere.delivered("Reject")) == 1


@pytest.mark.parametrize("policy", ["nobody", "followers"])
def test_a_request_that_the_policy_does_not_allow_is_rejected(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account, policy: str
) -> None:
    fetch_actor(zoe.uri)
    refused = make_status(ann, "one", quote_approval_policy=policy)
    request = _request(zoe, refused)
    assert deal(zoe, request) == "done"
    (reject,) = elsewhere.delivered("Reject")
    assert reject["id"].startswith(f"{ann.uri}#rejects/quote_requests/")
    assert reject["object"]["id"] == request["id"]
    assert not Status.objects.filter(local=False).exists(), "the post is not stored"
    assert "the post is unknown here" in deal(
        zoe, zoe.activity("QuoteRequest", f"{ann.uri}/statuses/1", instrument=zoe.note())
    )


@pytest.mark.parametrize("first", ["post", "request"])
@pytest.mark.parametrize("hidden_by", ["domain block", "block", "policy"])
def test_a_refused_quote_is_rejected_whether_the_request_or_the_post_arrives_first(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account, first: str, hidden_by: str
) -> None:
    follow(make_user("reader").account, fetch_actor(zoe.uri))
    quoted = make_status(ann, "one", quote_approval_policy="public")
    request = _request(zoe, quoted)
    create = zoe.activity("Create", request["instrument"])
    if first == "post":
        deal(zoe, create)
        assert quote_state(Status.objects.get(local=False)) == QuoteState.PENDING
    _hide(hidden_by, quoted, zoe)
    assert deal(zoe, request) == "done"
    assert len(elsewhere.delivered("Reject")) == 1
    if first == "request":
        deal(zoe, create)
    quoting = Status.objects.get(local=False)
    shown = Api().get(f"/api/v1/statuses/{quoting.id}").json()["quote"]
    assert (quote_state(quoting), shown) == (QuoteState.REJECTED, {"state": "rejected", "quoted_status": None})
    assert deal(zoe, request | {"id": f"{request['id']}2"}) == "done"
    assert len(elsewhere.delivered("Accept")) == 0


def test_a_quote_of_a_suspended_author_stays_pending_and_can_still_be_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """As in Mastodon, the states `unauthorized` and `deleted` are only for accepted quotes; a suspended author's server may
    still refuse.

    Contract, federation section 11.
    """
    status, request = _quoting(ann, zoe, elsewhere)
    Account.objects.filter(uri=zoe.uri).update(suspended_at=clock.now())
    zoe.send(zoe.activity("Accept", request["id"], result=f"{zoe.uri}/quote_authorizations/7"))
    work()
    shown = Api(make_token(ann.user)).get(f"/api/v1/statuses/{status.id}").json()["quote"]
    assert shown == {"state": "pending", "quoted_status": None}
    deal(zoe, zoe.activity("Reject", request["id"]))
    assert quote_state(status) == QuoteState.REJECTED


def test_a_request_of_a_suspended_account_is_accepted_only_after_the_suspension(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """Requests from suspended accounts are not accepted (contract, federation section 11)."""
    reader = make_user("reader")
    follow(reader.account, fetch_actor(zoe.uri))
    viewers = Api(), Api(make_token(ann.user)), Api(make_token(reader))
    quoted = make_status(ann, "one", quote_approval_policy="public")
    request = _request(zoe, quoted)
    deal(zoe, zoe.activity("Create", request["instrument"]))
    quoting = Status.objects.get(local=False)
    suspend_account(by=OPERATOR, account=remote(zoe))
    zoe.send(request)
    work()
    for api in viewers:
        assert api.get(f"/api/v1/statuses/{quoting.id}").status_code == 404
        assert api.get("/api/v1/statuses", {"id[]": str(quoting.id)}).json() == []
    assert viewers[1].get(f"/api/v1/statuses/{quoted.id}/quotes").json() == []
    assert (quote_state(quoting), elsewhere.delivered()) == (QuoteState.PENDING, [])
    unsuspend_account(by=OPERATOR, account=remote(zoe))
    deal(zoe, request | {"id": f"{request['id']}2"})
    assert {api.get(f"/api/v1/statuses/{quoting.id}").json()["quote"]["state"] for api in viewers} == {"accepted"}


def test_the_id_of_a_request_used_again_by_its_actor_moves_to_the_newer_quote(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """A server that was restored from a backup assigns some ids a second time (contract, federation section 17)."""
    fetch_actor(zoe.uri)
    quoted = make_status(ann, "one", quote_approval_policy="public")
    requests = [_request(zoe, quoted, id=f"{zoe.uri}/statuses/{number}") for number in (1, 2)]
    used = requests[0]["id"]
    for request in requests:
        assert deal(zoe, request | {"id": used}) == "done"
        assert Quote.objects.get(request_uri=used).status.uri == request["instrument"]["id"]
    assert Quote.objects.filter(state=QuoteState.ACCEPTED, quoted_status=quoted).count() == 2
    assert [answer["object"]["instrument"] for answer in elsewhere.delivered("Accept")] == [
        request["instrument"]["id"] for request in requests
    ]
    # Another actor cannot claim the quote by naming its id.
    yan = elsewhere.person("yan", key=2)
    assert "belongs to another request" in deal(yan, _request(yan, quoted) | {"id": used})
    assert Quote.objects.get(request_uri=used).status.account == remote(zoe)


@pytest.mark.parametrize("hidden_by", ["domain block", "block", "policy"])
def test_a_repeated_request_for_an_accepted_quote_is_accepted_even_if_the_policy_has_changed(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account, hidden_by: str
) -> None:
    fetch_actor(zoe.uri)
    quoted = make_status(ann, "one", quote_approval_policy="public")
    request = _request(zoe, quoted)
    deal(zoe, request)
    _hide(hidden_by, quoted, zoe)
    again = request | {"id": f"{request['id']}2"}
    deal(zoe, again)
    first, second = elsewhere.delivered("Accept")
    assert second == first | {"object": first["object"] | {"id": again["id"]}}
    assert (Quote.objects.get().state, elsewhere.delivered("Reject")) == (QuoteState.ACCEPTED, [])
    deal(zoe, _request(zoe, quoted, id=f"{zoe.note()['id']}2"))
    assert len(elsewhere.delivered("Reject")) == 1, "another quote is no longer allowed"


def test_the_last_of_several_quote_authorizations_is_the_one_that_can_be_revoked(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """A request may arrive twice, and the author's server may answer each with a different authorization."""
    status, request = _quoting(ann, zoe, elsewhere)
    stamps = [f"{zoe.uri}/quote_authorizations/{number}" for number in (7, 8)]
    for stamp in stamps:
        assert deal(zoe, zoe.activity("Accept", request["id"], result=stamp, id=f"{stamp}#accept")) == "done"
    assert quote_state(status) == QuoteState.ACCEPTED
    assert zoe.get(f"/users/ann/statuses/{status.id}").json()["quoteAuthorization"] == stamps[1]
    gone = {"id": stamps[1], "type": "QuoteAuthorization", "attributedTo": zoe.uri}
    assert deal(zoe, zoe.activity("Delete", gone)) == "done"
    assert quote_state(status) == QuoteState.REVOKED


def test_a_request_must_name_a_post_by_its_actor_that_quotes_the_post(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    fetch_actor(zoe.uri)
    allowed, other = (make_status(ann, text, quote_approval_policy="public") for text in ("one", "two"))
    yan = elsewhere.person("yan")
    request = _request(zoe, allowed)
    uri = request["object"]
    assert "rejected" in deal(zoe, request | {"instrument": zoe.note(number=5)}), "the post quotes nothing"
    assert "rejected" in deal(zoe, request | {"instrument": yan.note(quote=uri)})
    assert "rejected" in deal(zoe, request | {"instrument": None})
    assert "rejected" in deal(zoe, request | {"instrument": "https://other.example/1"})
    wrong = zoe.note(number=6, quote=f"{ann.uri}/statuses/{other.id}")
    assert "quotes another" in deal(zoe, request | {"instrument": wrong})
    assert not Quote.objects.filter(state=QuoteState.ACCEPTED).exists()
    assert elsewhere.delivered("Accept") == []


def test_a_request_id_belongs_to_its_sender_and_to_the_latest_requested_quote(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    fetch_actor(zoe.uri)
    yan, quoted = elsewhere.person("yan"), make_status(ann, "one", quote_approval_policy="public")
    request = _request(zoe, quoted)
    assert deal(zoe, request) == "done"
    assert "belongs to another request" in deal(yan, _request(yan, quoted) | {"id": request["id"]})
    newer = zoe.note(number=2, quote=request["object"])
    for instrument in (request["instrument"], newer):
        assert deal(zoe, request | {"instrument": instrument}) == "done"
        assert Quote.objects.get(request_uri=request["id"]).status.uri == instrument["id"]
