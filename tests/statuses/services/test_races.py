"""Tests of simultaneous actions in real threads and transactions."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Account, AccountStat, Tag
from social.kernel.errors import NotFound
from social.kernel.events import publish
from statuses.models import Favourite, MediaAttachment, Status, StatusEdit
from statuses.policies.polls import PollDraft
from statuses.policies.posts import Post
from statuses.queries.posts import load_posts
from statuses.services import deleting, storing
from statuses.services.composing import Draft
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status, reblog_status, unfavourite_status
from statuses.services.publishing import publish_status
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import counts, edit, make_favourite, make_media, make_poll, make_reblog, make_status
from tests.support.at_once import at_once
from tests.support.client import Api

pytestmark = pytest.mark.django_db(transaction=True)


def _author(account: Account) -> Account:
    return Account.objects.select_related("user").get(id=account.id)


def test_votes_at_the_same_moment_are_all_counted_and_each_voter_once(alice: Account) -> None:
    poll = make_poll(alice)
    tokens = [make_token(make_user()) for _number in range(8)]
    path = f"/api/v1/polls/{poll.id}/votes"
    # Every user votes twice at the same time, and one of the two requests is refused.
    answers = at_once(16, lambda place: Api(tokens[place // 2]).post(path, {"choices": [place // 2 % 2]}).status_code)
    assert sorted(answers) == [200] * 8 + [422] * 8
    poll.refresh_from_db()
    assert (poll.tallies, poll.voters_count) == ([4, 4], 8)


def test_concurrent_requests_with_one_key_create_one_post() -> None:
    author = _author(make_account())
    for attempt in range(3):
        answers = at_once(
            4,
            lambda _place, key=f"k{attempt}": (
                publish_status(author=author, draft=Draft(text="hello"), idempotency_key=key).id
            ),
        )
        assert len(set(answers)) == 1, answers
    assert Status.objects.count() == 3
    assert AccountStat.objects.get(account=author).statuses_count == 3


def test_if_the_first_request_with_a_key_fails_the_second_one_creates_the_post() -> None:
    author = _author(make_account())
    media = make_media(author)
    drafts = [Draft(text="x", media_ids=(1,)), Draft(text="y", media_ids=(media.id,))]
    at_once(2, lambda place: publish_status(author=author, draft=drafts[place], idempotency_key="k"))
    assert [status.text for status in Status.objects.all()] == ["y"]


def test_concurrent_posts_cannot_attach_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    author = _author(make_account())
    media = make_media(author)
    both_looked = threading.Barrier(2)

    def wait_for_the_other(files: Any) -> None:
        # If the file's row is locked, this wait times out; without the lock both threads would reach this line.
        with contextlib.suppress(threading.BrokenBarrierError):
            both_looked.wait(0.5)

    monkeypatch.setattr(storing, "check_media", wait_for_the_other)
    answers = at_once(2, lambda _place: publish_status(author=author, draft=Draft(media_ids=(media.id,))))
    assert sum(isinstance(answer, Status) for answer in answers) == 1, answers
    assert MediaAttachment.objects.get(id=media.id).status_id == Status.objects.get().id


def test_concurrent_posts_create_a_new_hashtag_once() -> None:
    authors = [_author(make_account()) for _number in range(4)]
    texts = ["#one #two #three", "#three #two #one"]
    answers = at_once(4, lambda place: publish_status(author=authors[place], draft=Draft(text=texts[place % 2])))
    assert all(isinstance(answer, Status) for answer in answers), answers
    assert Tag.objects.count() == 3


def test_concurrent_favourites_of_one_account_count_once() -> None:
    status = make_status(make_account())
    fan = make_account()
    answers = at_once(4, lambda _place: favourite_status(account_id=fan.id, status=status))
    assert sorted(answers) == [False, False, False, True]
    assert (Favourite.objects.count(), counts(status)[2]) == (1, 1)
    at_once(4, lambda _place: unfavourite_status(account_id=fan.id, status_id=status.id))
    assert (Favourite.objects.count(), counts(status)[2]) == (0, 0)


def test_each_of_several_concurrent_favourites_returns_the_favourite() -> None:
    status = make_status(make_account())
    token = make_token(make_user("fan"))

    def ask(verb: str) -> list[tuple[bool, int]]:
        bodies = at_once(4, lambda _place: Api(token).post(f"/api/v1/statuses/{status.id}/{verb}").json())
        return [(body["favourited"], body["favourites_count"]) for body in bodies]

    for _round in range(3):
        assert ask("favourite") == [(True, 1)] * 4
        assert ask("unfavourite") == [(False, 0)] * 4


def test_concurrent_requests_create_one_boost() -> None:
    status = make_status(make_account())
    fan = _author(make_account())
    answers = at_once(4, lambda _place: reblog_status(account=fan, status=status))
    assert len(set(answers)) == 1, answers
    assert counts(status)[1] == 1


def test_concurrent_deletions_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    author = make_account()
    status = make_status(author)
    make_status(author)
    make_status(author)
    make_reblog(make_account(), status)
    both_looked = threading.Barrier(2)
    real = deleting._release_media

    def wait_for_the_other(*arguments: Any, **options: Any) -> list[str]:
        with contextlib.suppress(threading.BrokenBarrierError):
            both_looked.wait(0.5)
        return real(*arguments, **options)

    monkeypatch.setattr(deleting, "_release_media", wait_for_the_other)
    assert at_once(2, lambda _place: delete_status(status_id=status.id)) == [None] * 2
    assert AccountStat.objects.get(account=author).statuses_count == 2


def test_concurrent_favourites_of_many_posts_never_deadlock() -> None:
    authors = [make_account() for _number in range(3)]
    posts = [make_status(author) for author in authors]
    fans = [_author(make_account()) for _number in range(4)]

    def act(place: int) -> None:
        for post in posts if place % 2 else reversed(posts):
            favourite_status(account_id=fans[place].id, status=post)
            reblog_status(account=fans[place], status=post)
            publish_status(author=fans[place], draft=Draft(text="yes", in_reply_to_id=post.id))

    assert at_once(4, act) == [None] * 4
    assert [counts(post) for post in posts] == [(4, 4, 4)] * 3


def test_a_reply_to_a_post_that_is_being_deleted_leaves_both_consistent() -> None:
    author, other = make_account(), _author(make_account())
    status = make_status(author)
    make_favourite(other, status)
    answers = at_once(
        2,
        lambda place: (
            delete_status(status_id=status.id)
            if place
            else publish_status(author=other, draft=Draft(text="yes", in_reply_to_id=status.id))
        ),
    )
    assert answers[1] is None
    assert Status.objects.get(id=status.id).is_deleted


@pytest.mark.parametrize("act", ["boost", "like", "answer"])
def test_actions_on_a_post_that_is_being_deleted_have_no_effect(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    author, other = make_account(), _author(make_account())
    status = make_status(author)
    (row,) = load_posts([status.id])
    begun = threading.Event()

    def begin(*events: Any) -> None:
        begun.set()
        time.sleep(0.3)
        publish(*events)

    monkeypatch.setattr(deleting, "publish", begin)
    acts: dict[str, Callable[[], Any]] = {
        "boost": lambda: reblog_status(account=other, status=row),
        "like": lambda: favourite_status(account_id=other.id, status=row),
        "answer": lambda: publish_status(author=other, draft=Draft(text="x", in_reply_to_id=status.id)),
    }

    def do(place: int) -> Any:
        if place == 0:
            return delete_status(status_id=status.id)
        assert begun.wait(10)
        return acts[act]()

    answers = at_once(2, do)
    assert answers[0] is None
    assert answers[1] is False or isinstance(answers[1], NotFound), answers
    assert not Status.objects.filter(deleted_at=None).exists()
    assert not Favourite.objects.exists()
    assert AccountStat.objects.filter(account=other, statuses_count__gt=0).count() == 0


def test_replies_boosts_favourites_and_a_deletion_never_deadlock() -> None:
    author, others = make_account(), [_author(make_account()) for _ in range(4)]
    for _round in range(10):
        status = make_status(author)
        (row,) = load_posts([status.id])

        def do(place: int, status: Status = status, row: Post = row) -> Any:
            other = others[place % 4]
            if place == 0:
                return delete_status(status_id=status.id)
            if place < 5:
                return reblog_status(account=other, status=row)
            if place < 9:
                return publish_status(author=other, draft=Draft(text="x", in_reply_to_id=status.id))
            return favourite_status(account_id=other.id, status=row)

        answers = at_once(11, do)
        strange = [answer for answer in answers if isinstance(answer, Exception) and not isinstance(answer, NotFound)]
        assert strange == []
    assert not Status.objects.filter(deleted_at=None, reblog_of__deleted_at__isnull=False).exists()
    for account in others:
        alive = Status.objects.filter(account=account, deleted_at=None).count()
        counted = AccountStat.objects.filter(account=account).values_list("statuses_count", flat=True).first()
        assert (counted or 0) == alive


def test_concurrent_edits_votes_and_a_deletion_lose_no_version_and_never_deadlock() -> None:
    author = _author(make_account())
    poll = make_poll(author)
    voters = [make_token(make_user()) for _number in range(4)]
    draft = PollDraft(options=("red", "green"), expires_in=600, sent={"multiple": "false"})

    def act(place: int) -> Any:
        if place < 4:
            edit(poll.status, f"text {place}", poll=draft)
            return 200
        return Api(voters[place - 4]).post(f"/api/v1/polls/{poll.id}/votes", {"choices": [0]}).status_code

    answers = at_once(8, act)
    assert answers == [200] * 8
    poll.refresh_from_db()
    assert (poll.tallies[0], poll.voters_count) == (4, 4)
    versions = list(StatusEdit.objects.filter(status=poll.status).order_by("created_at").values_list("text", flat=True))
    poll.status.refresh_from_db()
    assert sorted([*versions, poll.status.text]) == ["Which?", *(f"text {number}" for number in range(4))]
    assert versions[0] == "Which?"
    answers = at_once(3, lambda place: delete_status(status_id=poll.status_id) if place else edit(poll.status, "late"))
    assert all(answer is None or isinstance(answer, NotFound) for answer in answers), answers
