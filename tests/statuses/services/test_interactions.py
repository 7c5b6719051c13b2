"""Tests of favourites and boosts."""

from typing import Any

import pytest

from accounts.models import Account, AccountStat, User
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, NotFound
from statuses.events import StatusDeleted, StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited
from statuses.models import Favourite, Status
from statuses.services.deleting import delete_status
from statuses.services.interactions import (
    favourite_status,
    reblog_status,
    unfavourite_status,
    unreblog_status,
)
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import block, counts, follow, make_favourite, make_reblog, make_status

pytestmark = pytest.mark.django_db


def test_a_favourite_is_counted_and_published_once(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    published.clear()
    first = make_favourite(bob, status)
    make_favourite(bob, status)
    assert published == [StatusFavourited(status_id=status.id, account_id=bob.id, favourite_id=first.id, local=True)]
    assert counts(status) == (0, 0, 1)


def test_favouriting_a_boost_favourites_the_boosted_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    favourite_status(account_id=bob.id, status=make_reblog(alice, status))
    assert Favourite.objects.get().status_id == status.id


def test_an_account_that_blocks_the_author_cannot_favourite_or_boost_the_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    block(bob, alice)
    with pytest.raises(Forbidden):
        make_favourite(bob, status)
    with pytest.raises(Forbidden):
        make_reblog(bob, status)
    assert counts(status) == (0, 0, 0)


def test_an_undone_favourite_is_counted_and_published_once(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    favourite = make_favourite(bob, status)
    published.clear()
    assert unfavourite_status(account_id=bob.id, status_id=status.id).id == status.id
    assert unfavourite_status(account_id=bob.id, status_id=str(status.id)).id == status.id
    assert published == [
        StatusUnfavourited(status_id=status.id, account_id=bob.id, favourite_id=favourite.id, local=True)
    ]
    assert counts(status) == (0, 0, 0)


def test_seed_131_a_blocked_account_can_undo_a_favourite(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    make_favourite(bob, status)
    make_reblog(bob, status)
    block(alice, bob)
    assert unfavourite_status(account_id=bob.id, status_id=status.id).id == status.id
    assert unreblog_status(account_id=bob.id, status_id=status.id).id == status.id
    assert counts(status) == (0, 0, 0)
    for undo in (unfavourite_status, unreblog_status):
        with pytest.raises(NotFound):
            undo(account_id=bob.id, status_id=status.id)


def test_seed_131_a_favourite_can_be_undone_when_the_post_has_become_unreadable(alice: Account, bob: Account) -> None:
    following = follow(bob, alice)
    status = make_status(alice, visibility="private")
    make_favourite(bob, status)
    following.delete()
    assert unfavourite_status(account_id=bob.id, status_id=status.id).id == status.id


def test_seed_132_undoing_reveals_nothing_about_an_unreadable_post(alice: Account, bob: Account) -> None:
    status = make_status(alice, visibility="private")
    for undo in (unfavourite_status, unreblog_status):
        for wrong in (status.id, 1, "abc", None):
            with pytest.raises(NotFound):
                undo(account_id=bob.id, status_id=wrong)


def test_nothing_can_be_undone_on_a_deleted_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    make_favourite(bob, status)
    make_reblog(bob, status)
    delete_status(status_id=status.id)
    for undo in (unfavourite_status, unreblog_status):
        with pytest.raises(NotFound):
            undo(account_id=bob.id, status_id=status.id)


def test_a_boost_is_a_post_published_as_one_and_counted(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    published.clear()
    reblog = make_reblog(bob, status)
    assert published == [
        StatusPublished(status_id=reblog.id, account_id=bob.id, local=True, reblog=True),
        StatusReblogged(status_id=status.id, account_id=bob.id, reblog_id=reblog.id),
    ]
    assert counts(status) == (0, 1, 0)
    assert AccountStat.objects.get(account=bob).statuses_count == 1


def test_boosting_twice_returns_the_first_boost(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    first = make_reblog(bob, status)
    published.clear()
    assert make_reblog(bob, status).id == first.id
    assert make_reblog(bob, make_reblog(alice, status)).id == first.id
    assert counts(status)[1] == 2
    assert all(event.account_id == alice.id for event in published)


@pytest.mark.parametrize(
    ("original", "default", "asked", "becomes"),
    [
        ("public", None, None, "public"),
        ("public", "unlisted", None, "unlisted"),
        ("unlisted", None, "private", "private"),
        ("private", None, "public", "private"),
    ],
)
def test_a_boost_has_the_requested_visibility_but_one_of_a_private_post_is_private(
    alice: Account, original: str, default: str | None, asked: str | None, becomes: str
) -> None:
    User.objects.filter(account=alice).update(default_privacy=default)
    assert make_reblog(alice, make_status(alice, visibility=original), asked).visibility == becomes


@pytest.mark.parametrize(
    ("visibility", "message"),
    [("direct", "is reserved"), ("limited", "is not included in the list"), ("x", "is not included in the list")],
)
def test_a_boost_for_mentioned_people_only_is_refused(alice: Account, visibility: str, message: str) -> None:
    with pytest.raises(Invalid, match=f"Validation failed: Visibility {message}"):
        make_reblog(alice, make_status(alice), visibility)


def test_private_posts_are_boosted_by_their_author_alone_and_direct_ones_by_nobody(
    alice: Account, bob: Account
) -> None:
    follow(bob, alice)
    with pytest.raises(Forbidden):
        make_reblog(bob, make_status(alice, visibility="private"))
    with pytest.raises(Forbidden):
        make_reblog(alice, make_status(alice, visibility="direct"))


def test_boosts_of_limited_accounts_are_unlisted(alice: Account) -> None:
    assert make_reblog(make_account(limited_at=clock.now()), make_status(alice)).visibility == "unlisted"


def test_undoing_a_boost_deletes_it(alice: Account, bob: Account, published: list[Any]) -> None:
    status = make_status(alice)
    reblog = make_reblog(bob, status)
    published.clear()
    assert unreblog_status(account_id=bob.id, status_id=status.id).id == status.id
    assert published == [StatusDeleted(status_id=reblog.id, account_id=bob.id, local=True, reblog_of_id=status.id)]
    assert unreblog_status(account_id=bob.id, status_id=status.id).id == status.id
    assert make_reblog(bob, status).id != reblog.id


def test_a_boost_can_be_undone_by_its_own_id(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    assert unreblog_status(account_id=bob.id, status_id=make_reblog(bob, status).id).id == status.id
    assert Status.objects.filter(deleted_at=None).count() == 1


def test_remote_favourites_and_boosts_are_stored_by_the_same_services(alice: Account, published: list[Any]) -> None:
    status = make_status(alice)
    eve = make_remote("eve")
    favourite_status(account_id=eve.id, status=status, uri="https://remote.example/likes/1")
    number = reblog_status(account=eve, status=status, uri="https://remote.example/announces/1")
    reblog = Status.objects.get(id=number)
    assert (reblog.local, reblog.uri) == (False, "https://remote.example/announces/1")
    assert counts(status) == (0, 1, 1)
    assert Favourite.objects.get().uri == "https://remote.example/likes/1"
