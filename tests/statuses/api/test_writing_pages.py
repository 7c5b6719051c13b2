"""Tests of the pages for writing, editing and redrafting posts, with files and polls; no typed text is lost."""

import io
import re
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from PIL import Image

from accounts.models import User
from social.kernel import clock
from social.kernel.errors import RateLimited
from statuses.models import MediaAttachment, ScheduledStatus, Status
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db


def values(**changed: Any) -> dict[str, Any]:
    return {"text": "hello", "visibility": "public", "quote_policy": "public", "key": "one", "next": "/"} | changed


def picture(name: str = "cat.png") -> SimpleUploadedFile:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return SimpleUploadedFile(name, file.getvalue(), "image/png")


def test_a_post_has_files_with_descriptions_and_focus_a_warning_and_a_language(ann: User, browser: Client) -> None:
    sent = values(file_0=picture(), description_0='a <b>"cat"', focus_0="-0.8,0.8", spoiler_text="cats", language="de")
    attached = browser.post("/write", sent | {"act": "attach"})
    assert attached.status_code == 200
    text = attached.content.decode()
    assert "a &lt;b&gt;&quot;cat&quot;</textarea>" in text
    assert "hello</textarea>" in text
    assert not Status.objects.exists()
    (number,) = re.findall(r'name="media" value="(\d+)"', text)
    kept = {name: value for name, value in sent.items() if not name.endswith("_0")}
    kept |= {"media": number, f"description_of_{number}": "a black cat", f"focus_of_{number}": "0.8,0"}
    wrong = browser.post("/write", kept | {"text": "x" * 600})
    assert wrong.status_code == 422
    assert "a black cat</textarea>" in wrong.content.decode(), "the typed text and the file stay"
    assert f'name="media" value="{number}"' in wrong.content.decode()
    chosen = '<span class="hint"><bdi>Language: Deutsch</bdi></span></summary>'
    assert f"<details><summary>Language, time{chosen}" in wrong.content.decode()
    for _time in range(2):
        done = browser.post("/write", kept | {"act": "publish"})
        assert (done.status_code, done["Location"]) == (303, "/")
    post = Status.objects.get()
    assert (post.text, post.spoiler_text, post.language, post.sensitive) == ("hello", "cats", "de", True)
    file = MediaAttachment.objects.get(status=post)
    assert (file.description, file.meta["focus"]) == ("a black cat", {"x": 0.8, "y": 0.0})


def test_a_refused_file_is_named_and_the_text_stays(browser: Client) -> None:
    answer = browser.post("/write", values(file_0=SimpleUploadedFile("notes.txt", b"not a picture", "text/plain")))
    assert answer.status_code == 422
    assert "notes.txt:" in answer.content.decode()
    assert "hello</textarea>" in answer.content.decode()
    assert not Status.objects.exists()


def test_the_description_of_a_refused_file_stays(browser: Client) -> None:
    refused = SimpleUploadedFile("notes.txt", b"not a picture", "text/plain")
    sent = values(
        file_0=picture(), description_0="a cat", file_1=refused, description_1="my <notes>", description_2="later"
    )
    text = browser.post("/write", sent).content.decode()
    assert re.findall(r'name="description_(\S+)".*?>(.*?)</textarea>', text)[1:] == [
        ("0", "my &lt;notes&gt;"),
        ("1", "later"),
        ("2", ""),
    ]
    assert text.count("a cat</textarea>") == 1
    assert "<details open><summary>Add pictures" in text


