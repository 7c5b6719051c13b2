"""Tests of removing old remote posts without a relation to local accounts, after the period in the settings."""

import time
from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command

from accounts.copies.models import RemoteCopy
from accounts.models import Account
from accounts.services.audit import write_setting
from notifications.models import Notification
from social.kernel import clock
from statuses.models import (
    Favourite,
    Interaction,
    InteractionRequest,
    MediaAttachment,
    Mention,
    Pin,
    Poll,
    PreviewCard,
    QuoteState,
    Status,
    StatusCard,
    StatusEdit,
    StatusStat,
    StatusTag,
)
from statuses.services import remote_retention
from statuses.services.composing import Draft
from statuses.services.interactions import favourite_status
from statuses.services.remote_retention import load_state, remove_old_remote_posts
from statuses.services.scheduling import save_draft, schedule_status
from statuses.services.storing import NewQuote
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import (
    counts,
    follow,
    make_favourite,
    make_reblog,
    make_remote_media,
    make_remote_status,
    make_status,
)
from tests.statuses.services.test_removing import _old, _posts_of, _recount
from tests.support.altered import altered
from tests.support.client import Api, signed_in
from timelines.models import List, ListMember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_retention, "time", altered(time, sleep=lambda _seconds: None))


def _left(posts: Collection[Status]) -> set[Status]:
    return set(Status.objects.filter(id__in=[post.id for post in posts]))


def test_old_remote_posts_are_removed_with_all_their_rows_unless_a_local_account_needs_them(
    alice: Account, django_capture_on_commit_callbacks: Any
) -> None:
    zoe, held, listed, followed = make_remote("zoe"), make_remote(held_at=clock.now()), make_remote(), make_remote()
    ListMember.objects.create(list=List.objects.create(account=alice, title="far"), account=listed)
    follow(alice, followed)
    root = _old(zoe)
    answered, pinned, notified, shown, quoted = (_old(zoe) for _ in range(5))
    Pin.objects.create(account=zoe, status=pinned)
    Notification.objects.create(account=alice, from_account=zoe, type="update", status=notified, cause="update:1")
    beside = _old(zoe, parent=answered)
    make_status(alice, reply_to=answered)
    named, quotable = _old(zoe), _old(zoe, quote_policy=1)
    save_draft(author=alice, draft=Draft(text="I will", in_reply_to_id=str(named.id)))
    later = clock.now() + timedelta(days=1)
    schedule_status(author=alice, draft=Draft(text="see", quoted_status_id=str(quotable.id)), scheduled_at=later)
    awaited = _old(zoe)
    InteractionRequest.objects.create(status=awaited, account=alice, target=zoe, kind=Interaction.REBLOG)
    kept = {
        *(named, quotable, awaited),
        *(answered, beside, _old(zoe, parent=beside), pinned, notified, quoted, shown, _old(held), _old(listed)),
        make_remote_status(followed, quote=NewQuote(quoted_id=quoted.id, state=QuoteState.ACCEPTED)),
        make_remote_status(followed, parent=shown),
        make_remote_status(zoe, created_at=clock.now() - timedelta(days=100)),
        make_remote_status(zoe),
    }
    gone = _old(zoe, parent=root)
    make_favourite(make_remote(), gone)
    make_remote_media(gone)
    for model in (StatusEdit, StatusTag, Mention, Poll, StatusCard):
        _give(gone, model)
    others = {model: model.objects.exclude(status=gone).count() for model in (StatusTag, Mention, StatusStat)}
    before = _posts_of(zoe)
    assert remove_old_remote_posts() == 0
    write_setting("site_keep_remote_posts_days", 30)
    with django_capture_on_commit_callbacks(execute=True):
        assert remove_old_remote_posts() == 2
    assert _left([*kept, root, gone]) == kept
    assert _posts_of(zoe) == before - 2
    assert not [line for line in _recount("--dry-run") if "->" in line]
    for model in (StatusEdit, Poll, StatusCard, MediaAttachment, RemoteCopy, Favourite):
        assert not model.objects.exists(), model
    assert {model: model.objects.count() for model in others} == {**others, StatusStat: others[StatusStat] - 1}
    # The removed post does not count as deleted, so it can be fetched again.
    again = make_remote_status(zoe, uri=gone.uri, created_at=gone.created_at)
    assert Api(alice.user).get(f"/api/v1/statuses/{again.id}").status_code == 200
    assert Api(alice.user).get(f"/api/v1/statuses/{gone.id}").status_code == 404


