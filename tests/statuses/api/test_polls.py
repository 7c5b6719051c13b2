"""Tests of polls over HTTP: their limits, voting, and results."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from notifications.models import Notification
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import Poll, PollVote, Status
from tests.conformance.people import Person
from tests.factories.accounts import make_account
from tests.factories.statuses import block, follow, make_status, mute
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.entities import check
from tests.support.work import work

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"
TOO_FEW = "Choices must have more than one item"


def _ask(account: Account, *options: str, **more: Any) -> dict[str, Any]:
    poll = {"options": options or ["red", "green", "blue"], "expires_in": 600} | more
    answer = api_of(account).post(STATUSES, {"status": "Which?", "poll": poll})
    assert answer.status_code == 200, answer.content
    check("StatusOfUser", answer.json())
    found: dict[str, Any] = answer.json()["poll"]
    return found


def _vote(account: Account, poll: dict[str, Any], *choices: Any) -> Any:
    return api_of(account).post(f"/api/v1/polls/{poll['id']}/votes", {"choices": list(choices)})


def _end(poll: dict[str, Any]) -> None:
    """Let the poll end by moving its times into the past."""
    past = clock.now() - timedelta(hours=1)
    Poll.objects.filter(id=poll["id"]).update(expires_at=past)
    OutboxRow.objects.filter(event="PollEnded").update(due_at=past)


@pytest.mark.parametrize(
    ("poll", "sentence"),
    [
        ({"options": ["a"], "expires_in": 600}, TOO_FEW),
        ({"options": [], "expires_in": 600}, f"Choices can't be blank, {TOO_FEW}"),
        ({"expires_in": 600}, f"Choices can't be blank, {TOO_FEW}"),
        ({"options": ["a", "", " "], "expires_in": 600}, TOO_FEW),
        ({"options": list("abcde"), "expires_in": 600}, "Choices can't contain more than 4 items"),
        ({"options": ["a" * 51, "b"], "expires_in": 600}, "Choices cannot be longer than 50 characters each"),
        ({"options": ["é\u0301" * 3000, "b"], "expires_in": 600}, "Choices cannot be longer than 50 characters each"),
        ({"options": ["a", "A", " a "], "expires_in": 600}, "Choices contain duplicate items"),
        ({"options": ["a", "b"]}, "Deadline can't be blank"),
        ({"options": ["a", "b"], "expires_in": [300]}, "Deadline can't be blank"),
        ({"options": ["a", "b"], "expires_in": 299}, "Deadline is too soon"),
        ({"options": ["a", "b"], "expires_in": "soon"}, "Deadline is too soon"),
        ({"options": ["a", "b"], "expires_in": 2_700_000}, "Deadline is too far into the future"),
        ({"options": ["a"], "expires_in": 5}, f"{TOO_FEW}, Deadline is too soon"),
    ],
)
def test_an_invalid_poll_is_refused_with_the_post(alice: Account, poll: dict[str, Any], sentence: str) -> None:
    answer = api_of(alice).post(STATUSES, {"status": "Which?", "poll": poll})
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert not Status.objects.exists()


def test_a_poll_needs_a_text_and_an_empty_poll_is_ignored(alice: Account) -> None:
    refused = api_of(alice).post(STATUSES, {"status": " ", "poll": {"options": ["a", "b"], "expires_in": 600}})
    assert refused.json() == {"error": "Validation failed: Text can't be blank"}
    for nothing in ({}, None, "", "x", []):
        assert api_of(alice).post(STATUSES, {"status": "hello", "poll": nothing}).json()["poll"] is None


def test_a_poll_is_read_from_a_form(alice: Account) -> None:
    form = "status=Which%3F&poll[options][]=a&poll[options][]=%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7&poll[expires_in]=300"
    made = api_of(alice).post(STATUSES, form=f"{form}&poll[multiple]=true&poll[hide_totals]=1").json()["poll"]
    assert [option["title"] for option in made["options"]] == ["a", "👩‍👧"]
    assert (made["multiple"], made["options"][0]["votes_count"], made["votes_count"]) == (True, None, 0)


def test_seed_021_a_vote_is_shown_and_counted(alice: Account, bob: Account) -> None:
    poll = _ask(alice, "yes", "no")
    assert (poll["voted"], poll["own_votes"], poll["expired"]) == (True, [], False)
    voted = _vote(bob, poll, 0).json()
    check("Poll", voted)
    assert (voted["voted"], voted["own_votes"], voted["votes_count"], voted["voters_count"]) == (True, [0], 1, 1)
    assert [option["votes_count"] for option in voted["options"]] == [1, 0]
    assert api_of(bob).get(f"/api/v1/polls/{poll['id']}").json() == voted
    anonymous = Api().get(f"/api/v1/polls/{poll['id']}").json()
    assert anonymous == {key: value for key, value in voted.items() if key not in ("voted", "own_votes")}


def test_invalid_votes_are_not_stored(alice: Account, bob: Account) -> None:
    poll = _ask(alice)
    for account, choices, status, error in (
        (bob, [3], 422, "Validation failed: The chosen vote option does not exist"),
        (bob, [-1], 422, "Validation failed: The chosen vote option does not exist"),
        (bob, ["x"], 422, "Validation failed: The chosen vote option does not exist"),
        (bob, [0, 9], 422, "Validation failed: The chosen vote option does not exist"),
        (bob, [0, 1], 422, "Validation failed: You have already voted on this poll"),
        (bob, [], 400, "param is missing or the value is empty or invalid: choices"),
        (alice, [0], 422, "Validation failed: You cannot vote in your own polls"),
    ):
        answer = _vote(account, poll, *choices)
        assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert not PollVote.objects.exists()
    assert _vote(bob, poll, "1").json()["own_votes"] == [1]
    assert _vote(bob, poll, 0).json() == {"error": "Validation failed: You have already voted on this poll"}
    assert Poll.objects.get().tallies == [0, 1, 0]


def test_trap_24_voters_are_counted_once_and_never_outnumber_the_votes(alice: Account, bob: Account) -> None:
    poll = _ask(alice, multiple=True)
    assert _vote(bob, poll, 0, 2).json()["voters_count"] == 1
    assert _vote(bob, poll, 1).json()["own_votes"] == [0, 2, 1]
    assert _vote(bob, poll, 1).status_code == 422
    counted = Api().get(f"/api/v1/polls/{poll['id']}").json()
    assert (counted["votes_count"], counted["voters_count"]) == (3, 1)


def test_hidden_totals_are_shown_to_nobody_until_the_end(alice: Account, bob: Account) -> None:
    poll = _ask(alice, hide_totals=True)
    _vote(bob, poll, 0)
    for api in (api_of(alice), api_of(bob), Api()):
        assert [one["votes_count"] for one in api.get(f"/api/v1/polls/{poll['id']}").json()["options"]] == [None] * 3
    _end(poll)
    shown = Api().get(f"/api/v1/polls/{poll['id']}").json()
    assert (shown["expired"], [one["votes_count"] for one in shown["options"]]) == (True, [1, 0, 0])
    late = _vote(make_account(), poll, 0)
    assert late.status_code == 422


def test_a_vote_after_the_end_of_a_poll_is_refused(alice: Account, bob: Account) -> None:
    poll = _ask(alice)
    _end(poll)
    assert _vote(bob, poll, 0).json() == {"error": "Validation failed: The poll has already ended"}


def test_seed_074_075_and_138_only_readers_of_the_post_see_its_poll(
    alice: Account, bob: Account, carol: Account
) -> None:
    follow(bob, alice)
    poll = {"options": ["a", "b"], "expires_in": 600}
    made = api_of(alice).post(STATUSES, {"status": "Which?", "poll": poll, "visibility": "private"}).json()["poll"]
    path = f"/api/v1/polls/{made['id']}"
    assert api_of(bob).get(path).status_code == 200
    for api in (api_of(carol), Api()):
        answer, unknown = api.get(path), api.get("/api/v1/polls/1")
        assert (answer.status_code, answer.content) == (404, unknown.content)
    assert api_of(carol).post(f"{path}/votes", {"choices": [0]}).status_code == 404


def test_accounts_that_block_or_are_blocked_cannot_vote(alice: Account, bob: Account, carol: Account) -> None:
    poll = _ask(alice)
    _vote(carol, poll, 0)
    block(alice, carol)
    block(bob, alice)
    assert _vote(carol, poll, 1).status_code == 404
    assert _vote(bob, poll, 1).status_code == 403
    assert api_of(alice).get(f"/api/v1/polls/{poll['id']}").json()["votes_count"] == 1


def test_a_page_of_polls_costs_two_statements_more_than_one_without(alice: Account, bob: Account) -> None:
    follow(bob, alice)
    path = f"/api/v1/accounts/{alice.id}/statuses"
    make_status(alice)
    api = api_of(bob)
    api.get(path)
    api.remember_token()
    with CaptureQueriesContext(connection) as without:
        api.get(path)
    polls = [_ask(alice, f"a{number}", "b") for number in range(5)]
    _vote(bob, polls[0], 1)
    api.get(path)
    api.remember_token()
    with CaptureQueriesContext(connection) as with_polls:
        shown = api.get(path).json()
    assert [post["poll"] and post["poll"]["own_votes"] for post in shown] == [[], [], [], [], [1], None]
    assert len(with_polls) == len(without) + 2


def test_filters_search_poll_options(alice: Account, bob: Account) -> None:
    api_of(bob).post("/api/v1/filters", {"phrase": "rain", "context": ["home"]})
    poll = _ask(alice, "rain", "sun")
    status_id = Poll.objects.get(id=poll["id"]).status_id
    assert api_of(bob).get(f"{STATUSES}/{status_id}").json()["filtered"][0]["keyword_matches"] == ["rain"]


def test_the_end_of_a_poll_notifies_its_author_and_voters_once() -> None:
    alice, bob, carol, dave = (Person(name) for name in ("alice", "bob", "carol", "dave"))
    poll = _ask(alice.account)
    for voter in (bob, carol):
        _vote(voter.account, poll, 1)
    mute(carol.account, alice.account)
    work()
    assert not Notification.objects.filter(type="poll").exists()
    _end(poll)
    work()
    for person, wanted in ((alice, 1), (bob, 1), (carol, 0), (dave, 0)):
        found = person.read("notifications", **{"types[]": "poll"})
        assert len(found) == wanted, person.username
        for item in found:
            check("Notification", item)
            assert (item["account"]["acct"], item["status"]["poll"]["id"]) == ("alice", poll["id"])
    assert not OutboxRow.objects.filter(event="PollEnded").exists()


def test_a_postponed_end_of_a_poll_notifies_nobody_early(alice: Account) -> None:
    poll = _ask(alice)
    Poll.objects.filter(id=poll["id"]).update(expires_at=F("expires_at") + timedelta(hours=1))
    OutboxRow.objects.filter(event="PollEnded").update(due_at=clock.now() - timedelta(hours=1))
    work()
    assert not OutboxRow.objects.filter(event="PollEnded").exists()
    assert not Notification.objects.filter(type="poll").exists()


def test_voters_are_notified_in_steps(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notifications.services.event_handlers.BATCH_SIZE", 2)
    poll = _ask(alice)
    voters = [make_account() for _number in range(5)]
    for voter in voters:
        _vote(voter, poll, 0)
    _end(poll)
    work()
    notified = set(
        Notification.objects.filter(type="poll", status__poll=poll["id"]).values_list("account_id", flat=True)
    )
    assert notified == {alice.id, *(voter.id for voter in voters)}


def test_row_33_the_database_limits_the_size_of_a_poll(alice: Account) -> None:
    from django.db import IntegrityError, transaction

    status = make_status(alice)
    for options in ([], ["x"] * 501):
        with pytest.raises(IntegrityError), transaction.atomic():
            Poll.objects.create(status=status, options=options, tallies=[0] * len(options))
