"""Tests that typed form values survive errors, and a sign-out before the form is sent."""

import io
import re
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import pytest
from django import forms
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from PIL import Image

from accounts.models import User
from social.api.limits import Rule
from social.kernel import clock, links
from social.kernel.errors import RateLimited
from social.pages import typed
from social.pages.typed import SECRETS, StoredForm, fill_page
from statuses.models import Filter, Status
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_status
from timelines.models import List

pytestmark = pytest.mark.django_db
HOST = "http://testserver"
LATER = "2099-07-01T12:00"


def sign_in(browser: Client, user: User) -> None:
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")


def signed_out(user: User, page: str = "/lists") -> Client:
    """Return a browser in which the user has opened a page and was signed out afterwards."""
    browser = Client()
    sign_in(browser, user)
    assert browser.get(page).status_code == 200
    del browser.cookies[settings.SESSION_COOKIE_NAME]
    return browser


def send(browser: Client, path: str, sent: dict[str, Any], page: str = "") -> str:
    """Send a form while signed out, and return the path to which the user is redirected after signing in."""
    answer = browser.post(path, sent, headers={"Referer": f"{HOST}{page or path}"})
    assert answer.status_code == 303
    assert answer["Location"].startswith("/auth/sign_in?")
    return parse_qs(urlsplit(answer["Location"]).query)["next"][0]


def values_in(html: str, form_of: str) -> dict[str, list[str]]:
    """Return the values of the first form with a field named `form_of`."""
    form = next(form for form in re.findall(r"<form.*?</form>", html, re.S) if f'name="{form_of}"' in form)
    found: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        attrs = dict(re.findall(r'([a-z]+)="([^"]*)"', tag))
        if attrs.get("type") not in ("checkbox", "radio") or " checked" in tag:
            found.setdefault(attrs.get("name", ""), []).append(attrs.get("value", "on"))
    for name, text in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>\n?(.*?)</textarea>', form, re.S):
        found.setdefault(name, []).append(text)
    for name, options in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.S):
        found[name] = re.findall(r'value="([^"]*)"[^>]* selected', options)
    return found


