"""Tests of the pages for interaction policies and for requests (docs/adr/0044)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from statuses.models import Favourite, Interaction, InteractionRequest, Status
from statuses.policies.interactions import Choice, choice_of_rule, rule_of_choice
from statuses.services.interactions import favourite_status
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from tests.support.client import signed_in
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
KINDS = ("reply", "reblog", "favourite")
ASKED = {kind: rule_of_choice(kind, Choice.ASKED) for kind in Interaction}


def chosen(post: Status) -> list[Choice | None]:
    return [choice_of_rule(post.interaction_policy, kind) for kind in (Interaction.REPLY, Interaction.REBLOG)]


def test_the_form_of_a_post_overrides_the_default_policies() -> None:
    ann = make_user("ann")
    client = signed_in(ann)
    page = client.get("/settings/replies")
    assert page.status_code == 200
    names = [f"{visibility}_{name}_policy" for visibility in ("public", "unlisted", "private") for name in KINDS]
    assert all(f'name="{name}"' in page.content.decode() for name in names)
    sent = dict.fromkeys(names, "public") | {"public_reply_policy": "followers", "public_reblog_policy": "asked"}
    assert client.post("/settings/replies", sent).status_code == 303
    assert client.post("/settings/replies", sent | {"public_reply_policy": "x"}).status_code == 422
    again = client.get("/settings/replies").content.decode()
    assert '<option value="followers" selected>' in again
    form = {"text": "one", "visibility": "public", "key": "1"}
    assert client.post("/write", form).status_code == 303
    assert chosen(Status.objects.latest("id")) == [Choice.FOLLOWERS, Choice.ASKED]
    assert client.post("/write", form | {"text": "two", "key": "2", "reply_policy": "nobody"}).status_code == 303
    post = Status.objects.latest("id")
    assert chosen(post) == [Choice.NOBODY, Choice.ASKED]
    edit = client.get(f"/statuses/{post.id}/edit").content.decode()
    assert '<option value="nobody" selected>' in edit
    assert (
        client.post(f"/statuses/{post.id}/edit", {"text": "two", "key": "3", "reply_policy": "public"}).status_code
        == 303
    )
    post.refresh_from_db()
    assert chosen(post) == [Choice.EVERYBODY, Choice.ASKED]


def test_the_page_counts_and_shows_requests_and_decides_each_once() -> None:
    ann, bob = make_user("ann"), make_user("bob")
    post = make_status(ann.account, "ask me", interaction_policy=ASKED)
    of_bob, of_ann = signed_in(bob), signed_in(ann)
    assert "/interaction_requests" not in of_ann.get("/bookmarks").content.decode()
    answer = of_bob.post(
        "/write", {"text": "may I?", "visibility": "public", "key": "1", "reply_to": str(post.id)}, follow=True
    )
    assert "waits until the author" in answer.content.decode()
    minimal = of_bob.post(f"/statuses/{post.id}/act", {"act": "favourite"}, headers={"Prefer": "return=minimal"})
    assert minimal.status_code == 202
    shown = of_bob.post(f"/statuses/{post.id}/act", {"act": "favourite", "next": "/bookmarks"}, follow=True)
    assert "is asked first" in shown.content.decode()
    assert "/interaction_requests" in of_ann.get("/bookmarks").content.decode()
    page = of_ann.get("/interaction_requests").content.decode()
    assert all(part in page for part in ("may I?", "wants to publish this reply", "wants to favourite this post"))
    reply, favourite = InteractionRequest.objects.order_by("id")
    for _time in range(2):
        done = of_ann.post(
            "/interaction_requests", {"id": str(reply.id), "act": "accept", "next": "/interaction_requests"}
        )
        assert (done.status_code, done["Location"]) == (303, "/interaction_requests")
    assert of_ann.post("/interaction_requests", {"id": str(favourite.id), "act": "reject"}).status_code == 303
    assert "Nothing waits" in of_ann.get("/interaction_requests").content.decode()
    assert Status.objects.get(id=reply.answer_id).visibility == "public"
    assert not Favourite.objects.exists()
    assert of_bob.post("/interaction_requests", {"id": str(reply.id), "act": "reject"}).status_code == 303
    assert Status.objects.get(id=reply.answer_id).deleted_at is None, "only the author of the post decides"
    assert of_ann.post("/interaction_requests", {"id": "1", "act": "x"}).status_code == 404


def test_the_page_takes_as_many_statements_for_many_requests() -> None:
    ann = make_user("ann")
    client = signed_in(ann)
    spent = []
    for number in (1, 2, 6):  # the first request fills the caches
        post = make_status(ann.account, f"ask {number}", interaction_policy=ASKED)
        for _one in range(number):
            other = make_account()
            make_status(other, "well", reply_to=post)
            favourite_status(account_id=other.id, status=post)
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/interaction_requests").status_code == 200
        spent.append(len(queries))
    assert spent[1] == spent[2]


@needs_federation
def test_a_post_offers_only_the_actions_its_reader_may_perform() -> None:
    ann, bob = make_user("ann"), make_user("bob")
    post = make_status(
        ann.account, "closed", interaction_policy={kind: rule_of_choice(kind, Choice.NOBODY) for kind in Interaction}
    )
    path = f"/@ann/{post.id}"
    theirs, own = (signed_in(user).get(path).content.decode() for user in (bob, ann))
    offers = (f"/write?reply_to={post.id}", 'value="boost"', 'value="favourite"')
    assert not any(offer in theirs for offer in offers)
    assert all(offer in own for offer in offers)
