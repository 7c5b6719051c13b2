"""Tests that editing only the text of a post on a page keeps all other properties that an application has set."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from lxml.html import fromstring

from accounts.models import Account
from statuses.models import Poll, ScheduledStatus, Status
from statuses.policies.posts import SHOWN_COLUMNS
from tests.factories.accounts import make_user
from tests.factories.statuses import make_media
from tests.statuses.conftest import api_of, post_as
from tests.support.client import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]

WITH_POLL = {"poll": {"options": ["red", "green"], "multiple": True, "hide_totals": True, "expires_in": 7200}}
WITH_FILE = {"sensitive": True}
BOTH = pytest.mark.parametrize("more", [WITH_POLL, WITH_FILE], ids=["poll", "file"])


@pytest.fixture
def browser(alice: Account) -> Client:
    return signed_in(alice.user)


def values(author: Account, more: dict[str, Any]) -> dict[str, Any]:
    """Return every parameter that an edit replaces, with a poll or a file."""
    sent = dict.fromkeys(SHOWN_COLUMNS, "one") | {
        "status": "*before*",
        "language": "pt-BR",
        "content_type": "text/markdown",
        "quote_approval_policy": "nobody",
        "interaction_policy": {"can_reply": {"automatic_approval": ["followers"], "manual_approval": ["following"]}},
    }
    return sent | more | ({"media_ids": [_uploaded(author)]} if more is WITH_FILE else {})


def _uploaded(author: Account) -> str:
    media = make_media(author)
    media.description, media.meta["focus"] = "a cat", {"x": 0.31, "y": -0.72}
    media.save()
    return str(media.id)


def _form(page: bytes) -> Any:
    (form,) = (form for form in fromstring(page).forms if "text" in form.fields)
    return form


def save_text(browser: Client, address: str, text: str, act: str = "publish") -> None:
    """Open a page, change the text of its form, and send the form as a browser does."""
    form = _form(browser.get(address, follow=True).content)
    form.fields["text"] = text
    sent: dict[str, list[str]] = {}
    for name, value in form.form_values():
        sent.setdefault(name, []).append(value)
    answer = browser.post(form.action, {**sent, "act": act})
    assert answer.status_code == 303, fromstring(answer.content).text_content()


def read(author: Account, number: Any) -> dict[str, Any]:
    """Return a post and its source as its author gets them, without the members that change with the text."""
    api = api_of(author)
    post = api.get(f"/api/v1/statuses/{number}").json() | api.get(f"/api/v1/statuses/{number}/source").json()
    return {name: value for name, value in post.items() if name not in ("text", "content", "edited_at")}


@BOTH
def test_editing_the_text_on_the_page_changes_nothing_else(
    alice: Account, browser: Client, more: dict[str, Any]
) -> None:
    number = post_as(alice, **values(alice, more))["id"]
    before = read(alice, number)
    save_text(browser, f"/statuses/{number}/edit", "*after*")
    assert "<em>after</em>" in Status.objects.get(id=number).content
    assert read(alice, number) == before
    save_text(browser, f"/statuses/{number}/edit", "*after*")
    versions = api_of(alice).get(f"/api/v1/statuses/{number}/history").json()
    assert len(versions) == 2, "the second edit changed nothing"


@BOTH
def test_a_draft_saved_again_keeps_its_values(alice: Account, browser: Client, more: dict[str, Any]) -> None:
    answer = api_of(alice).post("/api/v1/drafts", values(alice, more))
    number = answer.json()["id"]
    before = ScheduledStatus.objects.get(id=number).draft
    save_text(browser, f"/write?draft={number}", "*after*", act="draft")
    after = ScheduledStatus.objects.get(id=number).draft
    shown = ("text", "visibility", "sensitive", "poll")
    assert {name: after[name] for name in after if name not in shown} == {
        name: before[name] for name in before if name not in shown
    }
    assert {**(after["poll"] or {}), "sent": 0} == {**(before["poll"] or {}), "sent": 0}


@BOTH
def test_a_redrafted_post_keeps_its_values(
    alice: Account, browser: Client, more: dict[str, Any], media_root: Path
) -> None:
    number = post_as(alice, **values(alice, more))["id"]
    before = read(alice, number)
    again = browser.post(f"/statuses/{number}/delete", {"act": "redraft"})
    save_text(browser, again["Location"], "*after*")
    after = read(alice, Status.objects.get(deleted_at=None).id)
    same = (*SHOWN_COLUMNS, "sensitive", "visibility", "language", "content_type", "interaction_policy")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    for poll in Poll.objects.filter(status_id=after["id"]):
        assert poll.hide_totals
        assert poll.expires_at is not None
        assert round((poll.expires_at - poll.status.created_at).total_seconds()) == 7200
    assert Poll.objects.filter(status_id=after["id"]).exists() == (more is WITH_POLL)


def test_unexpected_mentions_in_a_draft_are_published_only_if_the_form_is_sent_again(
    alice: Account, browser: Client
) -> None:
    for username in ("bob", "carol", "dora"):
        make_user(username)
    expected = str(Account.objects.get(username="bob").id)
    number = api_of(alice).post("/api/v1/drafts", {"status": "@bob", "allowed_mentions": [expected]}).json()["id"]
    form = _form(browser.get(f"/write?draft={number}").content)
    form.fields["text"] = "@bob @carol"
    refused = browser.post("/write", {**dict(form.form_values()), "act": "publish"})
    assert refused.status_code == 422
    assert "did not expect it to mention @carol." in refused.content.decode()
    assert not Status.objects.exists()
    form = _form(refused.content)
    form.fields["text"] = "@bob @carol @dora"
    refused = browser.post("/write", {**dict(form.form_values()), "act": "publish"})
    assert "did not expect it to mention @dora." in refused.content.decode()
    sent = dict(_form(refused.content).form_values())
    assert browser.post("/write", {**sent, "act": "publish"}).status_code == 303
    assert Status.objects.get().mentions.count() == 3
