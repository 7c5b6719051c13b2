"""Tests of scheduled posts: they are published once, at their time, and only their author can change or delete them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail

from accounts.models import Account, User
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import MediaAttachment, ScheduledMedia, ScheduledStatus, Status
from statuses.services.media import remove_unattached
from tests.factories.statuses import make_media, make_status
from tests.statuses.conftest import api_of
from tests.support.entities import check
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES, SCHEDULED = "/api/v1/statuses", "/api/v1/scheduled_statuses"
TOO_SOON = {"error": "Validation failed: Scheduled at date must be in the future"}


def _in(minutes: float) -> str:
    return (clock.now() + timedelta(minutes=minutes)).isoformat()


def _schedule(account: Account, text: str = "later", minutes: float = 60, *, key: str = "", **more: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return api_of(account).post(STATUSES, {"status": text, "scheduled_at": _in(minutes), **more}, headers=headers)


def _come() -> None:
    """Make every scheduled post due, and run all jobs."""
    past = clock.now() - timedelta(hours=1)
    ScheduledStatus.objects.update(scheduled_at=past)
    OutboxRow.objects.filter(event="ScheduledStatusDue").update(due_at=past)
    work()


def test_seed_020_a_scheduled_post_is_published_at_its_time(alice: Account, bob: Account) -> None:
    parent, media = make_status(bob), make_media(alice)
    made = _schedule(
        alice,
        "@bob later",
        media_ids=[str(media.id)],
        spoiler_text="Warned",
        visibility="unlisted",
        language="de",
        in_reply_to_id=str(parent.id),
        poll={"options": ["a", "b"], "expires_in": "600", "multiple": "true"},
    )
    assert made.status_code == 200, made.content
    body = made.json()
    check("ScheduledStatus", body)
    assert body["params"]["poll"] == {"options": ["a", "b"], "expires_in": "600", "multiple": "true"}
    assert (body["params"]["text"], body["params"]["media_ids"]) == ("@bob later", [str(media.id)])
    assert [item["id"] for item in body["media_attachments"]] == [str(media.id)]
    assert api_of(alice).get(SCHEDULED).json() == [body] == [api_of(alice).get(f"{SCHEDULED}/{body['id']}").json()]
    assert Status.objects.count() == 1
    _come()
    post = Status.objects.get(account=alice)
    shown = api_of(alice).get(f"{STATUSES}/{post.id}").json()
    assert (shown["visibility"], shown["spoiler_text"], shown["language"]) == ("unlisted", "Warned", "de")
    assert (shown["in_reply_to_id"], shown["mentions"][0]["acct"]) == (str(parent.id), "bob")
    assert (shown["media_attachments"][0]["id"], shown["poll"]["multiple"]) == (str(media.id), True)
    assert shown["application"]["name"] == "Test client"
    assert api_of(alice).get(SCHEDULED).json() == []


def test_a_post_scheduled_by_a_newer_release_is_published_without_unknown_fields(alice: Account) -> None:
    made = _schedule(alice, "later", poll={"options": ["a", "b"], "expires_in": 600})
    scheduled = ScheduledStatus.objects.get(id=made.json()["id"])
    scheduled.draft["added"] = scheduled.draft["poll"]["added"] = "?"
    scheduled.draft["media_changes"] = [[1, {"description": "a cat", "added": "?"}]]
    scheduled.save()
    _come()
    assert Status.objects.get().content == "<p>later</p>"


def test_a_scheduled_post_is_published_once_even_if_its_event_is_repeated(alice: Account) -> None:
    _schedule(alice)
    for row in OutboxRow.objects.filter(event="ScheduledStatusDue"):
        row.pk = None
        row.save(force_insert=True)
    _come()
    assert Status.objects.filter(account=alice).count() == 1


def test_a_scheduled_quote_is_made_when_the_post_is_published(alice: Account, bob: Account) -> None:
    base = make_status(bob)
    scheduled = _schedule(alice, quoted_status_id=str(base.id)).json()
    assert scheduled["params"]["quoted_status_id"] == str(base.id)
    _come()
    (post,) = api_of(alice).get(f"/api/v1/accounts/{alice.id}/statuses").json()
    assert (post["quote"]["state"], post["quote"]["quoted_status"]["id"]) == ("accepted", str(base.id))


@pytest.mark.parametrize(
    "sent",
    [
        "2027-03-01T12:00:00Z",
        "2027-03-01T14:00:00+02:00",
        "2027-03-01T06:30:00.000-05:30",
        "2027-03-02T02:00:00.123456+1400",
        "2027-03-01T12:00:00",
        "Mon, 01 Mar 2027 13:00:00 +0100",
    ],
)
def test_trap_38_times_are_accepted_in_any_offset(alice: Account, sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime(2027, 3, 1, 11, 54, 59, tzinfo=UTC))
    answer = api_of(alice).post(STATUSES, {"status": "later", "scheduled_at": sent, "visibility": "unlisted"})
    assert answer.status_code == 200, answer.content
    check("ScheduledStatus", answer.json())
    assert answer.json()["scheduled_at"][:19] == "2027-03-01T12:00:00"
    assert answer.json()["scheduled_at"].endswith("Z")
    params = answer.json()["params"]
    assert (params["text"], params["visibility"], params["scheduled_at"]) == ("later", "unlisted", None)
    monkeypatch.setattr(clock, "now", lambda: datetime(2027, 3, 1, 11, 55, 1, tzinfo=UTC))
    late = api_of(alice).post(STATUSES, {"status": "later", "scheduled_at": "2027-03-01T14:00:00+02:00"})
    assert (late.status_code, late.json()) == (422, TOO_SOON)


def test_trap_38_a_post_with_a_past_time_is_published_now(alice: Account) -> None:
    posted = api_of(alice).post(STATUSES, {"status": "x", "scheduled_at": "2019-01-01T00:00:00+02:00"}).json()
    check("StatusOfUser", posted)
    assert posted["created_at"] >= _in(-1)[:19]
    assert not ScheduledStatus.objects.exists()


def test_an_invalid_time_is_refused_and_a_past_one_publishes_immediately(alice: Account) -> None:
    assert _schedule(alice, minutes=4).json() == TOO_SOON
    odd = api_of(alice).post(STATUSES, {"status": "x", "scheduled_at": "tomorrow or so"})
    assert (odd.status_code, odd.json()) == (422, {"error": "Record invalid"})
    for far in ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"):
        assert api_of(alice).post(STATUSES, {"status": "x", "scheduled_at": far}).status_code == 422
    assert not Status.objects.exists()
    for at_once in ("", None, _in(-60)):
        check("StatusOfUser", api_of(alice).post(STATUSES, {"status": "now", "scheduled_at": at_once}).json())


@pytest.mark.parametrize(
    "more",
    [
        {"status": ""},
        {"status": "x" * 501},
        {"visibility": "odd"},
        {"poll": {"options": ["a"], "expires_in": 600}},
    ],
)
def test_an_invalid_post_is_not_scheduled(alice: Account, more: dict[str, Any]) -> None:
    answer = _schedule(alice, **{"text": more.pop("status", "later"), **more})
    assert (answer.status_code, answer.json()) == (422, {"error": "Record invalid"})
    assert not ScheduledStatus.objects.exists()
    assert not OutboxRow.objects.filter(event="ScheduledStatusDue").exists()


def test_a_scheduled_post_with_a_missing_parent_or_file_is_refused(alice: Account, bob: Account) -> None:
    assert _schedule(alice, in_reply_to_id="1").status_code == 404
    foreign = make_media(bob)
    missing = _schedule(alice, media_ids=[str(foreign.id)])
    assert missing.json() == {"error": f"Media {foreign.id} not found or already attached to another post"}


def test_files_of_a_scheduled_post_cannot_be_attached_to_another(alice: Account) -> None:
    media = make_media(alice)
    scheduled = _schedule(alice, media_ids=[str(media.id)]).json()
    for attempt in (
        _schedule(alice, media_ids=[str(media.id)]),
        api_of(alice).post(STATUSES, {"status": "x", "media_ids": [str(media.id)]}),
    ):
        assert attempt.status_code == 422
    MediaAttachment.objects.update(unattached_at=clock.now() - timedelta(days=3))
    assert remove_unattached() == 0
    assert api_of(alice).delete(f"{SCHEDULED}/{scheduled['id']}").json() == {}
    assert api_of(alice).post(STATUSES, {"status": "x", "media_ids": [str(media.id)]}).status_code == 200


def test_only_the_time_can_be_changed(alice: Account) -> None:
    made = _schedule(alice).json()
    path = f"{SCHEDULED}/{made['id']}"
    moved = api_of(alice).put(path, {"scheduled_at": _in(120), "status": "other words"}).json()
    assert (moved["scheduled_at"] > made["scheduled_at"], moved["params"]["text"]) == (True, "later")
    for minutes in (4, -4):
        assert api_of(alice).put(path, {"scheduled_at": _in(minutes)}).json() == TOO_SOON
    assert api_of(alice).put(path, {"scheduled_at": "x"}).json() == {"error": "Record invalid"}
    assert api_of(alice).put(path, {}).json() == moved
    # The event for the original time is due, but the post was moved to a later time.
    OutboxRow.objects.filter(event="ScheduledStatusDue").update(due_at=clock.now() - timedelta(hours=1))
    work()
    assert not OutboxRow.objects.filter(event="ScheduledStatusDue").exists()
    assert not Status.objects.exists()


def test_scheduled_posts_of_others_are_not_found(alice: Account, bob: Account) -> None:
    path = f"{SCHEDULED}/{_schedule(alice).json()['id']}"
    for method in ("GET", "PUT", "DELETE"):
        assert api_of(bob).request(method, path, {"scheduled_at": _in(120)}).status_code == 404
    assert api_of(bob).get(SCHEDULED).json() == []
    assert ScheduledStatus.objects.count() == 1


@pytest.mark.usefixtures("noon")
def test_a_day_has_at_most_25_scheduled_posts_and_an_account_300(
    alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("statuses.services.scheduling.DAILY_LIMIT", 2)
    monkeypatch.setattr("statuses.services.scheduling.TOTAL_LIMIT", 3)
    day = 24 * 60
    made = [_schedule(alice, minutes=10 * day).json() for _number in range(2)]
    full = _schedule(alice, minutes=10 * day)
    assert full.json() == {"error": "Validation failed: You have exceeded the limit of 2 scheduled posts for today"}
    other = _schedule(alice, minutes=20 * day).json()
    assert api_of(alice).put(f"{SCHEDULED}/{other['id']}", {"scheduled_at": _in(10 * day)}).status_code == 422
    assert api_of(alice).put(f"{SCHEDULED}/{made[0]['id']}", {"scheduled_at": _in(10 * day + 1)}).status_code == 200
    refused = _schedule(alice, minutes=30 * day)
    assert refused.json() == {"error": "Validation failed: You have exceeded the limit of 3 scheduled posts"}


def test_trap_37_a_repeated_key_returns_the_scheduled_post_and_later_the_post(alice: Account) -> None:
    first = _schedule(alice, key="k").json()
    assert _schedule(alice, key="k").json()["id"] == first["id"]
    assert ScheduledStatus.objects.count() == 1
    _come()
    repeated = _schedule(alice, key="k").json()
    assert repeated["id"] == str(Status.objects.get().id)
    second = _schedule(alice, key="l").json()
    api_of(alice).delete(f"{SCHEDULED}/{second['id']}")
    assert _schedule(alice, key="l").status_code == 404


@pytest.mark.parametrize("state", ["disabled", "suspended"])
def test_scheduled_posts_of_users_who_may_no_longer_post_are_deleted(alice: Account, state: str) -> None:
    _schedule(alice)
    if state == "disabled":
        User.objects.filter(account=alice).update(disabled_at=clock.now())
    else:
        Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    _come()
    assert (Status.objects.count(), ScheduledStatus.objects.count()) == (0, 0)


def test_a_post_that_cannot_be_published_stays_in_the_list(alice: Account, bob: Account) -> None:
    parent = make_status(bob)
    made = _schedule(alice, in_reply_to_id=str(parent.id)).json()
    api_of(bob).delete(f"{STATUSES}/{parent.id}")
    _come()
    assert [item["id"] for item in api_of(alice).get(SCHEDULED).json()] == [made["id"]]
    (letter,) = mail.outbox
    assert letter.to == [alice.user.email]
    for words in ("could not be published", "later", "The post that it replies to or quotes does not exist any more."):
        assert words in letter.body
    assert api_of(alice).put(f"{SCHEDULED}/{made['id']}", {"scheduled_at": _in(60)}).status_code == 200


def test_a_file_of_a_scheduled_post_cannot_be_deleted(alice: Account) -> None:
    media = make_media(alice)
    made = _schedule(alice, media_ids=[str(media.id)]).json()
    path = f"/api/v1/media/{media.id}"
    refused = api_of(alice).delete(path)
    assert (refused.status_code, refused.json()["error"]) == (422, "Media attachment is currently used by a status")
    api_of(alice).delete(f"{SCHEDULED}/{made['id']}")
    assert api_of(alice).delete(path).status_code == 200


def test_the_author_of_a_failed_scheduled_post_gets_the_reason_in_their_language(alice: Account) -> None:
    media = make_media(alice)
    _schedule(alice, media_ids=[str(media.id)])
    User.objects.filter(account=alice).update(locale="de")
    ScheduledMedia.objects.all().delete()
    MediaAttachment.objects.filter(id=media.id).delete()
    _come()
    (letter,) = mail.outbox
    assert "konnte nicht veröffentlicht werden" in letter.body
    assert str(media.id) in letter.body
    assert ScheduledStatus.objects.count() == 1
