"""Tests of the automatic deletion of old posts: with the user's exceptions, in limited steps, until none is left."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, User
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.ids import snowflake_at
from statuses.models import Bookmark, Favourite, MediaAttachment, Pin, RetentionPolicy, Status, StatusStat
from statuses.services import retention
from statuses.services.retention import change_retention, delete_old_posts
from tests.factories.statuses import make_media, make_poll, make_reblog, make_status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


def _age(status: Status, days: int = 30) -> Status:
    """Make a post older, and return it; its id changes, because ids contain the time."""
    moment = clock.now() - timedelta(days=days)
    aged = Status.objects.get(id=status.id)
    aged.id, aged.created_at = snowflake_at(moment), moment
    Status.objects.filter(id=status.id).update(deleted_at=moment)
    aged.save(force_insert=True)
    for model in (Pin, Favourite, Bookmark, MediaAttachment, StatusStat):
        model.objects.filter(status_id=status.id).update(status_id=aged.id)
    return aged


def _left(account: Account) -> set[int]:
    return set(Status.objects.filter(account=account, deleted_at=None).values_list("id", flat=True))


def _everything(alice: Account, bob: Account) -> dict[str, Status]:
    """Create an old post for every exception, old posts without an exception, and a recent post."""
    found = {name: _age(make_status(alice, name)) for name in ("plain", "pinned", "favourited", "bookmarked", "liked")}
    found["direct"] = _age(make_status(alice, "@bob", visibility="direct"))
    found["media"] = _age(make_status(alice, "x", media=[make_media(alice)]))
    found["boost"] = _age(make_reblog(alice, make_status(bob)))
    poll = make_poll(alice)
    found["poll"] = _age(poll.status)
    type(poll).objects.filter(id=poll.id).update(status=found["poll"])
    Pin.objects.create(account=alice, status=found["pinned"])
    Favourite.objects.create(account=alice, status=found["favourited"])
    Bookmark.objects.create(account=alice, status=found["bookmarked"])
    StatusStat.objects.update_or_create(status=found["liked"], defaults={"favourites_count": 5, "reblogs_count": 5})
    found["recent"] = make_status(alice, "recent")
    return found


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ({}, {"pinned", "direct", "favourited", "bookmarked"}),
        ({"keep_media": True, "keep_polls": True}, {"pinned", "direct", "favourited", "bookmarked", "media", "poll"}),
        ({"min_favourites": 5, "keep_direct": False}, {"pinned", "favourited", "bookmarked", "liked"}),
        ({"min_reblogs": 6, "keep_pinned": False, "keep_favourited": False, "keep_bookmarked": False}, {"direct"}),
    ],
)
def test_posts_that_their_author_wants_to_keep_are_never_deleted(
    alice: Account, bob: Account, wanted: dict[str, Any], kept: set[str]
) -> None:
    posts = _everything(alice, bob)
    others = _age(make_status(bob, "of somebody else"))
    change_retention(RetentionPolicy(account_id=alice.id, enabled=True, **wanted))
    assert delete_old_posts() == 9 - len(kept)
    assert {name for name, post in posts.items() if post.id in _left(alice)} == kept | {"recent"}
    assert others.id in _left(bob)
    assert delete_old_posts() == 0


def test_only_old_posts_of_present_authors_who_enabled_deletion_are_deleted(alice: Account) -> None:
    _age(make_status(alice), days=20)
    assert delete_old_posts() == 0
    change_retention(RetentionPolicy(account_id=alice.id, enabled=False, min_age=7))
    assert delete_old_posts() == 0
    change_retention(RetentionPolicy(account_id=alice.id, enabled=True, min_age=30))
    assert delete_old_posts() == 0
    change_retention(RetentionPolicy(account_id=alice.id, enabled=True))
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert delete_old_posts() == 0
    Account.objects.filter(id=alice.id).update(suspended_at=None)
    assert delete_old_posts() == 1


def test_many_posts_are_deleted_in_steps_that_continue_where_the_last_one_ended(
    alice: Account, bob: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "DELETIONS_PER_RUN", 2)
    monkeypatch.setattr(retention, "READS_PER_RUN", 3)
    monkeypatch.setattr(retention, "ACCOUNTS_PER_RUN", 1)
    for account in (alice, bob):
        for number in range(5):
            post = _age(make_status(account, str(number)))
            if account == bob and number < 4:
                Pin.objects.create(account=bob, status=post)
        change_retention(RetentionPolicy(account_id=account.id, enabled=True))
    runs = [delete_old_posts() for _run in range(7)]
    assert (sum(runs), max(runs)) == (6, 2)
    assert (len(_left(alice)), len(_left(bob))) == (0, 4)
    later = RetentionPolicy.objects.filter(after_id=0, due_at__gt=clock.now() + timedelta(hours=23))
    assert later.count() == 2


def test_two_processes_never_handle_the_same_author_and_a_killed_one_is_replaced(alice: Account) -> None:
    change_retention(RetentionPolicy(account_id=alice.id, enabled=True))
    assert retention._claim() is not None
    assert retention._claim() is None
    RetentionPolicy.objects.update(due_at=clock.now() - timedelta(seconds=1))
    assert retention._claim() is not None


@pytest.mark.parametrize("wrong", [{"min_age": 8}, {"min_favourites": 0}, {"min_reblogs": 10**9}])
def test_invalid_retention_values_are_refused(alice: Account, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        change_retention(RetentionPolicy(account_id=alice.id, enabled=True, **wrong))
    assert not RetentionPolicy.objects.exists()


def test_the_page_shows_and_saves_the_readers_settings(alice: Account) -> None:
    browser = Client()
    assert browser.get("/settings/old_posts").status_code == 302
    browser.force_login(User.objects.get(account=alice))
    page = browser.get("/settings/old_posts").content.decode()
    assert 'name="keep_pinned" checked' in page or "checked" in page
    sent = {"enabled": "on", "min_age": "30", "keep_polls": "on", "min_favourites": "7", "min_reblogs": ""}
    assert browser.post("/settings/old_posts", sent).status_code == 303
    policy = RetentionPolicy.objects.get(account=alice)
    assert (policy.enabled, policy.min_age, policy.keep_polls, policy.keep_pinned) == (True, 30, True, False)
    assert (policy.min_favourites, policy.min_reblogs) == (7, None)
    for wrong in ({"min_age": "8"}, {"min_age": "x"}, {"min_age": "30", "min_favourites": "-1"}):
        assert browser.post("/settings/old_posts", {"enabled": "on"} | wrong).status_code == 422
    assert browser.post("/settings/old_posts").status_code == 422
    policy.refresh_from_db()
    assert policy.min_age == 30
