"""Tests of polls across servers: sent and received as Question objects, with votes (contract, federation sections 5 and 7)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from federation.documents.reading import MAX_COUNT
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import Poll, PollVote, Status, StatusEdit
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import follow, make_poll
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
END = "2100-01-01T00:00:00Z"


@pytest.fixture
def ann(zoe: RemotePerson) -> Account:
    """A local account that Zoe follows."""
    account = make_user("ann").account
    follow(fetch_actor(zoe.uri), account, uri=f"{zoe.uri}#follows/1")
    return account


def _later() -> None:
    """Make all delayed jobs due, and run them."""
    OutboxRow.objects.update(due_at="2020-01-01T00:00:00Z")
    work()


def _question(zoe: RemotePerson, *names: str, kind: str = "oneOf", counts: Any = 0, **more: Any) -> dict[str, Any]:
    replies = {"type": "Collection", "totalItems": counts}
    options = [{"type": "Note", "name": name, "replies": replies} for name in names or ("tea", "coffee")]
    return zoe.note() | {"type": "Question", kind: options, "endTime": END, "votersCount": 0} | more


def _vote(zoe: RemotePerson, poll: Poll, name: str, number: int = 1, **more: Any) -> dict[str, Any]:
    author = poll.status.account
    uri = f"{zoe.uri}#votes/{number}"
    note = {
        "id": uri,
        "type": "Note",
        "name": name,
        "attributedTo": zoe.uri,
        "inReplyTo": f"{author.uri}/statuses/{poll.status_id}",
        "to": author.uri,
    }
    return zoe.activity("Create", note | more, id=f"{uri}/activity", to=author.uri)


def _tallies(poll: Poll) -> tuple[list[int], int | None]:
    poll.refresh_from_db()
    return poll.tallies, poll.voters_count


@pytest.mark.parametrize(("multiple", "hidden"), [(False, False), (True, True)])
def test_a_poll_is_sent_as_a_question(elsewhere: RemoteServer, ann: Account, multiple: bool, hidden: bool) -> None:
    poll = make_poll(ann, "red", "green", multiple=multiple, hide_totals=hidden)
    work()
    question = elsewhere.delivered()[-1]["object"]
    count = None if hidden else 0
    options = [
        {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": count}}
        for name in ("red", "green")
    ]
    assert question["type"] == "Question"
    assert question["anyOf" if multiple else "oneOf"] == options
    assert ("oneOf" if multiple else "anyOf") not in question
    assert poll.expires_at is not None
    assert (question["endTime"], question["votersCount"]) == (clock.iso_seconds(poll.expires_at), 0)
    assert "closed" not in question
    assert elsewhere.delivered()[-1]["@context"][-1]["votersCount"] == "toot:votersCount"


def test_remote_votes_count_once_and_are_announced_together_some_minutes_later(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    poll, yan = make_poll(ann, "red", "green", multiple=True), elsewhere.person("yan")
    work()
    before = len(elsewhere.delivered())
    assert deal(zoe, _vote(zoe, poll, "red", 1)) == "done"
    assert deal(zoe, _vote(zoe, poll, "green", 2)) == "done"
    assert deal(yan, _vote(yan, poll, "red", 1)) == "done"
    assert "refused" in deal(zoe, _vote(zoe, poll, "red", 3))
    assert _tallies(poll) == ([2, 1], 2)
    assert len(elsewhere.delivered()) == before, "single votes are not announced"
    _later()
    (update,) = elsewhere.delivered()[before:]
    question = update["object"]
    assert (update["type"], update["to"]) == ("Update", [PUBLIC])
    assert not {"cc", "published"} & set(update)
    assert [option["replies"]["totalItems"] for option in question["anyOf"]] == [2, 1]
    assert question["votersCount"] == 2
    # The result of the next vote is also sent.
    deal(yan, _vote(yan, poll, "green", 2))
    _later()
    assert elsewhere.delivered()[-1]["object"]["anyOf"][1]["replies"]["totalItems"] == 2


def test_hidden_votes_are_sent_only_at_the_end(elsewhere: RemoteServer, zoe: RemotePerson, ann: Account) -> None:
    poll = make_poll(ann, "red", "green", hide_totals=True)
    work()
    assert deal(zoe, _vote(zoe, poll, "green")) == "done"
    before = len(elsewhere.delivered())
    Poll.objects.filter(id=poll.id).update(expires_at=clock.now())
    _later()
    (update,) = elsewhere.delivered()[before:]
    question = update["object"]
    assert question["closed"] == question["endTime"]
    assert [option["replies"]["totalItems"] for option in question["oneOf"]] == [0, 1]
    assert "refused" in deal(zoe, _vote(zoe, poll, "red", 2)), "the poll has ended"


def test_an_invalid_vote_changes_nothing(elsewhere: RemoteServer, zoe: RemotePerson, ann: Account) -> None:
    poll, yan = make_poll(ann, "red", "green"), elsewhere.person("yan")
    private = make_poll(ann, "red", "green", visibility="private")
    work()
    assert "no such option" in deal(zoe, _vote(zoe, poll, "blue"))
    assert "the poll is unknown here" in deal(zoe, _vote(zoe, poll, "red", inReplyTo=f"{ann.uri}/statuses/1"))
    assert "the poll is unknown here" in deal(zoe, _vote(zoe, poll, "red", inReplyTo=7))
    assert "the vote is by another actor" in deal(zoe, _vote(zoe, poll, "red", attributedTo=yan.uri))
    assert "refused" in deal(yan, _vote(yan, private, "red")), "the voter does not follow the author"
    assert deal(zoe, _vote(zoe, private, "red")) == "done"
    assert deal(zoe, _vote(zoe, poll, "red", 2)) == "done"
    assert "refused" in deal(zoe, _vote(zoe, poll, "green", 3)), "the poll allows one choice"
    assert (_tallies(poll), _tallies(private)) == (([1, 0], 1), ([1, 0], 1))
    assert not Status.objects.filter(local=False).exists()


def test_a_remote_poll_can_be_voted_in_and_its_end_is_notified(
    elsewhere: RemoteServer, zoe: RemotePerson, ann: Account
) -> None:
    introduced(zoe, ann)
    question = _question(zoe, kind="anyOf", counts=2, votersCount=3)
    assert deal(zoe, zoe.activity("Create", question)) == "done"
    poll, api = Poll.objects.get(), Api(make_token(ann.user))
    shown = api.get(f"/api/v1/statuses/{poll.status_id}").json()["poll"]
    assert [(option["title"], option["votes_count"]) for option in shown["options"]] == [("tea", 2), ("coffee", 2)]
    assert (shown["multiple"], shown["voters_count"], shown["voted"]) == (True, 3, False)
    assert shown["expires_at"].startswith("2100-01-01")
    answer = api.post(f"/api/v1/polls/{poll.id}/votes", {"choices": [0, 1]}).json()
    assert (answer["own_votes"], answer["votes_count"], answer["voters_count"]) == ([0, 1], 6, 4)
    work()
    sent = elsewhere.delivered("Create")
    assert [vote["object"]["name"] for vote in sent] == ["tea", "coffee"]
    vote = PollVote.objects.order_by("id")[0]
    uri = f"{ann.uri}#votes/{vote.id}"
    assert sent[0] == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": f"{uri}/activity",
        "type": "Create",
        "actor": ann.uri,
        "to": zoe.uri,
        "object": {
            "id": uri,
            "type": "Note",
            "name": "tea",
            "attributedTo": ann.uri,
            "inReplyTo": question["id"],
            "to": zoe.uri,
        },
    }
    assert {asked.path for asked in elsewhere.asked if asked.method == "POST"} == {"/users/zoe/inbox"}
    Poll.objects.update(expires_at=clock.now())
    _later()
    assert list(Notification.objects.values_list("type", "account__username")) == [("poll", "ann")]


def test_new_vote_counts_are_no_edit_but_new_options_are(zoe: RemotePerson, ann: Account) -> None:
    introduced(zoe, ann)
    question = _question(zoe)
    deal(zoe, zoe.activity("Create", question))
    poll, api = Poll.objects.get(), Api(make_token(ann.user))
    api.post(f"/api/v1/polls/{poll.id}/votes", {"choices": [0]})
    counted = _question(zoe, counts=4, votersCount=8, closed=clock.iso(clock.now()))
    update = zoe.activity("Update", counted, id=f"{question['id']}#updates/1")
    assert deal(zoe, update) == "done"
    assert _tallies(poll) == ([4, 4], 8)
    shown = api.get(f"/api/v1/polls/{poll.id}").json()
    assert (shown["expired"], shown["own_votes"]) == (True, [0])
    assert not StatusEdit.objects.exists()
    # Mastodon uses the same id for the next update of the counts.
    assert deal(zoe, update | {"object": _question(zoe, counts=5)}) == "done"
    assert _tallies(poll) == ([5, 5], 0)
    edited = _question(zoe, "tea", "coffee", "milk", updated=clock.iso(clock.now() + timedelta(hours=-0.001)))
    edited["published"] = question["published"]
    Status.objects.update(created_at=clock.now() - timedelta(hours=1))
    assert deal(zoe, zoe.activity("Update", edited)) == "done"
    assert _tallies(poll) == ([0, 0, 0], 0)
    assert not PollVote.objects.exists()
    versions = Api().get(f"/api/v1/statuses/{poll.status_id}/history").json()
    assert [[option["title"] for option in version["poll"]["options"]] for version in versions] == [
        ["tea", "coffee"],
        ["tea", "coffee", "milk"],
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"oneOf": None}, None),
        ({"oneOf": "tea"}, None),
        ({"oneOf": [{"name": ""}, 7, {"name": ["a"]}]}, (["a"], [0])),
        ({"oneOf": [{"name": str(number)} for number in range(600)]}, ([str(n) for n in range(500)], [0] * 500)),
        ({"oneOf": [{"name": "x" * 1000, "replies": {"totalItems": -1}}]}, (["x" * 400], [0])),
        ({"oneOf": [{"name": "a", "replies": {"totalItems": 10**12}}]}, (["a"], [MAX_COUNT])),
        ({"endTime": "+011900-01-01T00:00:00Z"}, (["tea", "coffee"], [0, 0])),
        ({"endTime": "no time", "closed": True, "votersCount": "many"}, (["tea", "coffee"], [0, 0])),
    ],
)
def test_a_malformed_poll_causes_no_error(
    zoe: RemotePerson, ann: Account, changes: dict[str, Any], expected: tuple[list[str], list[int]] | None
) -> None:
    introduced(zoe, ann)
    assert deal(zoe, zoe.activity("Create", _question(zoe) | changes)) == "done"
    poll = Poll.objects.first()
    assert (None if poll is None else (poll.options, poll.tallies)) == expected
    status = Status.objects.get()
    assert Api().get(f"/api/v1/statuses/{status.id}").status_code == 200


def test_clients_can_read_a_poll_with_billions_of_votes(zoe: RemotePerson, ann: Account) -> None:
    introduced(zoe, ann)
    question = _question(zoe, "tea", "milk", "sugar", counts=10**12, votersCount=10**12)
    assert deal(zoe, zoe.activity("Create", question)) == "done"
    poll = Api().get(f"/api/v1/polls/{Poll.objects.get().id}").json()
    numbers = [poll["votes_count"], poll["voters_count"], *(option["votes_count"] for option in poll["options"])]
    assert numbers == [2**31 - 1, MAX_COUNT, MAX_COUNT, MAX_COUNT, MAX_COUNT]  # Tusky reads numbers of 32 bits
