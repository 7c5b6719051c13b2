"""Tests of threads (contract, behaviours section 7 "Context"; clients.md, trap 41)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from social.kernel import clock
from statuses.models import Status
from statuses.queries import threads
from statuses.queries.statuses import find_post
from statuses.queries.threads import load_context
from statuses.serializers.presenting import present_by_id
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_account
from tests.factories.statuses import block, follow, make_status, mute

pytestmark = pytest.mark.django_db


def _context(status: Status, viewer: Account | None) -> tuple[list[str], list[str]]:
    viewer_id = viewer.id if viewer is not None else None
    context = load_context(find_post(status.id, viewer_id), viewer_id)
    texts = dict(Status.objects.values_list("id", "text"))
    return [texts[row.id] for row in context.ancestors], [texts[row.id] for row in context.descendants]


def test_ancestors_are_listed_root_first_and_descendants_as_a_tree(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    a = make_status(bob, "a", reply_to=root)
    b = make_status(bob, "b", reply_to=root)
    aa = make_status(alice, "a.a", reply_to=a)
    make_status(alice, "b.a", reply_to=b)
    make_status(bob, "a.b", reply_to=a)
    make_status(bob, "a.a.a", reply_to=aa)
    assert _context(root, alice) == ([], ["a", "a.b", "a.a", "a.a.a", "b", "b.a"])
    assert _context(aa, alice) == (["root", "a"], ["a.a.a"])
    assert _context(make_status(alice, "alone"), None) == ([], [])


def test_replies_of_the_author_to_themselves_come_first(alice: Account, bob: Account) -> None:
    root = make_status(alice, "1/3")
    make_status(bob, "nice", reply_to=root)
    second = make_status(alice, "2/3", reply_to=root)
    make_status(bob, "very", reply_to=second)
    make_status(alice, "3/3", reply_to=second)
    assert _context(root, bob)[1] == ["2/3", "3/3", "very", "nice"]


def test_unreadable_posts_are_left_out_and_replies_to_them_stay_in_place(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    first = make_status(bob, "first", reply_to=root)
    secret = make_status(bob, "secret", reply_to=first, visibility="private")
    under = make_status(bob, "under", reply_to=secret, visibility="public")
    make_status(bob, "last", reply_to=root)
    assert _context(root, None)[1] == ["first", "under", "last"]
    assert _context(under, None)[0] == ["root", "first"]


def test_replies_to_a_deleted_post_leave_the_thread_with_their_own_replies(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    gone = make_status(bob, "gone", reply_to=root)
    below = make_status(bob, "below", reply_to=gone)
    lower = make_status(alice, "lower", reply_to=below)
    lowest = make_status(bob, "lowest", reply_to=lower)
    make_status(bob, "last", reply_to=root)
    delete_status(status_id=gone.id)
    for viewer in (None, alice):
        assert _context(root, viewer) == ([], ["last"])
        assert _context(below, viewer) == ([], ["lower", "lowest"])
        assert _context(lowest, viewer) == (["below", "lower"], [])
    # The row of a deleted post is removed some time later.
    gone.delete()
    assert _context(lowest, None) == (["below", "lower"], [])
    assert _context(root, None) == ([], ["last"])


def test_replies_below_a_deleted_post_do_not_count_against_the_limit(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    gone = make_status(bob, "gone", reply_to=root)
    for number in range(60):
        make_status(bob, f"below {number}", reply_to=gone)
    make_status(bob, "last", reply_to=root)
    delete_status(status_id=gone.id)
    assert _context(root, None)[1] == ["last"]


@pytest.mark.parametrize("relation", ["blocked", "muted", "blocking", "limited"])
def test_posts_of_hidden_accounts_are_left_out_of_threads(
    alice: Account, bob: Account, carol: Account, relation: str
) -> None:
    root = make_status(alice, "root")
    annoying = make_status(bob, "annoying", reply_to=root)
    make_status(alice, "answer", reply_to=annoying)
    if relation == "blocked":
        block(carol, bob)
    elif relation == "muted":
        mute(carol, bob)
    elif relation == "blocking":
        block(bob, carol)
    else:
        Account.objects.filter(id=bob.id).update(limited_at=clock.now())
    assert _context(root, carol)[1] == ["answer"]
    if relation == "limited":
        assert _context(root, None)[1] == ["answer"]
        follow(carol, bob)
        assert _context(root, carol)[1] == ["annoying", "answer"]
        assert _context(root, bob)[1] == ["annoying", "answer"]


def test_an_expired_mute_hides_nothing(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    make_status(bob, "answer", reply_to=root)
    mute(alice, bob, expires_at=clock.now())
    assert _context(root, alice)[1] == ["answer"]


def _chain(author: Account, length: int) -> list[Status]:
    posts = [make_status(author, "0")]
    for number in range(1, length):
        posts.append(make_status(author, str(number), reply_to=posts[-1]))
    return posts


def test_anybody_sees_forty_ancestors_and_twenty_generations(alice: Account) -> None:
    posts = _chain(alice, 45)
    ancestors, _descendants = _context(posts[44], None)
    assert ancestors == [str(number) for number in range(4, 44)]
    assert _context(posts[0], None)[1] == [str(number) for number in range(1, 21)]
    assert len(_context(posts[44], alice)[0]) == 44
    assert len(_context(posts[0], alice)[1]) == 44


def test_anybody_sees_the_sixty_oldest_descendants(alice: Account, bob: Account) -> None:
    root = make_status(alice, "root")
    for number in range(65):
        make_status(bob, str(number), reply_to=root)
    assert _context(root, None)[1] == [str(number) for number in range(60)]
    assert len(_context(root, bob)[1]) == 65


def test_users_are_shown_4096_posts_of_a_thread_in_each_direction() -> None:
    assert (threads.USER_REACH.ancestors, threads.USER_REACH.descendants) == (4096, 4096)


def _ask(status: Status, viewer_id: int | None) -> int:
    with CaptureQueriesContext(connection) as captured:
        context = load_context(find_post(status.id, viewer_id), viewer_id)
        present_by_id(context.page)
    return len(captured.captured_queries)


def test_a_hundred_answers_take_as_many_queries_as_two(alice: Account, bob: Account) -> None:
    small, large = make_status(alice, "small"), make_status(alice, "large")
    for root, number in ((small, 2), (large, 100)):
        parent = root
        for place in range(number):
            answer = make_status(make_account() if place < 30 else alice, str(place), reply_to=parent)
            parent = answer if place % 4 == 0 else parent
    # Queries: the post and relations; its thread; the rows, relations and marks of the posts; bodies; authors. None is for
    # emojis.
    assert _ask(small, bob.id) == _ask(large, bob.id) == 8
    assert _ask(large, bob.id) == 6
