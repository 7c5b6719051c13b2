"""Tests of interaction policies between servers: policies, requests and authorizations as in GoToSocial (docs/adr/0044).

Requests to other servers are tested in `test_asking_for_interactions.py`.
"""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Tag
from accounts.services.blocking import block_account
from federation.remote.posts import find_or_fetch_post
from notifications.models import Notification
from social.kernel import clock, links
from social.kernel.errors import NotFound
from statuses.models import Favourite, Interaction, InteractionRequest, Quote, RequestState, Status
from statuses.policies.interactions import Choice, Group, groups_of, rule_of_choice
from statuses.services.requests import decide_request
from tests.factories.accounts import make_user
from tests.factories.statuses import counts, edit, follow, make_reblog, make_remote_status, make_status
from tests.federation.activities import PUBLIC, deal, remote
from tests.federation.interactions import api_of, post_of, uri_of
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.terms import check_terms
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_a_document_states_only_limited_policies_under_the_old_and_the_new_names(
    alice: Account, zoe: RemotePerson, zoe_here: Account
) -> None:
    def policy(post: Status) -> dict[str, Any]:
        document = Api().get(f"/users/alice/statuses/{post.id}", headers={"Accept": ACTIVITY}).json()
        check_terms(document)
        found: dict[str, Any] = document["interactionPolicy"]
        return found

    assert set(policy(make_status(alice))) == {"canQuote"}
    limited = policy(post_of(alice, Choice.FOLLOWERS, f"@zoe@{zoe.home.domain} look"))
    followers = f"{alice.uri}/followers"
    assert limited["canReply"]["automaticApproval"] == limited["canReply"]["always"] == [alice.uri, zoe.uri, followers]
    assert limited["canLike"]["always"] == limited["canAnnounce"]["always"] == [alice.uri, followers]
    assert limited["canLike"]["manualApproval"] == limited["canLike"]["approvalRequired"] == []
    one = policy(
        make_status(alice, interaction_policy={Interaction.REPLY: rule_of_choice(Interaction.REPLY, Choice.NOBODY)})
    )
    assert one["canLike"]["always"] == one["canAnnounce"]["automaticApproval"] == [PUBLIC], (
        "a limited policy states every kind of interaction, because older servers expect that"
    )
    asked = policy(post_of(alice, Choice.ASKED))["canReply"]
    assert (asked["always"], asked["approvalRequired"]) == ([alice.uri], [PUBLIC])
    mutual = policy(post_of(alice, Choice.MUTUALS))["canLike"]
    assert (mutual["always"], mutual["approvalRequired"]) == ([alice.uri], [followers])
    assert policy(post_of(alice, Choice.FOLLOWING))["canLike"]["always"] == [alice.uri, f"{alice.uri}/following"]


def test_policies_of_other_servers_are_read_in_both_forms_and_may_be_malformed(
    elsewhere: RemoteServer, zoe: RemotePerson
) -> None:
    followers, public = f"{zoe.uri}/followers", Group.PUBLIC
    nothing, others = Group(0), Group.OTHERS
    cases: list[tuple[Any, Any]] = [
        ({"canReply": {"always": PUBLIC}}, None),
        ({"canReply": {"always": zoe.uri}}, (nothing, nothing)),
        ({"canReply": {"always": [zoe.uri, followers], "approvalRequired": [PUBLIC]}}, (Group.FOLLOWERS, public)),
        ({"canReply": {"automaticApproval": [zoe.uri], "always": [PUBLIC]}}, (nothing, nothing)),
        ({"canReply": {"manualApproval": ["as:Public"]}}, (nothing, public)),
        ({"canReply": {"always": ["https://third.example/users/yan"]}}, (nothing, others)),
        ({"canReply": {"always": [f"https://third.example/{number}" for number in range(900)]}}, (nothing, others)),
        *(
            ({"canReply": value}, None)
            for value in ({}, None, 5, "x", [{"always": zoe.uri}], {"other": 1}, {"canReply": {"always": zoe.uri}})
        ),
        *((value, None) for value in (None, {}, [], "public", 7, True)),
        ({"canReply": {"always": {"a": {"b": 1}}, "approvalRequired": 5}}, (nothing, nothing)),
    ]
    for number, (policy, expected) in enumerate(cases, 1):
        note = elsewhere.serve(zoe.note(number=number, interactionPolicy=policy))
        post = find_or_fetch_post(note["id"])
        assert groups_of(post.interaction_policy, Interaction.REPLY) == expected, policy
        assert groups_of(post.interaction_policy, Interaction.FAVOURITE) is None
        api = Api().get(f"/api/v1/statuses/{post.id}").json()
        assert ("public" in api["interaction_policy"]["can_reply"]["always"]) is (expected is None)