def _give(post: Status, model: Any) -> None:
    if model is StatusCard:
        model.objects.create(
            status=post, card=PreviewCard.objects.create(url="https://x.example/"), url="https://x.example/"
        )
    elif model is Poll:
        model.objects.create(status=post, options=["a"], tallies=[0])
    elif model is Mention:
        model.objects.create(status=post, account=make_remote())
    elif model is StatusTag:
        tag = make_status(make_user().account, "#far").status_tags.get().tag
        model.objects.create(status=post, tag=tag)
    else:
        model.objects.create(status=post, created_at=post.created_at)


def test_a_run_is_short_and_the_next_one_continues_until_all_posts_were_checked(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_retention, "BATCH_SIZE", 2)
    monkeypatch.setattr(remote_retention, "RUN_SECONDS", 0)
    zoe = make_remote("zoe")
    posts = [_old(zoe, days=100 - number) for number in range(5)]
    make_favourite(alice, posts[3])
    write_setting("site_keep_remote_posts_days", 30)
    assert [remove_old_remote_posts() for _turn in range(5)] == [1, 2, 1, 0, 0]
    assert _left(posts) == {posts[3]}
    samples, current = load_state()
    assert current is not None
    assert (current.looked_at, current.removed, bool(current.ended_at)) == (5, 4, True)
    assert [sample.rows for sample in samples] == [5]
    late = _old(zoe)
    assert remove_old_remote_posts() == 0
    monkeypatch.setattr(remote_retention, "PASS_INTERVAL", timedelta())
    assert remove_old_remote_posts() == 1
    assert _left([late]) == set()
    # After a change of the setting, posts are removed without waiting for the next daily run.
    monkeypatch.setattr(remote_retention, "PASS_INTERVAL", timedelta(days=1))
    young = _old(zoe, days=20)
    remove_old_remote_posts()
    assert _left([young]) == {young}
    write_setting("site_keep_remote_posts_days", 10)
    assert remove_old_remote_posts() == 1


def test_beyond_the_limit_the_oldest_posts_are_removed_but_none_younger_than_a_week(alice: Account) -> None:
    zoe = make_remote("zoe")
    posts = [_old(zoe, days=days) for days in (3, 5, 6, 8, 9, 10)]
    write_setting("site_remote_posts_limit", 4)
    assert remove_old_remote_posts() == 2
    assert _left(posts) == set(posts[:4])
    write_setting("site_remote_posts_limit", 1)
    assert remove_old_remote_posts() == 1
    assert _left(posts) == set(posts[:3])


def test_remote_boosts_and_favourites_of_a_post_are_removed_in_batches_before_it(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoe = make_remote("zoe")
    post, liked = _old(zoe), _old(zoe)
    for _ in range(5):
        stranger = make_remote()
        make_reblog(stranger, post)
        make_favourite(stranger, post)
    monkeypatch.setattr(remote_retention, "BATCH_SIZE", 2)
    removed: list[int] = []
    original = remote_retention.remove_rows

    def meanwhile(ids: Any) -> int:
        removed.append(original(ids))
        favourite_status(account_id=alice.id, status=liked)
        return removed[-1]

    monkeypatch.setattr(remote_retention, "remove_rows", meanwhile)
    write_setting("site_keep_remote_posts_days", 30)
    remove_old_remote_posts()
    assert max(removed) <= 2
    # The post was favourited after it was selected and before it was removed.
    assert _left([post, liked]) == {liked}
    assert counts(liked) == (0, 0, 1)
    assert Status.objects.count() == 1


def test_staff_see_the_number_of_remote_posts_and_a_dry_run_what_would_be_removed(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    zoe = make_remote("zoe")
    root = _old(zoe)
    _old(zoe, parent=root)
    call_command("remove_statuses", "--dry-run")
    said = capsys.readouterr().out
    assert said.startswith("2 would be removed, about ")
    assert said.endswith(" of the database\n")
    remove_old_remote_posts()
    samples, _current = load_state()
    past = clock.iso(clock.now() - timedelta(days=2))
    write_setting(remote_retention.SAMPLES_SETTING, [[past, 12, 6000], *([one.taken_at, 2, 1000] for one in samples)])
    write_setting("site_keep_remote_posts_days", 30)
    remove_old_remote_posts()
    page = signed_in(make_user("boss", role="Owner")).get("/admin/")
    shown = [(part.name, part.shown) for part in page.context["space"]][3:]
    assert shown[:2] == [
        ("Posts from other servers", "2, about 1000 Bytes"),
        ("Average daily change over the past week", "-5, about -2.44 KB"),
    ]
    assert shown[2][1] == "2"
