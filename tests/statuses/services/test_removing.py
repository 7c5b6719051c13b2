"""Tests of the command that removes remote posts and recounts counters; posts that concern local accounts stay."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, AccountStat, FeaturedTag
from accounts.policies.staff import OPERATOR
from moderation.models import Report
from social.kernel import clock
from social.kernel.media import storage
from statuses.models import Favourite, Mention, Poll, PollVote, QuoteState, Status, StatusStat
from statuses.services import remote_retention
from statuses.services.deleting import delete_status, remove_deleted_statuses
from statuses.services.pins import feature_used_tag
from statuses.services.remote_retention import remove_remote_statuses
from statuses.services.storing import NewQuote
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import (
    counts,
    edit,
    follow,
    make_bookmark,
    make_favourite,
    make_media,
    make_poll,
    make_reblog,
    make_remote_status,
    make_status,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
OLD = timedelta(days=100)


def _old(author: Account, days: int = 100, **values: Any) -> Status:
    post = make_remote_status(author, created_at=clock.now() - timedelta(days=days), **values)
    Status.objects.filter(id=post.id).update(arrived_at=None)
    return post


def _run(*arguments: str) -> str:
    output = StringIO()
    call_command("remove_statuses", *arguments, stdout=output)
    return output.getvalue().splitlines()[-1].partition(",")[0]


def test_only_old_remote_posts_that_no_local_account_needs_are_removed(alice: Account) -> None:
    zoe, followed = make_remote("zoe"), make_remote("yan")
    follow(alice, followed)
    local = make_status(alice)
    Status.objects.filter(id=local.id).update(created_at=clock.now() - OLD)
    kept = {
        "recent": _old(zoe, days=10),
        "followed": _old(followed),
        "favourited": _old(zoe),
        "bookmarked": _old(zoe),
        "boosted": _old(zoe),
        "boosted by followed": _old(zoe),
        "answered": _old(zoe),
        "quoted": _old(zoe, quote_policy=1),
        "mentioning": _old(zoe),
        "reported": _old(zoe),
        "answering": _old(zoe, parent=local),
        "quoting": _old(zoe, quote=NewQuote(quoted_id=local.id)),
    }
    make_favourite(alice, kept["favourited"])
    make_bookmark(alice, kept["bookmarked"])
    make_reblog(alice, kept["boosted"])
    make_status(alice, reply_to=kept["answered"])
    make_status(alice, quoted_status_id=kept["quoted"].id)
    Mention.objects.create(status=kept["mentioning"], account=alice)
    Report.objects.create(account=alice, target_account=zoe, status_ids=[kept["reported"].id])
    plain = _old(zoe)
    root = _old(zoe)
    answer = _old(zoe, parent=root, days=99)
    boost = make_reblog(make_remote(), plain)
    make_reblog(followed, kept["boosted by followed"])
    gone = {plain.id, root.id, answer.id, boost.id}
    before = AccountStat.objects.get(account=zoe).statuses_count
    assert _run("--dry-run") == "3 would be removed"
    assert _run() == "4 removed"
    left = set(Status.objects.values_list("id", flat=True))
    assert not left & gone
    assert {post.id for post in kept.values()} <= left
    assert AccountStat.objects.get(account=zoe).statuses_count == before - 3
    assert _run() == "0 removed"
    # The option also removes a followed account's post, a post that such an account boosted, and the boost.
    assert _run("--of-followed", "--days", "50") == "3 removed"
    with pytest.raises(CommandError):
        call_command("remove_statuses", "--days", "0")


def test_posts_are_removed_in_batches_with_their_files_and_counters_are_updated(
    alice: Account, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(remote_retention, "BATCH_SIZE", 2)
    zoe = make_remote("zoe")
    root = _old(zoe)
    make_favourite(alice, root)
    for days in (99, 98, 97):
        _old(zoe, parent=root, days=days)
    _old(zoe, quote=NewQuote(quoted_id=root.id, state=QuoteState.ACCEPTED))
    assert (counts(root)[0], StatusStat.objects.get(status=root).quotes_count) == (3, 1)
    progress = list(remove_remote_statuses(by=OPERATOR, older_than=timedelta(days=50)))
    assert [step.looked_at for step in progress] == [2, 4, 5]
    assert progress[-1].removed == 4
    assert (counts(root), StatusStat.objects.get(status=root).quotes_count) == ((0, 0, 1), 0)


def test_rows_of_deleted_posts_are_removed_after_thirty_days_with_versions_and_files(
    alice: Account, bob: Account, django_capture_on_commit_callbacks: Any
) -> None:
    media = make_media(alice)
    post, other, reported = make_status(alice, "one", media=[media]), make_status(alice), make_status(alice)
    edit(post, "two")
    quoting = make_status(bob, quoted_status_id=post.id)
    Report.objects.create(account=bob, target_account=alice, status_ids=[reported.id])
    for status in (post, other, reported):
        delete_status(status_id=status.id)
    assert remove_deleted_statuses() == 0
    Status.objects.filter(id__in=[post.id, reported.id]).update(deleted_at=clock.now() - timedelta(days=31))
    assert remove_deleted_statuses() == 1
    assert set(Status.objects.values_list("id", flat=True)) == {other.id, reported.id, quoting.id}
    assert storage.url(media.file)


def test_wrong_counters_are_found_and_corrected(alice: Account, bob: Account) -> None:
    post, right = make_status(alice), make_status(alice)
    for status in (post, right):
        make_reblog(bob, status)
        make_favourite(bob, status)
        make_status(bob, reply_to=status)
        make_status(bob, quoted_status_id=status.id)
    StatusStat.objects.filter(status=post).update(replies_count=9, favourites_count=0, quotes_count=0)
    without = make_status(bob, "without a row of counters")
    Favourite.objects.create(account=alice, status=without)
    assert _recount("--dry-run") == [
        f"posts: {post.id}: replies_count 9 -> 1, favourites_count 0 -> 1, quotes_count 0 -> 1",
        f"posts: {without.id}: favourites_count 0 -> 1",
        "posts: 7 counted, 2 wrong",
        "accounts: 2 counted, 0 wrong",
        "polls: 0 counted, 0 wrong",
        "featured hashtags: 0 counted, 0 wrong",
    ]
    assert _recount()[0] == "posts: 7 counted, 2 corrected"
    assert _recount()[0] == "posts: 7 counted, 0 corrected"
    assert counts(post) == counts(right) == (1, 1, 1)
    assert StatusStat.objects.get(status=post).quotes_count == 1


def test_wrong_counters_of_accounts_polls_and_featured_hashtags_are_found_and_corrected(
    alice: Account, bob: Account
) -> None:
    feature_used_tag(account=alice, name="news")
    post = make_status(alice, "#news")
    make_status(alice, "#news for some", visibility="private")
    make_reblog(bob, post)
    poll = make_poll(alice, "a", "b")
    make_status(alice, "@bob between us", visibility="direct")
    for voter in (bob, make_account()):
        PollVote.objects.create(poll=poll, account=voter, choice=1)
    stored = AccountStat.objects.get(account=alice)
    assert (_posts_of(alice), _posts_of(bob)) == (3, 1)
    AccountStat.objects.filter(account=alice).update(statuses_count=40, last_status_at=post.created_at)
    AccountStat.objects.filter(account=bob).delete()
    FeaturedTag.objects.update(statuses_count=0, last_status_at=None)
    said = _recount("--dry-run")
    assert f"accounts: {bob.id}: statuses_count 0 -> 1" in "\n".join(said)
    assert f"polls: {poll.id}: tallies [0, 0] -> [0, 2], voters_count 0 -> 2" in said
    assert {line for line in said if "counted" in line} == {
        "posts: 4 counted, 0 wrong",
        "accounts: 3 counted, 2 wrong",
        "polls: 1 counted, 1 wrong",
        "featured hashtags: 1 counted, 1 wrong",
    }
    assert _posts_of(alice) == 40
    _recount()
    assert (_posts_of(alice), _posts_of(bob)) == (3, 1)
    assert AccountStat.objects.get(account=alice).last_status_at == stored.last_status_at
    poll.refresh_from_db()
    assert (poll.tallies, poll.voters_count) == ([0, 2], 2)
    assert [featured.statuses_count for featured in FeaturedTag.objects.all()] == [1]
    assert not [line for line in _recount("--dry-run") if "->" in line]


def test_recounting_keeps_the_time_of_a_deleted_last_post_and_the_counts_of_remote_polls(
    alice: Account, bob: Account
) -> None:
    poll = Poll.objects.create(status=make_remote_status(make_remote()), options=["a", "b"], tallies=[3, 1])
    last = make_status(bob)
    delete_status(status_id=last.id)
    assert not [line for line in _recount("--dry-run") if "->" in line]
    poll.refresh_from_db()
    assert (poll.tallies, AccountStat.objects.get(account=bob).last_status_at) == ([3, 1], last.created_at)


def _recount(*arguments: str) -> list[str]:
    output = StringIO()
    call_command("recount_statuses", *arguments, stdout=output)
    return output.getvalue().splitlines()


def _posts_of(account: Account) -> int:
    return AccountStat.objects.get(account=account).statuses_count