def test_local_users_obey_remote_policies_and_an_update_applies_to_later_interactions(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    follow(alice, zoe_here)
    note = zoe.note(number=1)
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    post = Status.objects.get(uri=note["id"])
    api = api_of(alice)
    assert api.post("/api/v1/statuses", {"status": "a", "in_reply_to_id": str(post.id)}).status_code == 200
    closed = {name: {"always": [zoe.uri], "approvalRequired": []} for name in ("canReply", "canLike", "canAnnounce")}
    assert deal(zoe, zoe.activity("Update", note | {"interactionPolicy": closed})) == "done"
    refused = [
        api.post("/api/v1/statuses", {"status": "b", "in_reply_to_id": str(post.id)}),
        api.post(f"/api/v1/statuses/{post.id}/reblog"),
        api.post(f"/api/v1/statuses/{post.id}/favourite"),
    ]
    assert [answer.status_code for answer in refused] == [403, 403, 403]
    assert counts(post)[0] == 1, "earlier interactions stay"
    named = zoe.note("<p>@alice</p>", number=2, interactionPolicy=closed) | {
        "to": [PUBLIC, alice.uri],
        "tag": [{"type": "Mention", "href": alice.uri, "name": "@alice"}],
    }
    assert deal(zoe, zoe.activity("Create", named)) == "done"
    there = Status.objects.get(uri=named["id"])
    assert api.post("/api/v1/statuses", {"status": "c", "in_reply_to_id": str(there.id)}).status_code == 200
    assert not elsewhere.delivered("ReplyRequest", "LikeRequest", "AnnounceRequest")


def test_a_forbidden_interaction_leaves_no_trace_and_is_rejected(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post = post_of(alice, Choice.NOBODY)
    reply = zoe.note("<p>but</p>", number=9, inReplyTo=uri_of(post))
    like, boost = zoe.activity("Like", uri_of(post)), zoe.activity("Announce", uri_of(post), to=[PUBLIC])
    deal(zoe, zoe.activity("Create", reply))
    deal(zoe, like)
    deal(zoe, boost)
    rejects = elsewhere.delivered("Reject")
    assert [reject["object"] for reject in rejects] == [reply["id"], like["id"], boost["id"]]
    assert {(reject["actor"], reject["to"], reject["target"]) for reject in rejects} == {
        (alice.uri, zoe.uri, uri_of(post))
    }
    polite = zoe.activity("ReplyRequest", uri_of(post), instrument=reply)
    deal(zoe, polite)
    answer = elsewhere.delivered("Reject")[-1]["object"]
    assert (answer["id"], answer["type"], answer["instrument"]) == (polite["id"], "ReplyRequest", reply["id"])
    assert counts(post) == (0, 0, 0)
    assert not Notification.objects.filter(account=alice).exclude(type="follow").exists()
    assert not Status.objects.filter(account=zoe_here).exists()
    assert not InteractionRequest.objects.exists()


def test_a_permitted_interaction_gets_an_authorization_that_others_can_fetch(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post = post_of(alice, Choice.FOLLOWERS)
    like = zoe.activity("Like", uri_of(post))
    assert deal(zoe, like) == "done"
    accept = elsewhere.delivered("Accept")[-1]
    assert (accept["object"], accept["to"]) == (like["id"], zoe.uri)
    reply = zoe.note("<p>yes</p>", number=9, inReplyTo=uri_of(post))
    request = zoe.activity("ReplyRequest", uri_of(post), instrument=reply, to=alice.uri)
    assert deal(zoe, request) == "done"
    accept = elsewhere.delivered("Accept")[-1]
    check_terms(accept)
    assert (accept["object"]["id"], accept["object"]["instrument"]) == (request["id"], reply["id"])
    path = accept["result"].removeprefix(links.web_url())
    consent = Api().get(path, headers={"Accept": ACTIVITY}).json()
    check_terms(consent)
    assert {
        name: consent[name] for name in ("id", "type", "attributedTo", "interactingObject", "interactionTarget")
    } == {
        "id": accept["result"],
        "type": "ReplyAuthorization",
        "attributedTo": alice.uri,
        "interactingObject": reply["id"],
        "interactionTarget": uri_of(post),
    }
    assert counts(post) == (1, 0, 1)
    assert deal(zoe, request) == "done", "a repeated request is answered again and changes nothing else"
    assert counts(post) == (1, 0, 1)
    assert InteractionRequest.objects.filter(kind=Interaction.REPLY).count() == 1
    assert Api().get(path.replace("reply_", "like_"), headers={"Accept": ACTIVITY}).status_code == 404
    boost = zoe.activity("Announce", uri_of(post), to=[PUBLIC])
    assert deal(zoe, zoe.activity("AnnounceRequest", uri_of(post), instrument=boost)) == "done"
    assert elsewhere.delivered("Accept")[-1]["object"]["type"] == "AnnounceRequest"
    assert deal(zoe, boost) == "done", "the boost itself arrives afterwards"
    assert counts(post) == (1, 1, 1)


@pytest.mark.parametrize("way", ["request", "post", "fetched before"])
def test_a_remote_reply_is_pending_until_the_author_of_the_post_approves(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, way: str
) -> None:
    bob = make_user("bob").account
    follow(bob, zoe_here)
    post = post_of(alice, Choice.ASKED)
    reply = zoe.note("<p>well @bob</p>", number=9, inReplyTo=uri_of(post)) | {
        "published": clock.iso(clock.now() - timedelta(hours=1)),
        "cc": [f"{zoe.uri}/followers", bob.uri],
        "tag": [{"type": "Mention", "href": bob.uri, "name": "@bob"}],
    }
    polite = way == "request"
    activity = zoe.activity("ReplyRequest", uri_of(post), instrument=reply) if polite else zoe.activity("Create", reply)
    if way == "fetched before":
        find_or_fetch_post(elsewhere.serve(reply)["id"], publish_event=False)
    assert deal(zoe, activity) == "done"
    stored = Status.objects.get(uri=reply["id"])
    assert deal(
        zoe, zoe.activity("Update", reply | {"content": "<p>changed @bob</p>", "updated": clock.iso(clock.now())})
    )
    assert not elsewhere.delivered("Accept", "Reject")
    assert api_of(bob).get(f"/api/v1/statuses/{stored.id}").status_code == 404
    assert not Notification.objects.filter(account=bob).exists()
    assert counts(post) == (0, 0, 0)
    # A reply to the pending reply is pending too, although its author may read the parent.
    more = zoe.note("<p>and</p>", number=10, inReplyTo=reply["id"])
    assert "itself a reply that awaits approval" in deal(zoe, zoe.activity("Create", more))
    assert str(stored.id) not in Api().get(f"/users/alice/statuses/{post.id}/replies").content.decode()
    request = InteractionRequest.objects.get()
    decide_request(account_id=alice.id, request_id=request.id, accepted=True)
    work()
    accept = elsewhere.delivered("Accept")[-1]
    asked = accept["object"]["id"] if polite else accept["object"]
    assert asked == (activity["id"] if polite else reply["id"])
    assert api_of(bob).get(f"/api/v1/statuses/{stored.id}").json()["visibility"] == "public"
    assert Notification.objects.filter(account=bob, type="mention").exists()
    assert counts(post) == (1, 0, 0)
    deal(zoe, zoe.activity("Create", reply))
    assert Notification.objects.filter(account=bob, type="mention").count() == 1
    assert api_of(bob).get(f"/api/v1/statuses/{stored.id}").json()["visibility"] == "public"
    decide_request(account_id=alice.id, request_id=request.id, accepted=False)
    work()
    gone = elsewhere.delivered("Delete")[-1]["object"]
    assert (gone["id"], gone["type"]) == (accept["result"], "ReplyAuthorization")
    assert counts(post) == (0, 0, 0)
    assert api_of(bob).get(f"/api/v1/statuses/{stored.id}").status_code == 404
    path = accept["result"].removeprefix(links.web_url())
    assert Api().get(path, headers={"Accept": ACTIVITY}).status_code == 404


def test_a_pending_reply_notifies_no_quoted_author_and_a_block_rejects_it(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    bob = make_user("bob").account
    post, quoted = post_of(alice, Choice.ASKED), make_status(bob, "quotable", quote_approval_policy="public")
    quote = links.status_uri("bob", quoted.id)
    reply = zoe.note("<p>well</p>", number=9, inReplyTo=uri_of(post), quote=quote)
    assert deal(zoe, zoe.activity("Create", reply)) == "done"
    edited = reply | {"content": "<p>hm</p>", "updated": clock.iso(clock.now() + timedelta(seconds=1))}
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert not Notification.objects.filter(account=bob).exists()
    assert not Quote.objects.exists()
    deal(zoe, zoe.activity("Like", uri_of(post)))
    block_account(account=alice, target=zoe_here)
    work()
    assert reply["id"] in [activity["object"] for activity in elsewhere.delivered("Reject")]
    assert not InteractionRequest.objects.filter(state=RequestState.PENDING).exists()
    assert not Favourite.objects.exists()
    assert Status.objects.get(uri=reply["id"]).is_deleted


def test_replies_that_arrived_before_a_pending_reply_are_hidden_until_its_approval(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post = post_of(alice, Choice.ASKED)
    reply = zoe.note("<p>well #herbs</p>", number=9, inReplyTo=uri_of(post)) | {
        "tag": [{"type": "Hashtag", "href": f"{zoe.uri}/herbs", "name": "#herbs"}]
    }
    early = make_remote_status(zoe_here, "<p>and</p>", in_reply_to_uri=reply["id"])
    thread = f"/api/v1/statuses/{post.id}/context"
    assert deal(zoe, zoe.activity("Create", reply)) == "done"
    early.refresh_from_db()
    assert (early.in_reply_to_id, Api().get(thread).json()["descendants"]) == (None, [])
    assert Tag.objects.get(name="herbs").private
    decide_request(account_id=alice.id, request_id=InteractionRequest.objects.get().id, accepted=True)
    shown = [str(Status.objects.get(uri=reply["id"]).id), str(early.id)]
    assert [each["id"] for each in Api().get(thread).json()["descendants"]] == shown
    assert not Tag.objects.get(name="herbs").private


def test_the_authorization_of_a_boost_names_the_boost_as_it_was_sent(elsewhere: RemoteServer, alice: Account) -> None:
    bob, post = make_user("bob").account, post_of(alice, Choice.ASKED)
    of_bob = api_of(bob)
    of_bob.post(f"/api/v1/statuses/{post.id}/reblog")
    decide_request(account_id=alice.id, request_id=InteractionRequest.objects.get().id, accepted=True)
    boost = Status.objects.get(account=bob)

    def authorized() -> tuple[str, str]:
        headers = {"Accept": ACTIVITY}
        announce = Api().get(f"/users/bob/statuses/{Status.objects.latest('id').id}/activity", headers=headers).json()
        path = announce["announceAuthorization"].removeprefix(links.web_url())
        return Api().get(path, headers=headers).json()["interactingObject"], announce["id"]

    named, announced = authorized()
    assert named == announced == f"{links.status_uri('bob', boost.id)}/activity"
    for act in ("unreblog", "reblog"):
        assert of_bob.post(f"/api/v1/statuses/{post.id}/{act}").status_code == 200
    assert authorized() == (f"{links.status_uri('bob', Status.objects.latest('id').id)}/activity",) * 2
    assert Status.objects.latest("id").id != boost.id


def test_an_id_already_used_for_something_else_is_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post, other = post_of(alice, Choice.ASKED), make_status(alice)
    boost = zoe.activity("Announce", uri_of(post), to=[PUBLIC])
    deal(zoe, boost)
    make_reblog(zoe_here, other, uri=boost["id"])
    with pytest.raises(NotFound):
        decide_request(account_id=alice.id, request_id=InteractionRequest.objects.get().id, accepted=True)
    first, second = (zoe.note("<p>well</p>", number=number, inReplyTo=uri_of(post)) for number in (8, 9))
    request = zoe.activity("ReplyRequest", uri_of(post), instrument=first)
    assert deal(zoe, request) == "done"
    assert deal(zoe, request | {"instrument": second}).startswith("rejected: ")
    assert not Status.objects.filter(uri=second["id"]).exists()


def test_a_pending_like_can_be_undone_by_its_author(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post = post_of(alice, Choice.ASKED)
    like = zoe.activity("Like", uri_of(post))
    deal(zoe, like)
    assert InteractionRequest.objects.get().uri == like["id"]
    deal(zoe, zoe.activity("Undo", like))
    assert not InteractionRequest.objects.exists()


@pytest.mark.parametrize("fault", ["other reply", "other author", "other post", "not local", "hidden", "no instrument"])
def test_requests_with_a_wrong_reply_or_post_are_rejected_without_an_answer(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, fault: str
) -> None:
    post = post_of(alice, Choice.FOLLOWERS)
    hidden = make_status(alice, "secret", visibility="direct")
    reply = zoe.note("<p>well</p>", number=9, inReplyTo=uri_of(post))
    about: dict[str, tuple[str, Any]] = {
        "other reply": (uri_of(post), reply | {"inReplyTo": uri_of(make_status(alice))}),
        "other author": (uri_of(post), reply | {"id": "https://third.example/notes/1"}),
        "other post": (uri_of(make_status(alice)), reply),
        "not local": (zoe.note(number=4)["id"], reply),
        "hidden": (uri_of(hidden), reply | {"inReplyTo": uri_of(hidden)}),
        "no instrument": (uri_of(post), 5),
    }
    target, instrument = about[fault]
    assert deal(zoe, zoe.activity("ReplyRequest", target, instrument=instrument)).startswith("rejected: ")
    assert not elsewhere.delivered("Accept", "Reject")
    assert not InteractionRequest.objects.exists()


def test_a_changed_policy_is_sent_and_keeps_pending_requests(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    post = post_of(alice, Choice.ASKED)
    deal(zoe, zoe.activity("Create", zoe.note("<p>well</p>", number=9, inReplyTo=uri_of(post))))
    stored = Status.objects.get(account=zoe_here)
    note = zoe.note("<p>well</p>", number=9, inReplyTo=uri_of(post), interactionPolicy={"canReply": {"always": []}})
    deal(zoe, zoe.activity("Update", note))
    edit(post, "hello", interaction_policy={Interaction.REPLY: 0})
    work()
    update = elsewhere.delivered("Update")[-1]["object"]
    assert update["interactionPolicy"]["canReply"]["always"] == [PUBLIC]
    assert update["interactionPolicy"]["canLike"]["always"] == [alice.uri]
    stored.refresh_from_db()
    assert stored.visibility == "direct", "the reply is still pending"
    assert remote(zoe).id == zoe_here.id
