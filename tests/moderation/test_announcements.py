"""Tests of announcements by staff: users read them, react to them and get them in streams (SEED-033, 076-078, 088)."""

import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.db import connection

from accounts.emojis.models import CustomEmoji
from accounts.models import AuditEntry, User
from accounts.policies.staff import Staff, staff_of
from moderation.events import AnnouncementDue
from moderation.models import Announcement, AnnouncementReaction
from moderation.policies.announcements import AnnouncementDraft
from moderation.services import announcements
from moderation.services.announcements import add_reaction, create_announcement, publish_announcement
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid
from social.kernel.text.characters import is_emoji
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.entities import check
from tests.support.work import work

pytestmark = pytest.mark.django_db
PATH = "/api/v1/announcements"


@pytest.fixture
def boss() -> Staff:
    return staff_of(make_user("boss", role="Owner"))


@pytest.fixture
def api(ann: User) -> Api:
    return Api(make_token(ann, "read write"))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The messages to the streams of all users, as pairs of event and payload."""
    found: list[tuple[str, Any]] = []

    def take(event: str, payload: bytes) -> None:
        found.append((str(event), orjson.loads(payload)))

    monkeypatch.setattr("moderation.tasks.announcing.broadcast_to_everybody", take)
    return found


def announce(by: Staff, text: str = "Hello", **more: Any) -> Announcement:
    made = create_announcement(by=by, draft=AnnouncementDraft(text, **more))
    publish_announcement(by=by, announcement=made)
    return made


def shown(api: Api) -> list[dict[str, Any]]:
    answer = api.get(PATH)
    assert answer.status_code == 200, answer.content
    body: list[dict[str, Any]] = answer.json()
    return body


def test_seed_033_a_published_announcement_is_listed_with_everything_it_mentions(boss: Staff, api: Api) -> None:
    bea = make_account("bea")
    post, hidden = make_status(bea, "Look"), make_status(bea, "No", visibility="private")
    CustomEmoji.objects.create(shortcode="blob", remote_url="https://cats.example/blob.png")
    urls = " ".join(f"{bea.page_url}/{status.id}" for status in (post, hidden))
    announce(boss, f"Hi @bea and @nobody :blob: #Cats <b>\n\n{urls}")
    create_announcement(by=boss, draft=AnnouncementDraft("A draft"))
    (one,) = shown(api)
    assert one["content"].startswith('<p>Hi <span class="h-card" translate="no"><a href="')
    assert "&lt;b&gt;" in one["content"]
    assert [mention["acct"] for mention in one["mentions"]] == ["bea"]
    assert [status["id"] for status in one["statuses"]] == [str(post.id)]
    assert [tag["name"] for tag in one["tags"]] == ["cats"]
    assert [emoji["shortcode"] for emoji in one["emojis"]] == ["blob"]
    assert (one["reactions"], one["read"], one["all_day"]) == ([], False, False)


def test_announcements_are_listed_oldest_first_until_they_are_over(boss: Staff, api: Api) -> None:
    now = clock.now()
    announce(boss, "second")
    announce(boss, "first", starts_at=now - timedelta(days=1), ends_at=now + timedelta(days=1))
    announce(boss, "over", ends_at=now - timedelta(seconds=1))
    assert [one["content"] for one in shown(api)] == ["<p>first</p>", "<p>second</p>"]


def test_listing_announcements_needs_a_user_and_no_particular_scope(ann: User) -> None:
    assert Api(make_token(ann, "push")).get(PATH).status_code == 200
    for token in (None, "wrong", make_token(None)):
        answer = Api(token).get(PATH)
        assert (answer.status_code, answer.json()["error"]) == (422, "This method requires an authenticated user")
    User.objects.filter(pk=ann.pk).update(disabled_at=clock.now())
    assert Api(make_token(ann)).get(PATH).status_code == 403


def test_seed_076_077_078_and_088_a_dismissed_announcement_is_read_and_dismissing_twice_succeeds(
    boss: Staff, ann: User, api: Api
) -> None:
    made = announce(boss)
    other = Api(make_token(make_user("bob")))
    for _time in range(2):
        answer = api.post(f"{PATH}/{made.id}/dismiss")
        assert (answer.status_code, answer.json()) == (200, {})
    assert shown(api)[0]["read"] is True
    assert shown(other)[0]["read"] is False


def test_reactions_are_counted_and_ordered_by_their_first_use(
    boss: Staff, api: Api, sent: list[tuple[str, Any]]
) -> None:
    emoji = CustomEmoji.objects.create(shortcode="blob", remote_url="https://cats.example/blob.png")
    made = announce(boss)
    bea = make_account("bea")
    add_reaction(account_id=bea.id, announcement=made, name="👍")
    for name in ("blob", "👍"):
        assert api.put(f"{PATH}/{made.id}/reactions/{name}").json() == {}
    url = "https://cats.example/blob.png"
    assert shown(api)[0]["reactions"] == [
        {"name": "👍", "count": 2, "me": True},
        {"name": "blob", "count": 1, "me": True, "url": url, "static_url": url},
    ]
    work()
    sent.clear()
    assert api.delete(f"{PATH}/{made.id}/reactions/blob").json() == {}
    work()
    number = str(made.id)
    assert sent == [("announcement.reaction", {"name": "blob", "count": 0, "announcement_id": number})]
    sent.clear()
    add_reaction(account_id=bea.id, announcement=made, name="blob")
    work()
    (event,) = sent
    assert event[1] == {"name": "blob", "count": 1, "url": url, "static_url": url, "announcement_id": number}
    check("Reaction", event[1])
    emoji.delete()
    assert [one["name"] for one in shown(api)[0]["reactions"]] == ["👍"]


def test_an_invalid_a_ninth_and_a_repeated_reaction_are_refused(boss: Staff, api: Api) -> None:
    CustomEmoji.objects.create(shortcode="blob", domain="cats.example", uri="https://cats.example/1")
    CustomEmoji.objects.create(shortcode="off", disabled=True)
    path = f"{PATH}/{announce(boss).id}/reactions"
    for name in ("x", "blob", "off", "12", "👍👍", "x" * 5000):
        answer = api.put(f"{path}/{name}")
        assert answer.status_code == 422, name
        assert answer.json() == {"error": "Validation failed: Name is not a recognized emoji"}, name
    for name in "👍👎😀😂🎉😢😡🤔":
        assert api.put(f"{path}/{name}").status_code == 200
    again, ninth = api.put(f"{path}/👍"), api.put(f"{path}/🐘")
    assert (again.status_code, again.json()) == (422, {"error": "Duplicate record"})
    assert ninth.json() == {"error": "Validation failed: Limit of different reactions reached"}
    assert api.delete(f"{path}/🐘").status_code == 404


def test_a_text_is_an_emoji_only_if_it_is_exactly_one() -> None:
    for text in ("👍", "👍🏽", "❤️", "❤", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☺️", "🫡"):
        assert is_emoji(text), text
    for text in ("", "a", "1", "#", "👍 ", "👍👍", "🇩", "‍", "️", "👍‍", "é", "👍" * 50):
        assert not is_emoji(text), text


@pytest.mark.django_db(transaction=True)
def test_of_many_simultaneous_new_reactions_at_most_eight_are_stored() -> None:
    made = announce(staff_of(make_user("boss", role="Owner")))
    account = make_account("ann")

    def react(name: str) -> None:
        with suppress(Invalid):
            add_reaction(account_id=account.id, announcement=made, name=name)
        connection.close()

    threads = [threading.Thread(target=react, args=(name,)) for name in "👍👎😀😂🎉😢😡🤔🐘🐙🦊🐝"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AnnouncementReaction.objects.count() == 8


def test_publishing_changing_and_withdrawing_an_announcement_is_streamed(
    boss: Staff, sent: list[tuple[str, Any]]
) -> None:
    made = announce(boss)
    work()
    announcements.update_announcement(by=boss, announcement=made, draft=AnnouncementDraft("Changed"))
    work()
    announcements.unpublish_announcement(by=boss, announcement=made)
    work()
    for event, payload in sent[:2]:
        assert event == "announcement"
        check("Announcement", payload)
        assert "read" not in payload
    assert sent[1][1]["content"] == "<p>Changed</p>"
    assert sent[2] == ("announcement.delete", made.id)
    assert len(sent) == 3
    announcements.delete_announcement(by=boss, announcement=made)
    actions = list(
        AuditEntry.objects.filter(target_type="Announcement").order_by("id").values_list("action", flat=True)
    )
    assert actions == ["create", "publish", "update", "unpublish", "destroy"]


def test_a_scheduled_announcement_is_published_once_at_its_time_and_ends_at_its_end(
    boss: Staff, ann: User, sent: list[tuple[str, Any]]
) -> None:
    start = datetime(2030, 1, 1, 12, tzinfo=UTC)
    with time_machine.travel(start, tick=False):
        create_announcement(
            by=boss,
            draft=AnnouncementDraft(
                "Soon", scheduled_at=start + timedelta(hours=1), ends_at=start + timedelta(hours=3)
            ),
        )
        announcements.handle_due([AnnouncementDue(announcement_id=Announcement.objects.get().id)])
        work()
        assert sent == []
    number = Announcement.objects.get().id
    due = AnnouncementDue(announcement_id=number)
    with time_machine.travel(start + timedelta(hours=1), tick=False):
        for _time in range(2):
            announcements.handle_due([due])
        work()
    assert [event for event, _payload in sent] == ["announcement"]
    with time_machine.travel(start + timedelta(hours=3), tick=False):
        announcements.handle_due([due])
        work()
        assert shown(Api(make_token(ann))) == []
    assert sent[1:] == [("announcement.delete", number)]


def test_a_past_time_publishes_immediately_and_an_all_day_event_lasts_the_whole_day(boss: Staff, api: Api) -> None:
    now = clock.now()
    create_announcement(
        by=boss,
        draft=AnnouncementDraft("Now", scheduled_at=now - timedelta(1), starts_at=now, ends_at=now, all_day=True),
    )
    (one,) = shown(api)
    assert one["starts_at"].endswith("T00:00:00.000Z")
    assert one["ends_at"].endswith("T23:59:59.999Z")


def test_announcing_requires_the_permission_and_a_valid_announcement(boss: Staff, ann: User) -> None:
    with pytest.raises(Forbidden):
        create_announcement(by=staff_of(ann), draft=AnnouncementDraft("x"))
    now = clock.now()
    for draft in (
        AnnouncementDraft(" "),
        AnnouncementDraft("x" * 10_001),
        AnnouncementDraft("x", starts_at=now, ends_at=now - timedelta(1)),
        AnnouncementDraft("x", all_day=True),
    ):
        with pytest.raises(Invalid):
            create_announcement(by=boss, draft=draft)
