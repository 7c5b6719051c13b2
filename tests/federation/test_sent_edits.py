"""Tests that edits of local posts are sent to every server that may have the posts (contract, federation sections 7 and 12)."""

import json
import re

import pytest

from accounts.models import Account
from federation.documents.reading import moment_of
from federation.models import Delivery, OutboundActivity
from federation.remote.actors import fetch_actor
from social.kernel import clock
from statuses.policies.polls import PollDraft
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import (
    edit,
    follow,
    make_favourite,
    make_poll,
    make_reblog,
    make_remote_status,
    make_status,
)
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> Account:
    return make_user("ann").account


def _inboxes_of_updates() -> set[str]:
    waiting = Delivery.objects.filter(activity__type="Update")
    return set(waiting.values_list("inbox_url", flat=True))


def test_an_edit_is_sent_with_the_complete_current_post(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    follow(fetch_actor(zoe.uri), ann, uri=f"{zoe.uri}#follows/1")
    status = make_status(ann, "one")
    work()
    created = elsewhere.delivered()[-1]
    api = Api(make_token(ann.user))
    assert api.put(f"/api/v1/statuses/{status.id}", {"status": "two #tag", "spoiler_text": "w"}).status_code == 200
    work()
    update = elsewhere.delivered()[-1]
    note = update["object"]
    assert (update["type"], update["actor"]) == ("Update", ann.uri)
    assert update["id"].startswith(f"{note['id']}#updates/")
    assert (update["to"], update["cc"]) == (created["to"], created["cc"])
    assert (note["id"], note["published"]) == (created["object"]["id"], created["object"]["published"])
    assert (note["summary"], "two" in note["content"], note["tag"][0]["name"]) == ("w", True, "#tag")
    assert moment_of(note["updated"]) >= moment_of(note["published"])


def test_posts_are_dated_in_seconds_as_mastodon_dates_them_and_edits_in_milliseconds(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    """Two edits within a second differ in `updated` (contract, federation section 17)."""
    follow(fetch_actor(zoe.uri), ann, uri=f"{zoe.uri}#follows/1")
    status = make_status(ann, "one")
    edit(status, "two")
    make_reblog(ann, status)
    work()
    sent = {activity["type"]: activity for activity in elsewhere.delivered()}
    note = sent["Update"]["object"]
    for dated in (sent["Create"], sent["Update"], sent["Announce"], note):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", dated["published"]), dated["type"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", note["updated"])


def test_a_changed_interaction_policy_is_sent_as_an_update(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    follow(fetch_actor(zoe.uri), ann, uri=f"{zoe.uri}#follows/1")
    status = make_status(ann, "one")
    work()
    path = f"/api/v1/statuses/{status.id}/interaction_policy"
    assert Api(make_token(ann.user)).put(path, {"quote_approval_policy": "nobody"}).status_code == 200
    work()
    note = elsewhere.delivered()[-1]["object"]
    assert note["interactionPolicy"] == {"canQuote": {"automaticApproval": [ann.uri]}}
    assert "updated" not in note


def test_an_edit_is_sent_only_to_servers_that_may_have_the_post(ann: Account) -> None:
    names = ("follower", "mentioned", "booster", "liker", "answerer", "voter", "stranger")
    people = {name: make_remote(name, f"{name}.example") for name in names}
    follow(people["follower"], ann)
    poll = make_poll(ann, "a", "b")
    public = poll.status
    make_reblog(people["booster"], public)
    make_favourite(people["liker"], public)
    make_remote_status(people["answerer"], parent=public)
    poll.votes.create(account=people["voter"], choice=0)
    private = make_status(ann, "@mentioned@mentioned.example", visibility="private")
    direct = make_status(ann, "@mentioned@mentioned.example", visibility="direct")
    work()

    same = PollDraft(options=("a", "b"), expires_in=600, sent={"multiple": "false"})

    def reached(status_id: int, text: str) -> set[str]:
        OutboundActivity.objects.all().delete()
        edit(type(public).objects.get(id=status_id), text, poll=same if status_id == public.id else None)
        work()
        return {inbox.removeprefix("https://").partition(".")[0] for inbox in _inboxes_of_updates()}

    assert reached(public.id, "new") == {"follower", "booster", "liker", "answerer", "voter"}
    assert reached(private.id, "nobody is mentioned now") == {"follower", "mentioned"}
    assert reached(direct.id, "nor here") == {"mentioned"}
    Account.objects.filter(id=ann.id).update(limited_at=clock.now())
    assert "stranger" not in reached(public.id, "hello @stranger@stranger.example")


def test_only_the_last_of_several_waiting_edits_is_sent_after_the_post(ann: Account) -> None:
    follow(make_remote("follower", "one.example"), ann)
    status = make_status(ann, "one")
    work()
    for text in ("two", "three"):
        status.refresh_from_db()
        edit(status, text)
        work()
    waiting = Delivery.objects.select_related("activity").order_by("id")
    assert [row.activity.type for row in waiting] == ["Create", "Update"]
    assert "three" in json.loads(waiting[1].activity.body)["object"]["content"]


def test_no_edit_of_a_suspended_author_is_sent(ann: Account) -> None:
    follow(make_remote("follower", "one.example"), ann)
    status = make_status(ann, "one")
    work()
    edit(status, "two")
    Account.objects.filter(id=ann.id).update(suspended_at=clock.now())
    work()
    assert not OutboundActivity.objects.filter(type="Update").exists()
