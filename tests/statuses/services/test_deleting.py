"""Tests of deleting a post."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connection

from accounts.models import Account, AccountStat
from social.kernel.cursors import Cursor
from statuses.events import StatusDeleted
from statuses.models import MediaAttachment, Status
from statuses.queries.listings import AccountStatusesFilter, load_account_statuses
from statuses.queries.page import fill, select
from statuses.queries.statuses import list_statuses
from statuses.serializers.presenting import present_by_id
from statuses.services import deleting
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_many_remote, make_remote
from tests.factories.statuses import counts, make_media, make_reblog, make_remote_status, make_status
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _shown(viewer: Account, status: Status) -> dict[str, Any]:
    """Return the post as the viewer gets it, from a cached body if there is one."""
    (shown,) = present_by_id(fill(select([status.id], viewer.id))).values()
    return orjson.loads(orjson.dumps(shown))


def _posts(account: Account) -> int:
    return AccountStat.objects.get(account=account).statuses_count


def test_a_deleted_post_is_gone_for_everybody_and_published_once(alice: Account, published: list[Any]) -> None:
    status = make_status(alice)
    published.clear()
    delete_status(status_id=status.id)
    delete_status(status_id=status.id)
    assert published == [StatusDeleted(status_id=status.id, account_id=alice.id, local=True)]
    assert not list_statuses(alice.id).exists()
    assert Status.objects.get(id=status.id).text == "hello"
    assert _posts(alice) == 0


def test_boosts_of_a_deleted_post_are_deleted(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    make_reblog(bob, status)
    make_reblog(make_remote(), status)
    published.clear()
    delete_status(status_id=status.id)
    assert not Status.objects.filter(deleted_at=None).exists()
    assert len(published) == 1
    assert _posts(bob) == 0


def test_many_boosts_are_deleted_in_steps_and_hidden_immediately(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleting, "BATCH_SIZE", 2)
    status = make_status(alice)
    boosters = [make_remote() for _number in range(5)]
    for booster in boosters:
        make_reblog(booster, status)
    delete_status(status_id=status.id)
    assert Status.objects.filter(deleted_at=None).count() == 3
    assert not list_statuses(alice.id).exists()
    work()
    assert not Status.objects.filter(deleted_at=None).exists()
    assert [_posts(booster) for booster in boosters] == [0] * 5


def test_replies_to_a_deleted_post_name_the_account_but_no_post(
    alice: Account, bob: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deleting, "BATCH_SIZE", 2)
    status = make_status(alice)
    answers = [make_status(bob, str(number), reply_to=status) for number in range(5)]
    below = make_status(alice, reply_to=answers[0])
    assert _shown(bob, answers[0])["in_reply_to_id"] == str(status.id)
    delete_status(status_id=status.id)
    work()
    for answer in answers:
        shown = _shown(bob, answer)
        assert (shown["in_reply_to_id"], shown["in_reply_to_account_id"]) == (None, str(alice.id))
    assert _shown(bob, below)["in_reply_to_id"] == str(answers[0].id)


def test_a_reply_to_a_deleted_post_still_counts_as_a_reply(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    make_status(bob, "answer", reply_to=status)
    make_status(bob, "alone")
    delete_status(status_id=status.id)
    wanted = AccountStatusesFilter(exclude_replies=True)
    assert [row.id for row in load_account_statuses(bob.id, None, wanted, Cursor(20)).rows] == [
        Status.objects.get(text="alone").id
    ]


@pytest.mark.verify
@pytest.mark.timeout(600)
def test_a_post_with_65536_boosts_can_be_deleted(alice: Account) -> None:
    status = make_status(alice)
    boosts = (
        Status(account=booster, reblog_of=status, uri=f"{booster.uri}/boost", visibility="public", local=False)
        for booster in make_many_remote(65_536)
    )
    Status.objects.bulk_create(boosts, batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # autovacuum would do this after a commit, but the test does not commit
    delete_status(status_id=status.id)
    work(rounds=1000)
    assert not Status.objects.filter(deleted_at=None).exists()


def test_deleting_a_boost_leaves_the_post(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    reblog = make_reblog(bob, status)
    published.clear()
    delete_status(status_id=reblog.id)
    assert counts(status)[1] == 0
    assert (_posts(alice), _posts(bob)) == (1, 0)
    assert published == [StatusDeleted(status_id=reblog.id, account_id=bob.id, local=True, reblog_of_id=status.id)]
    assert list(list_statuses(None)) == [status]


def test_a_deleted_reply_is_no_longer_counted(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    answer = make_status(bob, reply_to=status)
    quiet = make_status(bob, "x", reply_to=status, visibility="direct")
    delete_status(status_id=quiet.id)
    assert counts(status)[0] == 1
    delete_status(status_id=answer.id)
    assert counts(status)[0] == 0


def test_direct_posts_were_never_counted(alice: Account) -> None:
    make_status(alice)
    delete_status(status_id=make_status(alice, visibility="direct").id)
    assert _posts(alice) == 1


def test_the_files_of_a_deleted_post_can_be_attached_to_another_post(alice: Account, media_root: Path) -> None:
    media = make_media(alice)
    before = media.unattached_at
    delete_status(status_id=make_status(alice, media=[media]).id)
    media.refresh_from_db()
    assert media.status_id is None
    assert media.unattached_at > before
    assert (media_root / media.file).exists()
    assert make_status(alice, "again", media=[media])


def test_with_delete_media_its_files_are_removed_after_the_commit(
    alice: Account, media_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    media = make_media(alice)
    status = make_status(alice, media=[media])
    with django_capture_on_commit_callbacks(execute=True):
        delete_status(status_id=status.id, delete_media=True)
        assert (media_root / media.file).exists()
    assert not (media_root / media.file).exists()
    assert not (media_root / media.preview).exists()
    assert not MediaAttachment.objects.exists()


def test_a_remote_post_is_deleted_like_a_local_one(published: list[Any]) -> None:
    eve = make_remote()
    status = make_remote_status(eve)
    published.clear()
    delete_status(status_id=status.id)
    assert published == [StatusDeleted(status_id=status.id, account_id=eve.id, local=False)]


def test_a_post_with_many_boosts_takes_as_many_queries_per_author_as_with_few(
    alice: Account, django_assert_max_num_queries: Any
) -> None:
    status = make_status(alice)
    for _number in range(20):
        make_reblog(make_remote(), status)
    with django_assert_max_num_queries(14 + 20):
        delete_status(status_id=status.id)
