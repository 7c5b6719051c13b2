"""Tests of drafts: only their author sees them, in any state, until they are published or deleted."""

import re
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import MediaAttachment, ScheduledStatus, Status
from statuses.services import scheduling
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import make_media, make_status
from tests.statuses.conftest import api_of
from tests.support.client import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
DRAFTS, SCHEDULED, STATUSES = "/api/v1/drafts", "/api/v1/scheduled_statuses", "/api/v1/statuses"
#: The dates by which Moshidon and Megalodon mark a scheduled post as a draft.
FAKED = ("5056-10-12T08:00:00.000Z", "9999-01-26T10:00:00.000Z", "3000-01-01T00:00:00Z")


def test_a_draft_may_be_invalid_as_a_post_and_is_published_once_it_is_valid(alice: Account, bob: Account) -> None:
    api, parent, media = api_of(alice), make_status(bob), make_media(alice)
    long = {
        "status": "x" * 600,
        "in_reply_to_id": str(parent.id),
        "media_ids": [str(media.id)],
        "scheduled_at": "2040-01-01",
    }
    sent = {"headers": {"Idempotency-Key": "one"}}
    draft = api.post(DRAFTS, long | {"poll": {"options": ["a"]}}, **sent).json()
    assert api.post(DRAFTS, long, **sent).json() == draft
    assert api.get(DRAFTS).json() == [draft] == api.get(SCHEDULED).json()
    path = f"{DRAFTS}/{draft['id']}"
    assert api_of(bob).get(path).status_code == 404
    assert (draft["params"]["poll"], len(draft["params"]["text"])) == ({"options": ["a"]}, 600)
    refused = api.post(f"{path}/publish", {})
    assert (refused.status_code, refused.json()["error"]) == (
        422,
        "Validation failed: Text character limit of 500 exceeded",
    )
    assert api.get(path).json() == draft
    other = make_media(alice)
    changed = api.put(path, {"status": "short", "in_reply_to_id": str(parent.id), "media_ids": [str(other.id)]}).json()
    assert [file["id"] for file in changed["media_attachments"]] == [str(other.id)]
    assert (changed["params"]["poll"], changed["scheduled_at"]) == (None, draft["scheduled_at"])
    posts = [api.post(f"{path}/publish", {}, headers={"Idempotency-Key": "two"}).json() for _time in range(2)]
    assert posts[0]["id"] == posts[1]["id"]
    assert (posts[0]["content"], posts[0]["in_reply_to_id"]) == ("<p>short</p>", str(parent.id))
    assert [file["id"] for file in posts[0]["media_attachments"]] == [str(other.id)]
    assert (api.post(f"{path}/publish", {}).status_code, api.get(DRAFTS).json()) == (404, [])
    assert Status.objects.filter(account=alice).count() == 1
    assert MediaAttachment.objects.filter(status=None).get() == media


def test_drafts_are_limited_and_visible_to_their_author_only(alice: Account, bob: Account, monkeypatch: Any) -> None:
    api = api_of(alice)
    foreign = make_media(bob)
    for wrong in (
        {"status": "x" * 100_001},
        {"status": "x", "visibility": "odd"},
        {"status": "x", "media_ids": [str(foreign.id)]},
        {"status": "x", "poll": {"options": ["y" * 100_001]}},
    ):
        assert api.post(DRAFTS, wrong).status_code == 422, wrong
    monkeypatch.setattr(scheduling, "TOTAL_LIMIT", 2)
    made = [api.post(DRAFTS, {"status": "x"}) for _time in range(3)]
    assert [answer.status_code for answer in made] == [200, 200, 422]
    assert made[2].json() == {"error": "Validation failed: You have exceeded the limit of 2 drafts"}
    assert api.delete(f"{DRAFTS}/{made[0].json()['id']}").json() == {}
    assert len(api.get(DRAFTS).json()) == 1


def test_posts_that_apps_schedule_beyond_the_year_3000_are_drafts(alice: Account, monkeypatch: Any) -> None:
    api = api_of(alice)
    monkeypatch.setattr(scheduling, "DAILY_LIMIT", 1)
    made = [api.post(STATUSES, {"status": "later", "scheduled_at": time}).json() for time in FAKED for _twice in (1, 2)]
    assert [draft["scheduled_at"][:4] for draft in made] == ["5056", "5056", "9999", "9999", "3000", "3000"]
    assert [draft["id"] for draft in api.get(DRAFTS).json()] == [draft["id"] for draft in reversed(made)]
    assert not OutboxRow.objects.filter(event="ScheduledStatusDue").exists()
    # A draft can get a real date, at which it will be published, and can become a draft again.
    path = f"{SCHEDULED}/{made[0]['id']}"
    assert api.put(path, {"scheduled_at": "2099-01-01T00:00:00Z"}).status_code == 200
    assert OutboxRow.objects.filter(event="ScheduledStatusDue").count() == 1
    assert api.get(f"{DRAFTS}/{made[0]['id']}").status_code == 404
    assert api.put(path, {"scheduled_at": FAKED[0]}).status_code == 200
    assert len(api.get(DRAFTS).json()) == 6
    wrong = api.post(DRAFTS, {"status": ""}).json()["id"]
    assert api.put(f"{SCHEDULED}/{wrong}", {"scheduled_at": "2099-01-01T00:00:00Z"}).json() == {
        "error": "Record invalid"
    }
    for never in ("2999-12-31T00:00:00Z", "9999-12-31T23:59:59Z"):
        assert api.post(STATUSES, {"status": "x", "scheduled_at": never}).status_code == 422


