"""Tests of local-only posts: they are neither delivered to other servers nor served to them (docs/adr/0042)."""

from typing import Any

import pytest

from accounts.models import Account, Follow, User
from federation.outbound.audience import profile_inboxes
from moderation.models import Report
from social.kernel import links
from statuses.models import Favourite, PollVote, Quote, Status
from statuses.policies.polls import PollDraft
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import edit, follow, make_favourite, make_reblog, make_status
from tests.federation.activities import deal
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(alice: Account, zoe: RemotePerson, zoe_here: Account) -> Status:
    """A local-only post that mentions Zoe, who follows its author."""
    return make_status(
        alice,
        f"near @zoe@{zoe.home.domain}",
        visibility="local",
        quote_approval_policy="public",
        poll=PollDraft(options=("red", "green"), expires_in=600),
    )


def test_activities_about_a_local_only_post_are_not_delivered(
    elsewhere: RemoteServer, alice: Account, post: Status, zoe_here: Account
) -> None:
    bob = make_user("bob").account
    token = make_token(User.objects.get(account=alice))
    work()
    assert Api(token).post(f"/api/v1/statuses/{post.id}/pin").status_code == 200
    boosts = [make_reblog(person, post) for person in (alice, bob)]
    make_favourite(bob, post)
    answer = make_status(bob, f"too @zoe@{elsewhere.domain}", reply_to=post)
    edit(post, f"nearer @zoe@{elsewhere.domain}", poll=PollDraft(options=("red", "blue"), expires_in=600))
    work()
    assert Api(token).post(f"/api/v1/statuses/{post.id}/unpin").status_code == 200
    for one in (*boosts, answer, post):
        delete_status(status_id=one.id)
    work()
    assert elsewhere.delivered() == []
    make_status(alice, "far")
    work()
    assert [activity["type"] for activity in elsewhere.delivered()] == ["Create"], "other posts are still sent"


def test_no_document_of_a_local_only_post_is_served_even_to_signed_requests(
    alice: Account, post: Status, zoe: RemotePerson
) -> None:
    open_post = make_status(alice, "far")
    answer = make_status(alice, "near", reply_to=open_post, visibility="local")
    boost = make_reblog(alice, post)
    Api(make_token(User.objects.get(account=alice))).post(f"/api/v1/statuses/{post.id}/pin")

    def asked(path: str) -> list[Any]:
        return [Api().get(path, headers={"Accept": ACTIVITY}), zoe.get(path)]

    def refused(path: str) -> bool:
        return all(found.status_code == 404 for found in asked(path))

    for number in (post.id, answer.id, boost.id):
        paths = [f"/users/alice/statuses/{number}{more}" for more in ("", "/activity", "/likes", "/shares", "/replies")]
        assert all(map(refused, [*paths, f"/@alice/{number}", f"/contexts/{alice.id}-{number}"])), number
    lists = ("outbox?page=true", "collections/featured", f"statuses/{open_post.id}/replies", f"statuses/{open_post.id}")
    for path in (*(f"/users/alice/{name}" for name in lists), f"/contexts/{alice.id}-{open_post.id}"):
        for found in asked(path):
            assert found.status_code == 200, path
            assert not any(str(one.id) in found.content.decode() for one in (post, answer, boost)), path
    delete_status(status_id=post.id)
    assert refused(f"/users/alice/statuses/{post.id}"), "not even the deletion is visible"


def test_other_servers_cannot_interact_with_a_local_only_post(
    post: Status, zoe: RemotePerson, zoe_here: Account
) -> None:
    uri = links.status_uri("alice", post.id)
    for kind in ("Like", "Announce"):
        deal(zoe, zoe.activity(kind, uri, to=["https://www.w3.org/ns/activitystreams#Public"]))
    vote = zoe.note(number=2, inReplyTo=uri, name="red", to=[f"{links.web_url()}/users/alice"], cc=[]) | {
        "content": None
    }
    deal(zoe, zoe.activity("Create", vote))
    quote = zoe.note("<p>look</p>", number=3, quote=uri)
    deal(zoe, zoe.activity("QuoteRequest", uri, instrument=quote))
    deal(zoe, zoe.activity("Create", zoe.note("<p>aha</p>", number=4, inReplyTo=uri)))
    work()
    assert not Favourite.objects.exists()
    assert not PollVote.objects.exists()
    assert not Status.objects.filter(account=zoe_here, reblog_of=post).exists()
    assert not Quote.objects.filter(quoted_status=post).exists()
    assert not Status.objects.filter(in_reply_to=post).exists()
    assert zoe.home.delivered() == [], "not even a refusal is sent, because it would reveal the post"
    deal(zoe, zoe.activity("Flag", [post.account.uri, uri]) | {"content": "bad"})
    assert Report.objects.get().status_ids == []


def test_no_delivery_or_document_reveals_a_local_only_post_or_its_mentions(
    elsewhere: RemoteServer, alice: Account, post: Status, zoe_here: Account
) -> None:
    quoted = make_status(alice, "far", quote_approval_policy="public")
    bob, token = make_user("bob").account, make_token(User.objects.get(account=alice))
    follow(alice, bob)
    work()
    for visibility in ("local", "private"):
        quoting = make_status(bob, "near", visibility=visibility, quoted_status_id=quoted.id)
        path = f"/api/v1/statuses/{quoted.id}/quotes/{quoting.id}/revoke"
        assert Api(token).post(path).json()["quote"]["state"] == "revoked"
    work()
    assert [activity["type"] for activity in elsewhere.delivered()] == ["Create"], "only the quoted post was sent"
    Follow.objects.filter(account=zoe_here).delete()
    assert profile_inboxes(alice.id) == set()
