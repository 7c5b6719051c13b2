"""Tests of deleting many posts of one account, as when the account is erased: all counters stay correct."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat, FeaturedTag
from accounts.services.erasing import delete_user
from social.kernel.outbox import OutboxRow
from statuses.models import Poll, PollVote, Status
from statuses.services.deleting import delete_statuses
from statuses.services.pins import feature_used_tag
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import counts, make_poll, make_reblog, make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def ids_of(account: Account) -> list[int]:
    return list(Status.objects.filter(account=account, deleted_at=None).values_list("id", flat=True))


def test_deleting_many_posts_updates_counters_of_others_and_publishes_each_deletion() -> None:
    ann, bea = make_account("ann"), make_account("bea")
    theirs = make_status(bea, "hello")
    own = [make_status(ann, f"{number} #birds", reply_to=theirs) for number in range(3)]
    feature_used_tag(account=ann, name="birds")
    make_reblog(ann, theirs)
    make_reblog(bea, own[0])
    answer = make_status(bea, "yes", reply_to=own[1])
    assert counts(theirs)[:2] == (3, 1)
    OutboxRow.objects.all().delete()
    assert delete_statuses(status_ids=ids_of(ann)) == 4
    assert counts(theirs)[:2] == (0, 0)
    assert FeaturedTag.objects.get().statuses_count == 0
    stats = dict(AccountStat.objects.values_list("account_id", "statuses_count"))
    assert (stats[ann.id], stats[bea.id]) == (0, 2), "boosts of a deleted post are not counted"
    answer.refresh_from_db()
    assert (answer.in_reply_to_id, answer.in_reply_to_account_id) == (None, ann.id)
    announced = OutboxRow.objects.filter(event="StatusDeleted").values_list("payload__status_id", flat=True)
    assert len(set(announced)) == 4
    assert delete_statuses(status_ids=[post.id for post in own]) == 0, "the posts are deleted once"


def test_deleting_more_posts_takes_no_more_statements() -> None:
    def statements(number: int) -> int:
        ann = make_account()
        for _place in range(number):
            make_status(ann, "hello")
        with CaptureQueriesContext(connection) as queries:
            assert delete_statuses(status_ids=ids_of(ann), delete_media=True) == number
        return len(queries)

    assert statements(2) == statements(20)


def test_votes_of_an_erased_account_no_longer_count_in_local_polls() -> None:
    gone, bea = make_user("gone"), make_account("bea")
    here, there = make_poll(bea, "a", "b"), make_poll(bea, "c", "d")
    remote = Poll.objects.create(
        status=make_remote_status(make_remote()), options=["e", "f"], tallies=[5, 0], voters_count=5
    )
    for poll, choices in ((here, (0, 1)), (there, (1,)), (remote, (0,))):
        for choice in choices:
            PollVote.objects.create(poll=poll, account=gone.account, choice=choice)
    PollVote.objects.create(poll=here, account=make_account(), choice=1)
    Poll.objects.filter(id=here.id).update(tallies=[1, 2], voters_count=2)
    Poll.objects.filter(id=there.id).update(tallies=[0, 1], voters_count=1)
    delete_user(user=gone)
    work()
    found = {poll.id: (poll.tallies, poll.voters_count) for poll in Poll.objects.all()}
    assert found == {here.id: ([0, 1], 1), there.id: ([0, 0], 0), remote.id: ([5, 0], 5)}
    assert PollVote.objects.count() == 1


def test_posts_of_others_no_longer_name_an_erased_account_even_if_cached() -> None:
    gone, bea = make_user("gone"), make_account("bea")
    question = make_status(gone.account, "what do you think?")
    answer = make_status(bea, "@gone much", reply_to=question)
    path = f"/api/v1/statuses/{answer.id}"
    before = Api().get(path).json()
    assert [before["in_reply_to_account_id"], *(person["acct"] for person in before["mentions"])] == [
        str(gone.account_id),
        "gone",
    ]
    delete_user(user=gone)
    work()
    after = Api().get(path).json()
    assert (after["in_reply_to_account_id"], after["mentions"]) == (None, [])