def test_the_forms_of_members_are_filled_again_after_the_sign_in() -> None:
    ann, bea = make_user("ann", role="Owner"), make_account("bea")
    post = make_status(ann.account, "before")
    made = Filter.objects.create(account=ann.account, title="Films", context=["home"])
    mine = List.objects.create(account=ann.account, title="Friends")
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("/lists", "", {"title": "My <b> & friends", "replies_policy": "none", "exclusive": "on"}),
        (f"/lists/{mine.id}/edit", "", {"title": "Foes", "replies_policy": "followed"}),
        ("/filters/new", "", {"title": "A film", "action": "hide", "in_public": "on", "keyword_new_1": "A word"}),
        (f"/filters/{made.id}", "", {"title": "No films", "action": "hide", "in_home": "on"}),
        (f"/report/{bea.id}", "", {"comment": "They\n\nshout", "category": "spam"}),
        (f"/people/{bea.id}/act", "/@bea", {"comment": "From the\nchoir", "act": "note"}),
        ("/collections", "", {"name": "My gardeners", "description": "Who grow"}),
        ("/share", "/share?text=hello", {"text": "Look at this", "spoiler_text": "Really", "visibility": "private"}),
        (
            "/authorize_interaction?uri=" + links.status_url("ann", post.id),
            "",
            {"text": "An answer", "visibility": "public", "act": "reply"},
        ),
        ("/settings/profile", "", {"display_name": "Ann B.", "note": "I write\x00 letters"}),
        ("/domain_blocks", "", {"block": "Far.example"}),
        (
            "/write",
            "/write",
            {"text": "م🦣\n&" * 400, "visibility": "private", "option_1": "Yes!", "scheduled_at": "2099-07-01T12:00"},
        ),
        ("/write", "/", {"text": "short <3", "visibility": "unlisted"}),
        (f"/statuses/{post.id}/edit", "", {"text": "after that", "spoiler_text": "A warning"}),
        ("/invites", "", {"comment": "For the choir", "max_uses": "5"}),
    ]
    for path, page, sent in cases:
        browser = signed_out(ann)
        back = send(browser, path, sent, page)
        sign_in(browser, ann)
        answer = browser.get(back, follow=True)
        assert answer.status_code == 200, (path, answer.content.decode()[-3000:])
        html = answer.content.decode()
        found = values_in(html, next(iter(sent)))
        for name, value in sent.items():
            if name != "act":
                expected = value.replace("\x00", "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                assert expected in found[name], (path, name, found)
        assert "You were signed out before this was sent." in html
        assert "typed=" not in html, "the next form sent from this page does not show the old text"
        assert 'name="csrfmiddlewaretoken"' in html
        assert html.count("<html") == html.count("<main") == 1
    assert List.objects.get().title == "Friends"
    assert Filter.objects.count() == 1


def test_a_reply_keeps_its_parent_and_the_files_that_were_uploaded() -> None:
    ann = make_user("ann")
    parent = make_status(make_account("bea"), "a question")
    browser = Client()
    sign_in(browser, ann)
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    sent = {"text": "an answer", "visibility": "public", "key": "one", "reply_to": str(parent.id), "next": "/bookmarks"}
    picture = SimpleUploadedFile("cat.png", file.getvalue(), "image/png")
    page = browser.post("/write", sent | {"file_0": picture, "act": "attach"}).content.decode()
    (number,) = re.findall(r'name="media" value="(\d+)"', page)
    browser.get("/write")
    del browser.cookies[settings.SESSION_COOKIE_NAME]
    picture.seek(0)
    sent |= {"media": number, f"description_of_{number}": "A cat", "file_1": picture}
    back = send(browser, "/write", sent)
    sign_in(browser, ann)
    html = browser.get(back).content.decode()
    assert "a question" in html
    found = values_in(html, "reply_to")
    assert (found["reply_to"], found["media"]) == ([str(parent.id)], [number])
    assert found[f"description_of_{number}"] == ["A cat"]
    assert "Files have to be chosen again." in html
    Status.objects.filter(id=parent.id).update(deleted_at=clock.now())
    html = browser.get(back).content.decode()
    assert "Your text will be a separate post." in html
    assert "an answer</textarea>" in html


def test_typed_text_is_stored_for_its_author_only_and_within_limits() -> None:
    ann, bob = make_user("ann"), make_user("bob")
    browser = signed_out(ann)
    back = send(browser, "/lists", {"title": "My friends", "replies_policy": "list"})
    sign_in(browser, bob)
    assert "My friends" not in browser.get(back).content.decode()
    sign_in(browser, ann)
    assert "My friends" in browser.get(back).content.decode()
    assert "My friends" not in Client().get(back, follow=True).content.decode()
    for stranger in (Client(), signed_out(ann)):
        text = "My friends" if not stranger.cookies else "x Y" * 30_000
        assert "typed" not in send(stranger, "/lists", {"title": text, "replies_policy": "list"})
    assert "typed" not in send(signed_out(ann), "/settings/delete", {"password": "Correct Horse", "code": "A B C"})
    forged = signed_out(ann)
    forged.cookies[settings.READER_COOKIE_NAME] = str(ann.pk)
    assert "typed" not in send(forged, "/lists", {"title": "My friends"})


def test_typed_text_survives_a_redirect() -> None:
    ann = make_user("ann")
    browser = signed_out(ann)
    back = send(browser, "/lists", {"title": "My friends", "replies_policy": "list"})
    key = parse_qs(urlsplit(back).query)["typed"][0]
    sign_in(browser, ann)
    answer = browser.get(f"/auth/sign_in?next=%2Flists%23last&typed={key}")
    assert answer["Location"] == f"/lists?typed={key}#last"
    elsewhere = browser.get(f"/.well-known/change-password?typed={key}")
    assert elsewhere.status_code in (301, 302)


def test_typed_passwords_are_not_stored() -> None:
    def classes(base: type) -> Any:
        for each in base.__subclasses__():
            yield each
            yield from classes(each)

    names = {
        name
        for form in classes(forms.Form)
        if form.__module__.startswith(("accounts.", "allauth."))
        for name, field in form.base_fields.items()
        if isinstance(field.widget, forms.PasswordInput)
    }
    assert names <= SECRETS | {"password2"}
    assert len(names) >= 3


def test_a_page_without_the_form_shows_the_typed_text() -> None:
    ann = make_user("ann")
    mine = List.objects.create(account=ann.account, title="Friends")
    browser = signed_out(ann)
    back = send(browser, f"/lists/{mine.id}/edit", {"title": "My best friends"}, f"/lists/{mine.id}/edit")
    mine.delete()
    sign_in(browser, ann)
    gone = browser.get(back)
    assert gone.status_code == 404
    assert "My best friends</textarea>" in gone.content.decode()
    kept = StoredForm("k", "/there", "", {"text": ["Typed here"], "token": ["abc-1"]}, False, True)
    html = fill_page("<!doctype html><html><body><main id=main><p>Hi</p></main></body></html>", "/here", kept)
    assert "Typed here</textarea>" in html
    assert "abc-1" not in html


def test_an_error_page_shows_typed_text_only_if_the_form_was_sent_from_this_server() -> None:
    ann, bea = make_user("ann"), make_account("bea")
    browser = Client()
    sign_in(browser, ann)
    sent = {"comment": "A long story", "category": "spam", "password": "Correct Horse"}
    with patch("moderation.pages.reporting.counted", side_effect=RateLimited):
        own = browser.post(f"/report/{bea.id}", sent, headers={"Origin": HOST})
        foreign = browser.post(f"/report/{bea.id}", sent, headers={"Origin": "http://evil.example"})
    assert own.status_code == foreign.status_code == 429
    assert "A long story</textarea>" in own.content.decode()
    assert "Correct Horse" not in own.content.decode()
    assert "A long story" not in foreign.content.decode()
    strict = Client(enforce_csrf_checks=True)
    sign_in(strict, ann)
    refused = strict.post(f"/report/{bea.id}", sent, headers={"Origin": HOST})
    assert refused.status_code == 403
    assert "A long story</textarea>" in refused.content.decode()


@override_settings(RATE_LIMITS=True)
def test_the_number_of_stored_forms_of_a_user_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "STORED_FORMS", Rule("kept_forms", 3, 3600, "account"))
    ann, bob = make_user("ann"), make_user("bob")
    browser, other = signed_out(ann), signed_out(bob)
    sent = {"title": "Friends and " + "x" * 1000}
    backs = [send(browser, "/lists", sent) for _form in range(5)]
    assert ["typed=" in back for back in backs] == [True, True, True, False, False]
    assert "typed=" in send(other, "/lists", sent)