def test_a_draft_that_matches_a_spam_rule_is_held_when_it_is_published(alice: Account) -> None:
    make_rule(words=["casino"])
    api = api_of(alice)
    draft = api.post(DRAFTS, {"status": "casino"}).json()
    assert api.post(f"{DRAFTS}/{draft['id']}/publish", {}).status_code == 422
    assert ScheduledStatus.objects.get().held is not None
    assert api.put(f"{DRAFTS}/{draft['id']}", {"status": "x"}).status_code == 404
    assert not Status.objects.exists()


def test_users_save_drafts_on_the_writing_page_and_continue_later(alice: Account, bob: Account) -> None:
    parent, browser = make_status(bob, "question"), signed_in(alice.user)
    form = {"visibility": "unlisted", "quote_policy": "public", "key": "one", "next": "/"}
    form |= {"option_1": "tea", "option_2": "coffee"}
    sent = form | {"text": "x" * 600, "reply_to": str(parent.id), "act": "draft"}
    for _time in range(2):
        assert browser.post("/write", sent).status_code == 303
    draft = ScheduledStatus.objects.get()
    page = browser.get("/drafts").content.decode()
    assert f'href="/write?draft={draft.id}"' in page
    assert "x" * 600 in page
    assert "x" * 600 not in browser.get("/scheduled").content.decode()
    shown = browser.get(f"/write?draft={draft.id}").content.decode()
    for part in (
        "x" * 600 + "</textarea>",
        'value="tea"',
        f'name="reply_to" value="{parent.id}"',
        'value="unlisted" selected',
    ):
        assert part in shown, part
    ScheduledStatus.objects.update(created_at="2020-02-02T02:02:02Z")
    for path in ("/drafts", f"/write?draft={draft.id}"):
        assert 'Last saved: <time datetime="2020-02-02T' in browser.get(path).content.decode(), path
    keys = dict(re.findall(r'name="(csrfmiddlewaretoken|key)" value="([^"]+)"', shown))
    again = form | keys | {"reply_to": str(parent.id), "draft": str(draft.id), "act": "publish"}
    assert browser.post("/write", again | {"text": "y" * 600}).status_code == 422
    draft.refresh_from_db()
    assert draft.draft["text"] == "y" * 600, "the latest text is stored"
    assert draft.created_at.year > 2020, "the time of saving is stored too"
    for _time in range(2):
        assert browser.post("/write", again | {"text": "tea, please"}).status_code == 303
    post = Status.objects.get(account=alice)
    assert (post.text, post.in_reply_to_id, post.visibility) == ("tea, please", parent.id, "unlisted")
    lost = browser.post("/write", again | {"text": "more", "key": "other"})
    assert (lost.status_code, "more</textarea>" in lost.content.decode()) == (422, True)
    assert browser.get(f"/write?draft={draft.id}").status_code == 404
    assert not ScheduledStatus.objects.exists()


def test_a_draft_on_a_page_is_scheduled_and_deleted(alice: Account) -> None:
    browser, api = signed_in(alice.user), api_of(alice)
    kept, other = (api.post(DRAFTS, {"status": text, "media_ids": [str(make_media(alice).id)]}).json() for text in "ab")
    media = kept["media_attachments"][0]["id"]
    form = {"visibility": "public", "quote_policy": "public", "key": "k", "next": "/", "text": "a", "media": media}
    later = (clock.now().replace(year=clock.now().year + 1, day=1)).strftime("%Y-%m-%dT%H:%M")
    assert browser.post("/write", form | {"draft": kept["id"], "scheduled_at": later}).status_code == 303
    scheduled = api.get(f"{SCHEDULED}/{kept['id']}").json()
    assert (scheduled["scheduled_at"][:4], scheduled["media_attachments"][0]["id"]) == (later[:4], media)
    assert browser.post(f"/scheduled/{other['id']}", {"act": "delete", "next": "/drafts"}).status_code == 303
    assert api.get(DRAFTS).json() == []
