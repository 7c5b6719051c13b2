"""Tests of the posts of one account (contract, behaviours section 11 "Account statuses")."""

from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from social.kernel.cursors import Cursor
from statuses.models import Status
from statuses.queries.listings import AccountStatusesFilter, load_account_statuses
from tests.factories.accounts import make_remote
from tests.factories.statuses import (
    block,
    follow,
    make_media,
    make_reblog,
    make_remote_status,
    make_status,
    mute,
)

pytestmark = pytest.mark.django_db


WHOLE = Cursor(40)


def _texts(account: Account, viewer: Account | None, cursor: Cursor = WHOLE, **wanted: Any) -> list[str]:
    viewer_id = viewer.id if viewer is not None else None
    page = load_account_statuses(account.id, viewer_id, AccountStatusesFilter(**wanted), cursor)
    texts = dict(Status.objects.values_list("id", "text"))
    return [f"RT {texts[row.proper.id]}" if row.original else texts[row.id] for row in page.rows]


def test_each_viewer_sees_the_posts_that_they_may_read(alice: Account, bob: Account, carol: Account) -> None:
    for visibility in ("public", "unlisted", "private", "direct"):
        make_status(alice, visibility, visibility=visibility)
    make_status(alice, "@carol", visibility="direct")
    follow(bob, alice)
    assert _texts(alice, None) == ["unlisted", "public"]
    assert _texts(alice, carol) == ["@carol", "unlisted", "public"]
    assert _texts(alice, bob) == ["private", "unlisted", "public"]
    assert _texts(alice, alice) == ["@carol", "direct", "private", "unlisted", "public"]
    assert _texts(alice, alice, exclude_direct=True) == ["private", "unlisted", "public"]


def test_seed_129_posts_are_hidden_from_blocked_viewers_and_those_of_suspended_accounts_from_all(
    alice: Account, bob: Account
) -> None:
    make_status(alice, "public")
    block(alice, bob)
    assert _texts(alice, bob) == []
    assert _texts(alice, None) == ["public"]
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert _texts(alice, None) == []
    assert _texts(alice, alice) == []


def test_posts_of_a_muted_or_blocked_account_are_shown_on_its_profile(alice: Account, bob: Account) -> None:
    make_status(alice, "public")
    mute(bob, alice)
    assert _texts(alice, bob) == ["public"]


@pytest.mark.parametrize("relation", ["mute", "block", "blocked", "suspended", "expired mute"])
def test_boosts_of_posts_by_hidden_accounts_are_left_out(
    alice: Account, bob: Account, carol: Account, relation: str
) -> None:
    make_reblog(alice, make_status(bob, "boosted"))
    make_status(alice, "own")
    assert _texts(alice, carol) == ["own", "RT boosted"]
    match relation:
        case "mute":
            mute(carol, bob)
        case "expired mute":
            mute(carol, bob, expires_at=clock.now())
        case "block":
            block(carol, bob)
        case "blocked":
            block(bob, carol)
        case _:
            Account.objects.filter(id=bob.id).update(suspended_at=clock.now())
    assert _texts(alice, carol) == (["own", "RT boosted"] if relation == "expired mute" else ["own"])


def test_filters_narrow_the_list(alice: Account, bob: Account, media_root: Any) -> None:
    root = make_status(bob, "root")
    make_status(alice, "answer", reply_to=root)
    mine = make_status(alice, "thread")
    make_status(alice, "continued", reply_to=mine)
    make_status(alice, "picture", media=[make_media(alice)])
    make_status(alice, "#Café cats")
    make_reblog(alice, root)
    everything = ["RT root", "#Café cats", "picture", "continued", "thread", "answer"]
    assert _texts(alice, None) == everything
    assert _texts(alice, None, exclude_reblogs=True) == everything[1:]
    assert _texts(alice, None, exclude_replies=True) == everything[:-1]
    assert _texts(alice, None, only_media=True) == ["picture"]
    assert _texts(alice, None, tagged="cafe") == _texts(alice, None, tagged="#CAFÉ") == ["#Café cats"]
    assert _texts(alice, None, tagged="unheard") == []
    assert _texts(alice, None, pinned=True) == []
    assert _texts(alice, bob, exclude_reblogs=True, exclude_replies=True, only_media=True) == ["picture"]


def test_a_reply_to_an_unknown_post_counts_as_a_reply() -> None:
    eve = make_remote()
    make_remote_status(eve, in_reply_to_uri="https://lost.example/1", text="answer")
    assert _texts(eve, None) == ["answer"]
    assert _texts(eve, None, exclude_replies=True) == []


def test_a_page_is_full_although_many_posts_are_hidden(alice: Account, bob: Account, carol: Account) -> None:
    for number in range(4):
        make_status(alice, f"before {number}")
    for number in range(12):
        make_reblog(alice, make_status(bob, f"boosted {number}"))
    oldest = Status.objects.filter(account=alice).order_by("id").first()
    mute(carol, bob)
    everything = ["before 3", "before 2", "before 1", "before 0"]
    assert _texts(alice, carol, Cursor(3)) == everything[:3]
    assert _texts(alice, carol, Cursor(4)) == everything
    assert _texts(alice, carol, Cursor(40)) == everything
    assert oldest is not None
    assert _texts(alice, carol, Cursor(2, after=oldest.id, ascending=True)) == everything[1:3]
    assert _texts(alice, carol, Cursor(2, after=oldest.id)) == everything[:2]
    assert _texts(alice, carol, Cursor(5, before=oldest.id + 1)) == everything[3:]


def test_cursors_are_exclusive_and_lists_are_newest_first(alice: Account) -> None:
    ids = [make_status(alice, str(number)).id for number in range(6)]
    assert _texts(alice, None, Cursor(2, before=ids[5])) == ["4", "3"]
    assert _texts(alice, None, Cursor(2, after=ids[0])) == ["5", "4"]
    assert _texts(alice, None, Cursor(2, after=ids[0], ascending=True)) == ["2", "1"]
    assert _texts(alice, None, Cursor(9, after=ids[0], before=ids[3], ascending=True)) == ["2", "1"]
