"""Tests of interaction policies over the client API (docs/adr/0044)."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.models import Account, User
from notifications.models import Notification
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.events import ScheduledStatusDue
from statuses.models import Favourite, Interaction, InteractionRequest, ScheduledStatus, Status
from statuses.policies.interactions import NO_GROUPS, encode_rule
from statuses.services.scheduling import publish_due
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import block, counts, edit, follow, make_remote_status
from tests.support.client import Api
from tests.support.work import work
from timelines.models import Conversation

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"
DEFAULTS = "/api/v1/interaction_policies/defaults"
REQUESTS = "/api/v1/interaction_requests"
CLOSED = encode_rule(Interaction.REPLY, NO_GROUPS)
ASKED = {name: {"with_approval": ["public"]} for name in ("can_favourite", "can_reply", "can_reblog")}


@pytest.fixture
def bob() -> User:
    return make_user("bob")


@pytest.fixture
def of_bob(bob: User) -> Api:
    return Api(make_token(bob))


def publish(api: Api, **values: Any) -> dict[str, Any]:
    answer = api.post(STATUSES, {"status": "hello", **values})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def outcomes(api: Api, number: str) -> list[int]:
    """Return the statuses of requests for a reply, a boost and a favourite."""
    answers = [
        api.post(STATUSES, {"status": "well", "in_reply_to_id": number}),
        api.post(f"{STATUSES}/{number}/reblog"),
        api.post(f"{STATUSES}/{number}/favourite"),
    ]
    assert all("author of this post" in answer.json()["error"] for answer in answers if answer.status_code != 200)
    return [answer.status_code for answer in answers]


def test_without_a_policy_everybody_who_may_read_a_post_may_interact_with_it(api: Api, of_bob: Api) -> None:
    post = publish(api)
    everybody = {name: ["public", "me"] for name in ("always", "automatic_approval")}
    everybody |= {name: [] for name in ("with_approval", "manual_approval")}
    assert post["interaction_policy"]["can_reply"] == post["interaction_policy"]["can_favourite"] == everybody
    assert post["interaction_policy"]["can_reblog"] == post["interaction_policy"]["can_quote"] == everybody
    assert Api().get(f"{STATUSES}/{post['id']}").json()["interaction_policy"]["can_reply"]["always"] == ["public"]
    private = publish(api, visibility="private")["interaction_policy"]
    assert private["can_reply"]["always"] == ["author", "followers", "mentioned", "me"]
    assert private["can_reblog"]["always"] == ["author", "me"]
    direct = publish(api, visibility="direct")["interaction_policy"]
    assert direct["can_favourite"]["always"] == ["author", "mentioned", "me"]
    assert outcomes(of_bob, post["id"]) == [200, 200, 200]


def test_policies_can_be_sent_in_forms_and_json_with_older_and_newer_names(api: Api) -> None:
    form = {
        "status": "hi",
        "interaction_policy[can_reply][always][0]": "author",
        "interaction_policy[can_reply][always][1]": "followers",
        "interaction_policy[can_reblog][automatic_approval][]": "following",
        "interaction_policy[can_reblog][manual_approval][]": "mutuals",
    }
    sent = api.post(STATUSES, form=urlencode(form)).json()["interaction_policy"]
    policy = {
        "can_reply": {"always": ["me", "followers"]},
        "can_reblog": {"automatic_approval": ["following"], "with_approval": ["mutuals"]},
    }
    assert publish(api, interaction_policy=policy)["interaction_policy"] == sent
    assert sent["can_reply"]["always"] == ["author", "mentioned", "followers", "me"]
    assert (sent["can_reblog"]["always"], sent["can_reblog"]["manual_approval"]) == (
        ["author", "following", "me"],
        ["mutuals"],
    )
    assert sent["can_favourite"]["always"] == ["public", "me"]
    nobody = publish(api, interaction_policy={"can_reply": {"always": []}})["interaction_policy"]
    assert nobody["can_reply"]["always"] == ["author", "mentioned", "me"]
    assert (
        publish(api, interaction_policy={"can_reply": {}})["interaction_policy"]["can_reply"]["always"][0] == "public"
    )


@pytest.mark.parametrize(
    "policy",
    [
        {"can_reply": {"always": ["https://other.example/users/zoe"]}},
        {"can_favourite": {"with_approval": ["everyone"]}},
        {"can_reblog": {"always": ["public"] * 100}},
        *({"can_reply": {"always": wrong}} for wrong in (True, [True], [None], [{"a": 1}], ["followers", 5], {"a": 1})),
        {"can_favourite": {"with_approval": [["public"]]}},
        {"can_quote": {"always": ["mutuals"]}},
        {"can_quote": {"with_approval": ["public"]}},
    ],
)
def test_an_unknown_group_in_a_policy_is_refused_with_an_error(api: Api, policy: Any) -> None:
    refused = api.post(STATUSES, {"status": "hi", "interaction_policy": policy})
    assert refused.status_code == 422
    assert refused.json()["error"]
    assert not Status.objects.exists()


def test_a_malformed_policy_is_refused_and_nothing_is_published(api: Api) -> None:
    for value in ("public", 5, ["can_reply"], {"can_reply": "followers"}, {"can_reply": ["followers"]}):
        answer = api.post(STATUSES, {"status": "Hello", "interaction_policy": value})
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            "Validation failed: A policy and each of its rules must be an object.",
        )
    assert not Status.objects.exists()


def test_empty_policies_count_as_not_sent(api: Api) -> None:
    for value in (None, "", [], {}, {"can_reply": {}}, {"can_reply": {"always": {}}}, {"can_reply": {"always": None}}):
        assert publish(api, interaction_policy=value)["interaction_policy"]["can_reply"]["always"] in (
            ["public", "me"],
            ["author", "mentioned", "me"],
        )


def test_the_quote_policy_is_part_of_the_interaction_policy(api: Api) -> None:
    post = publish(api, interaction_policy={"can_quote": {"always": ["followers"]}})
    assert post["quote_approval"]["automatic"] == ["followers"]
    assert post["interaction_policy"]["can_quote"]["always"] == ["author", "followers", "me"]
    assert publish(api, interaction_policy={"can_quote": {"always": ["author"]}})["quote_approval"]["automatic"] == []
    both = {"interaction_policy": {"can_quote": {"always": ["author"]}}, "quote_approval_policy": "public"}
    assert publish(api, **both)["quote_approval"]["automatic"] == ["public"]
    changed = api.put(
        f"{STATUSES}/{post['id']}/interaction_policy", {"interaction_policy": {"can_reply": {"always": []}}}
    )
    assert changed.json()["quote_approval"]["automatic"] == ["followers"], "settings that are not sent stay"
    assert changed.json()["interaction_policy"]["can_reply"]["always"] == ["author", "mentioned", "me"]


@pytest.mark.parametrize(
    ("group", "allowed"),
    [
        ("followers", "cid eve"),
        ("following", "dan eve"),
        ("mutuals", "eve"),
        ("author", ""),
        ("public", "bob cid dan eve"),
    ],
)
def test_only_members_of_the_group_may_interact(ann: User, api: Api, group: str, allowed: str) -> None:
    people = {name: make_user(name) for name in ("bob", "cid", "dan", "eve")}
    for name in ("cid", "eve"):
        follow(people[name].account, ann.account)
    for name in ("dan", "eve"):
        follow(ann.account, people[name].account)
    rule = {"always": [group]}
    post = publish(api, interaction_policy={"can_favourite": rule, "can_reply": rule, "can_reblog": rule})
    for name, user in people.items():
        other = Api(make_token(user))
        may = name in allowed.split()
        policy = other.get(f"{STATUSES}/{post['id']}").json()["interaction_policy"]
        assert [("me" in policy[f"can_{kind}"]["always"]) for kind in ("reply", "reblog", "favourite")] == [may] * 3
        assert outcomes(other, post["id"]) == ([200] * 3 if may else [403] * 3), name
    assert outcomes(api, post["id"]) == [200, 200, 200], "authors can always interact with their own posts"


def test_mentioned_and_replied_to_accounts_may_always_reply_and_blocked_ones_never(
    ann: User, api: Api, bob: User, of_bob: Api
) -> None:
    nobody = {"can_reply": {"always": []}, "can_favourite": {"always": []}, "can_reblog": {"always": []}}
    named = publish(api, status="@bob look", interaction_policy=nobody)
    assert outcomes(of_bob, named["id"]) == [200, 403, 403]
    theirs = publish(of_bob)
    answer = publish(api, in_reply_to_id=theirs["id"], interaction_policy=nobody)
    assert outcomes(of_bob, answer["id"])[0] == 200
    block(ann.account, bob.account)
    assert of_bob.post(STATUSES, {"status": "well", "in_reply_to_id": named["id"]}).status_code == 404


def test_refused_interactions_leave_no_trace(api: Api, of_bob: Api, ann: User) -> None:
    post = publish(api, interaction_policy={name: {"always": []} for name in ASKED})
    outcomes(of_bob, post["id"])
    work()
    assert counts(Status.objects.get(id=post["id"])) == (0, 0, 0)
    assert not Notification.objects.filter(account=ann.account).exists()
    assert Status.objects.count() == 1


def test_an_edit_of_the_policy_keeps_earlier_interactions(api: Api, of_bob: Api) -> None:
    post = publish(api)
    assert outcomes(of_bob, post["id"]) == [200, 200, 200]
    edited = api.put(
        f"{STATUSES}/{post['id']}", {"status": "hello", "interaction_policy": {"can_reply": {"always": []}}}
    )
    assert edited.json()["edited_at"] is None, "readers do not see a changed policy as an edit"
    assert edited.json()["replies_count"] == 1
    assert outcomes(of_bob, post["id"]) == [403, 200, 200]
    again = api.put(f"{STATUSES}/{post['id']}", {"status": "bye"}).json()
    assert again["interaction_policy"] == edited.json()["interaction_policy"], (
        "an edit without a policy keeps the policy"
    )
    assert again["favourites_count"] == 1


def test_each_visibility_has_a_default_policy_that_a_post_may_override(api: Api, ann: User) -> None:
    first = api.get(DEFAULTS).json()
    assert set(first) == {"public", "unlisted", "private", "direct"}
    assert first["public"]["can_reply"]["always"] == ["public"]
    form = {"public[can_reply][always][0]": "followers", "unlisted[can_reblog][always][0]": "author"}
    changed = api.patch(DEFAULTS, form=urlencode(form)).json()
    assert changed["public"]["can_reply"]["always"] == ["author", "mentioned", "followers"]
    assert changed["private"] == first["private"]
    assert publish(api)["interaction_policy"]["can_reply"]["always"][-2:] == ["followers", "me"]
    unlisted = publish(api, visibility="unlisted")["interaction_policy"]
    assert (unlisted["can_reply"]["always"][0], unlisted["can_reblog"]["always"][0]) == ("public", "author")
    one = publish(api, interaction_policy={"can_favourite": {"always": ["author"]}})["interaction_policy"]
    assert (one["can_reply"]["always"][-2], one["can_favourite"]["always"]) == ("followers", ["author", "me"])
    soon = clock.iso(clock.now() + timedelta(hours=1))
    publish(api, scheduled_at=soon, interaction_policy={"can_reply": {"always": ["mutuals"]}})
    row = ScheduledStatus.objects.get()
    ScheduledStatus.objects.filter(id=row.id).update(scheduled_at=clock.now())
    publish_due([ScheduledStatusDue(scheduled_id=row.id, account_id=ann.account_id)])
    late = api.get(f"{STATUSES}/{Status.objects.latest('id').id}").json()
    assert late["interaction_policy"]["can_reply"]["always"][-2:] == ["mutuals", "me"]
    assert api.patch(DEFAULTS, {"public": None}).json() == first, "a default that is null is reset"
    assert api.patch(DEFAULTS, {"public": {"can_reply": {"always": ["x"]}}}).status_code == 422


def test_a_scheduled_reply_that_is_no_longer_allowed_stays_scheduled_and_its_author_gets_the_reason(
    api: Api, ann: User, bob: User, of_bob: Api
) -> None:
    post = publish(api)
    later = clock.iso(clock.now() + timedelta(hours=1))
    values = {"status": "well", "in_reply_to_id": post["id"], "scheduled_at": later}
    assert of_bob.post(STATUSES, values).status_code == 200
    edit(Status.objects.get(id=post["id"]), "hello", interaction_policy={Interaction.REPLY: CLOSED})
    row = ScheduledStatus.objects.get()
    ScheduledStatus.objects.update(scheduled_at=clock.now())
    publish_due([ScheduledStatusDue(scheduled_id=row.id, account_id=row.account_id)])
    assert ScheduledStatus.objects.filter(id=row.id).exists()
    assert not Status.objects.filter(account=bob.account).exists()
    failed = OutboxRow.objects.filter(event="ScheduledStatusFailed").get()
    assert "does not allow you to reply" in str(failed.payload)
    assert of_bob.post(STATUSES, values).status_code == 403, "such a reply cannot be scheduled now either"


def test_interactions_that_need_approval_are_hidden_until_the_author_accepts(
    ann: User, api: Api, bob: User, of_bob: Api
) -> None:
    cid = make_user("cid")
    for other in (ann, bob):
        follow(cid.account, other.account)
    post = publish(api, interaction_policy=ASKED)
    number = post["id"]
    seen = of_bob.get(f"{STATUSES}/{number}").json()["interaction_policy"]
    assert all(seen[name]["manual_approval"] == ["public", "me"] for name in ASKED)
    reply = publish(of_bob, status="well @cid #tea", in_reply_to_id=number)
    assert of_bob.post(f"{STATUSES}/{number}/favourite").json()["favourited"] is False
    assert of_bob.post(f"{STATUSES}/{number}/favourite").status_code == 200, "repeated actions create one request"
    boost = of_bob.post(f"{STATUSES}/{number}/reblog").json()
    assert (boost["id"], boost["reblogged"]) == (number, False)
    work()
    assert counts(Status.objects.get(id=number)) == (0, 0, 0)
    assert not Notification.objects.filter(type__in=("favourite", "reblog", "mention")).exists()
    assert not Conversation.objects.exists()
    others = (Api(make_token(cid)), Api())
    assert all(each.get(f"{STATUSES}/{reply['id']}").status_code == 404 for each in others)
    assert (
        api.get(f"{STATUSES}/{reply['id']}").status_code == of_bob.get(f"{STATUSES}/{reply['id']}").status_code == 200
    )
    assert of_bob.put(f"{STATUSES}/{reply['id']}", {"status": "@cid again"}).status_code == 403
    assert api.post(STATUSES, {"status": "so", "in_reply_to_id": reply["id"]}).status_code == 403
    assert api.post(f"{STATUSES}/{reply['id']}/favourite").status_code == 403, (
        "nobody can interact with a pending reply"
    )
    asked = api.get(REQUESTS).json()
    assert [each["type"] for each in asked] == ["reblog", "favourite", "reply"]
    assert (asked[2]["reply"]["id"], asked[2]["status"]["id"], asked[2]["account"]["acct"]) == (
        reply["id"],
        number,
        "bob",
    )
    assert of_bob.get(REQUESTS).json() == []
    assert of_bob.post(f"{REQUESTS}/{asked[0]['id']}/authorize").status_code == 404

    for each in asked:
        done = api.post(f"{REQUESTS}/{each['id']}/authorize").json()
        assert (done["accepted_at"] is None, done["rejected_at"]) == (False, None)
        assert api.post(f"{REQUESTS}/{each['id']}/authorize").status_code == 200, "accepting twice succeeds"
    work()
    assert api.get(REQUESTS).json() == []
    assert counts(Status.objects.get(id=number)) == (1, 1, 1)
    shown = others[1].get(f"{STATUSES}/{reply['id']}").json()
    assert (shown["visibility"], shown["in_reply_to_id"]) == ("public", number)
    assert [mention["acct"] for mention in shown["mentions"]] == ["cid"]
    assert Notification.objects.filter(account=cid.account, type="mention").exists()
    assert Notification.objects.filter(account=ann.account, type__in=("favourite", "reblog")).count() == 2
    assert reply["id"] in [each["id"] for each in Api(make_token(cid)).get("/api/v1/timelines/home").json()]
    edit(Status.objects.get(id=reply["id"]), "well @cid, indeed")


def test_an_acceptance_can_be_revoked_and_a_rejected_request_cannot_be_repeated(
    api: Api, of_bob: Api, bob: User
) -> None:
    number = publish(api, interaction_policy=ASKED)["id"]
    outcomes(of_bob, number)
    ids = [each["id"] for each in api.get(REQUESTS).json()]
    for each in ids:
        api.post(f"{REQUESTS}/{each}/authorize")
        assert api.post(f"{REQUESTS}/{each}/reject").json()["rejected_at"] is not None
    work()
    assert counts(Status.objects.get(id=number)) == (0, 0, 0)
    assert not Favourite.objects.exists()
    assert not Status.objects.filter(account=bob.account, deleted_at=None).exists()
    assert outcomes(of_bob, number) == [200, 403, 403], "another reply can be requested"
    assert [each["type"] for each in api.get(REQUESTS).json()] == ["reply"]
    pending = api.get(REQUESTS).json()[0]["reply"]["id"]
    assert of_bob.delete(f"{STATUSES}/{pending}").status_code == 200
    assert api.get(REQUESTS).json() == [], "a reply that was deleted meanwhile needs no decision"
    assert User.objects.get(id=bob.id).account.stat.statuses_count == 0


def test_a_pending_request_can_be_withdrawn(api: Api, of_bob: Api) -> None:
    number = publish(api, interaction_policy=ASKED)["id"]
    of_bob.post(f"{STATUSES}/{number}/favourite")
    of_bob.post(f"{STATUSES}/{number}/reblog")
    assert of_bob.post(f"{STATUSES}/{number}/unfavourite").status_code == 200
    assert of_bob.post(f"{STATUSES}/{number}/unreblog").status_code == 200
    assert not InteractionRequest.objects.exists()


def test_a_pending_reply_is_deleted_with_its_parent(api: Api, of_bob: Api) -> None:
    number = publish(api, interaction_policy=ASKED)["id"]
    waiting = publish(of_bob, in_reply_to_id=number)["id"]
    assert api.delete(f"{STATUSES}/{number}").status_code == 200
    assert of_bob.get(f"{STATUSES}/{waiting}").status_code == 404


def test_requests_can_be_filtered_and_their_number_is_limited(
    api: Api, of_bob: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (publish(api, interaction_policy=ASKED)["id"] for _number in range(2))
    outcomes(of_bob, first)
    of_bob.post(f"{STATUSES}/{second}/favourite")

    def listed(**values: Any) -> list[tuple[str, str]]:
        return [(each["type"], each["status"]["id"]) for each in api.get(REQUESTS, values).json()]

    assert listed(status_id=second) == [("favourite", second)]
    assert listed(favourites="false", replies="false") == [("reblog", first)]
    assert listed(status_id="x") == []
    assert api.get(REQUESTS, {"favourites": "false", "replies": "false", "reblogs": "false"}).status_code == 400
    monkeypatch.setattr("statuses.services.asking.REQUESTS_LIMIT", 4)
    assert of_bob.post(f"{STATUSES}/{second}/reblog").status_code == 422
    assert of_bob.post(STATUSES, {"status": "x", "in_reply_to_id": second}).status_code == 422
    assert api.delete(f"{STATUSES}/{first}").status_code == 200
    assert of_bob.post(f"{STATUSES}/{second}/reblog").status_code == 200, "nobody decides about a deleted post"


def test_policies_of_remote_posts_are_enforced(of_bob: Api, bob: User) -> None:
    zoe: Account = make_remote("zoe", "far.example")
    policy = sum(encode_rule(kind, NO_GROUPS) for kind in Interaction)
    closed = make_remote_status(zoe, "<p>closed</p>", interaction_policy=policy)
    assert outcomes(of_bob, str(closed.id)) == [403, 403, 403]
    seen = of_bob.get(f"{STATUSES}/{closed.id}").json()["interaction_policy"]
    assert seen["can_reply"]["always"] == ["author", "mentioned"]