def test_polls_times_markdown_and_quote_policies_can_be_set(ann: User, browser: Client) -> None:
    poll = {"option_1": "yes", "option_2": "no", "expires_in": "3600", "multiple": "on"}
    assert (
        browser.post("/write", values(text="*Well?*", markdown="on", quote_policy="nobody", **poll)).status_code == 303
    )
    post = Status.objects.get()
    assert (post.poll.options, post.poll.multiple) == (["yes", "no"], True)
    assert "<em>Well?</em>" in post.content
    assert post.quote_policy == 0
    too_few = browser.post("/write", values(option_1="yes", key="two"))
    assert too_few.status_code == 422
    assert 'value="yes"' in too_few.content.decode()
    assert '<details open><summary>Poll<span class="hint"><bdi>1 answer</bdi></span>' in too_few.content.decode()
    warning = "all votes so far are deleted"
    assert warning in browser.get(f"/statuses/{post.id}/edit").content.decode()
    assert warning not in too_few.content.decode()
    later = (clock.now() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    for _time in range(2):
        assert browser.post("/write", values(scheduled_at=later, key="three")).status_code == 303
    assert ScheduledStatus.objects.count() == 1
    assert Status.objects.count() == 1


def test_the_form_of_an_edit_is_filled_from_the_post(ann: User, browser: Client) -> None:
    browser.post("/write", values(file_0=picture(), description_0="a cat", spoiler_text="cats"))
    post = Status.objects.get()
    page = browser.get(f"/statuses/{post.id}/edit?next=/x").content.decode()
    (number,) = re.findall(r'name="media" value="(\d+)"', page)
    assert "a cat</textarea>" in page
    assert 'value="cats"' in page
    assert 'name="visibility"' not in page
    sent = values(text="changed", spoiler_text="dogs", media=number, next="/x")
    sent[f"description_of_{number}"] = "a dog"
    empty = browser.post(f"/statuses/{post.id}/edit", sent | {"text": "x" * 600})
    assert (empty.status_code, "a dog</textarea>" in empty.content.decode()) == (422, True)
    done = browser.post(f"/statuses/{post.id}/edit", sent)
    assert (done.status_code, done["Location"]) == (303, f"/x#post-{post.id}")
    post.refresh_from_db()
    assert (post.text, post.spoiler_text) == ("changed", "dogs")
    assert MediaAttachment.objects.get(status=post).description == "a dog"
    other = make_status(make_account("bea"), "hers")
    for method in (browser.get, browser.post):
        assert method(f"/statuses/{other.id}/edit").status_code == 404


def test_a_deleted_post_is_written_again_with_its_files_and_parent(ann: User, browser: Client) -> None:
    parent = make_status(make_account("bea"), "a question")
    browser.post("/write", values(text="an ansewr", file_0=picture(), reply_to=parent.id, visibility="unlisted"))
    post = Status.objects.get(account=ann.account)
    asked = browser.get(f"/statuses/{post.id}/delete").context["csrf_token"]
    sent = {"act": "redraft", "csrfmiddlewaretoken": str(asked)}
    first, second = (browser.post(f"/statuses/{post.id}/delete", sent) for _ in range(2))
    assert (first.status_code, first["Location"]) == (303, second["Location"]), "a double click loses no text"
    page = browser.get(second["Location"]).content.decode()
    assert not Status.objects.filter(id=post.id, deleted_at=None).exists()
    (number,) = re.findall(r'name="media" value="(\d+)"', page)
    (key,) = re.findall(r'name="key" value="([^"]+)"', page)
    assert "an ansewr</textarea>" in page
    assert f'name="reply_to" value="{parent.id}"' in page
    browser.post("/write", values(text="an answer", media=number, reply_to=parent.id, key=key))
    again = Status.objects.get(account=ann.account, deleted_at=None)
    assert (again.text, again.in_reply_to_id, MediaAttachment.objects.filter(status=again).count()) == (
        "an answer",
        parent.id,
        1,
    )


def test_a_form_without_its_csrf_token_publishes_nothing(ann: User) -> None:
    strict = signed_in(ann, enforce_csrf_checks=True)
    assert strict.post("/write", values()).status_code == 403
    assert not Status.objects.exists()


def test_too_many_or_missing_files_are_reported_and_the_text_stays(browser: Client) -> None:
    empty = browser.post("/write", values(file_0=SimpleUploadedFile("cat.png", b"", "image/png")))
    assert empty.status_code == 422
    assert "cat.png: The file is empty" in empty.content.decode()
    files = {f"file_{number}": picture(f"cat{number}.png") for number in range(5)}
    many = browser.post("/write", values(**files))
    text = many.content.decode()
    assert many.status_code == 422
    assert "cat4.png: Cannot attach more than 4 files" in text
    assert len(re.findall(r'name="media" value="(\d+)"', text)) == 4
    poll = {f"option_{number}": f"Answer {number}" for number in range(1, 7)}
    answers = browser.post("/write", values(expires_in="3600", **poll))
    text = answers.content.decode()
    assert answers.status_code == 422
    assert "an&#x27;t contain more than 4 items" in text
    assert all(f'value="Answer {number}"' in text for number in range(1, 7))
    for page in (empty, many, answers):
        assert "hello</textarea>" in page.content.decode()
    assert not Status.objects.exists()


def test_the_text_stays_when_the_parent_is_gone_or_too_much_was_written(ann: User, browser: Client) -> None:
    gone = browser.post("/write", values(text="an answer", reply_to="7"))
    assert (gone.status_code, "an answer</textarea>" in gone.content.decode()) == (422, True)
    assert 'name="reply_to"' not in gone.content.decode()
    hers = make_status(make_account("bea"), "@ann to you", visibility="direct")
    unquotable = browser.post("/write", values(text="look", quote=hers.id))
    assert (unquotable.status_code, "look</textarea>" in unquotable.content.decode()) == (422, True)
    with patch("statuses.pages.writing.counted_all", side_effect=RateLimited):
        refused = browser.post("/write", values(text="once more"))
    assert (refused.status_code, "once more</textarea>" in refused.content.decode()) == (422, True)
    past = browser.post("/write", values(text="not yet", scheduled_at="2001-01-01T12:00"))
    assert (past.status_code, "not yet</textarea>" in past.content.decode()) == (422, True)
    assert "<details open><summary>Language, time" in past.content.decode(), (
        "the part of the form with the error is open"
    )
    asked_for = browser.post("/write", values(act="attach")).content.decode()
    assert "<details open><summary>Add pictures" in asked_for
    assert Status.objects.get() == hers


def test_files_of_others_are_not_attached(browser: Client) -> None:
    other = signed_in(make_user("bea"))
    text = other.post("/write", values(file_0=picture(), act="attach")).content.decode()
    (number,) = re.findall(r'name="media" value="(\d+)"', text)
    refused = browser.post("/write", values(media=number))
    assert (refused.status_code, "hello</textarea>" in refused.content.decode()) == (422, True)
    assert 'name="media"' not in refused.content.decode()
    assert not MediaAttachment.objects.get(id=number).status_id


def test_a_scheduled_post_is_seen_moved_to_another_time_and_deleted(ann: User, browser: Client) -> None:
    ann.time_zone = "Europe/Berlin"
    ann.save(update_fields=["time_zone"])
    parent = make_status(ann.account, "the parent")
    sent = {
        "scheduled_at": "2099-07-01T12:00",
        "text": "much <b>later",
        "spoiler_text": "a warning",
        "reply_to": parent.id,
    }
    sent |= {"option_1": "tea &", "option_2": "coffee"}
    assert browser.post("/write", values(**sent)).status_code == 303
    scheduled = ScheduledStatus.objects.get()
    assert scheduled.scheduled_at.isoformat() == "2099-07-01T10:00:00+00:00"
    with CaptureQueriesContext(connection) as queries:
        text = browser.get("/scheduled").content.decode()
    for part in ("much &lt;b&gt;later", "a warning", "tea &amp;", 'value="2099-07-01T12:00"', f"/{parent.id}"):
        assert part in text
    path, next_page = f"/scheduled/{scheduled.id}", {"next": "/scheduled"}
    moved = browser.post(path, next_page | {"scheduled_at": "2099-08-01T12:00"})
    assert (moved.status_code, moved["Location"]) == (303, f"/scheduled#scheduled-{scheduled.id}")
    for refused in ("2001-01-01T12:00", "9999-12-31T23:59", "nonsense", ""):
        browser.post(path, next_page | {"scheduled_at": refused})
        assert 'class="error"' in browser.get("/scheduled").content.decode()
    scheduled.refresh_from_db()
    assert scheduled.scheduled_at.isoformat() == "2099-08-01T10:00:00+00:00"
    browser.post("/write", values(key="two", scheduled_at="2099-07-01T13:00", reply_to=parent.id, file_0=picture()))
    with CaptureQueriesContext(connection) as more:
        text = browser.get("/scheduled").content.decode()
    assert text.count("<article") == 2
    assert text.index("2099-07-01T13:00") < text.index("2099-08-01T12:00"), "the earliest post comes first"
    assert "(Europe/Berlin)" in text
    assert "Europe/Berlin" in browser.get("/write").content.decode()
    assert len(more) == len(queries)
    ScheduledStatus.objects.filter(id=scheduled.id).update(scheduled_at=clock.now() - timedelta(hours=1))
    assert "could not be published" in browser.get("/scheduled").content.decode()
    stranger = signed_in(make_user("bea"))
    assert stranger.post(path, {"scheduled_at": "2099-08-01T12:00"}).status_code == 404
    stranger.post(path, {"act": "delete"})
    assert ScheduledStatus.objects.filter(id=scheduled.id).exists()
    for _number in range(2):
        assert browser.post(path, next_page | {"act": "delete"}).status_code == 303
    assert ScheduledStatus.objects.count() == 1


def test_a_reply_begins_with_the_warning_of_the_post_it_answers(browser: Client) -> None:
    parent = make_status(make_account("bea"), "they marry", spoiler_text='The "ending"')
    page = browser.get(f"/write?reply_to={parent.id}").content.decode()
    assert re.search(r'name="spoiler_text"[^>]* value="The &quot;ending&quot;"', page)
    browser.post("/write", values(text="no!", spoiler_text="", reply_to=parent.id))
    assert Status.objects.get(in_reply_to_id=parent.id).spoiler_text == "", "users can remove the warning from a reply"
