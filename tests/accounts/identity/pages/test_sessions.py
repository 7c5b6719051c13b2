"""Tests of the list of a user's sessions, and of ending them (security rows 20, 24)."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.identity.services.sessions import forget_ended_sessions
from accounts.identity.services.tokens import issue_token
from accounts.models import User
from social.kernel import clock
from tests.factories.accounts import make_application, make_user

pytestmark = pytest.mark.django_db
LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"
PHONE = "Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0"


def signed_in(user_agent: str = LINUX, address: str = "127.0.0.1", name: str = "ada") -> Client:
    """Return a browser in which the user has signed in."""
    browser = Client(headers={"User-Agent": user_agent}, REMOTE_ADDR=address)
    done = browser.post("/auth/sign_in", {"login": name, "password": "correct horse"})
    assert done.status_code == 303
    return browser


def is_signed_in(browser: Client, name: str = "ada") -> bool:
    return f"@{name}@" in browser.get("/").content.decode()


def shown(browser: Client) -> list[str]:
    text = browser.get("/auth/sessions").content.decode()
    return [
        " ".join(found.split()) for found in re.findall(r'<strong id="session-\d+">(.*?)</strong>', text, re.DOTALL)
    ]


def test_browsers_are_listed_by_name_and_the_current_one_first(person: User) -> None:
    here, there = signed_in(), signed_in(PHONE, "192.0.2.7")
    assert shown(here) == ["Chrome on Linux", "Firefox on Android"]
    assert shown(there) == ["Firefox on Android", "Chrome on Linux"]
    text = here.get("/auth/sessions").content.decode()
    assert text.count("This browser") == 1
    assert "192.0.2.7" in text


def test_chromium_is_distinguished_from_chrome_by_its_brands(person: User) -> None:
    browser = signed_in()
    assert shown(browser) == ["Chrome on Linux"]
    with time_machine.travel(clock.now() + timedelta(days=1), tick=False):
        browser.get("/", headers={"Sec-CH-UA": '"Chromium";v="151", "Not=A?Brand";v="24"'})
        assert shown(browser) == ["Chromium on Linux"]


def test_the_name_of_a_browser_is_escaped(person: User) -> None:
    browser = signed_in("<b>x</b>")
    assert "<b>x" not in browser.get("/auth/sessions").content.decode()
    assert shown(browser) == ["An unknown browser"]


def test_the_day_of_the_last_visit_is_stored_once_a_day(person: User, django_assert_num_queries: Any) -> None:
    monday = clock.now().replace(year=2026, month=1, day=5, hour=9)
    with time_machine.travel(monday, tick=False):
        browser = signed_in()
        browser.get("/")
    with time_machine.travel(monday + timedelta(days=3), tick=False):
        browser.get("/", REMOTE_ADDR="192.0.2.9")
        seen = UserSession.objects.get()
        assert (seen.created_at.day, seen.last_seen_at.day, seen.ip) == (5, 8, "192.0.2.9")
        text = browser.get("/auth/sessions").content.decode()
        assert "signed in on Jan. 5, 2026 · last seen on Jan. 8, 2026" in text
        # queries: session; user with account, role and unread counts; home timeline; suggested accounts; staff's suggestions
        with django_assert_num_queries(6):
            browser.get("/")


def test_one_browser_is_signed_out_and_the_others_stay(person: User) -> None:
    here, there, third = signed_in(), signed_in(PHONE), signed_in()
    token = issue_token(application=make_application(), user=person, scopes=["read"])
    session = UserSession.objects.get(user_agent=PHONE)
    assert here.post(f"/auth/sessions/{session.pk}")["Location"] == "/auth/sessions"
    assert not is_signed_in(there)
    assert is_signed_in(here)
    assert is_signed_in(third)
    token.refresh_from_db()
    assert here.post(f"/auth/sessions/{session.pk}").status_code == 404


def test_the_current_browser_can_be_signed_out(person: User) -> None:
    here, there = signed_in(), signed_in(PHONE)
    session = UserSession.objects.get(user_agent=LINUX)
    assert here.post(f"/auth/sessions/{session.pk}")["Location"] == "/auth/sign_in"
    assert not is_signed_in(here)
    assert is_signed_in(there)


def test_row_20_nobody_ends_the_sessions_of_others(person: User) -> None:
    make_user("bob")
    stranger, browser = signed_in(name="bob"), signed_in()
    session = UserSession.objects.get(user=person)
    assert stranger.post(f"/auth/sessions/{session.pk}").status_code == 404
    assert is_signed_in(browser)
    assert shown(stranger) == ["Chrome on Linux"]
    anonymous = Client().post(f"/auth/sessions/{session.pk}")
    assert anonymous["Location"].startswith("/auth/sign_in")
    assert is_signed_in(browser)
    assert browser.get(f"/auth/sessions/{session.pk}").status_code == 405
    assert browser.post(f"/auth/sessions/{2**70}").status_code == 404


def test_all_other_browsers_are_signed_out_together(person: User) -> None:
    here, others = signed_in(), [signed_in(PHONE), signed_in(PHONE)]
    assert here.post("/auth/sessions")["Location"] == "/auth/sessions"
    assert is_signed_in(here)
    assert not any(is_signed_in(other) for other in others)
    text = here.get("/auth/sessions").content.decode()
    assert "Sign out all other browsers" not in text
    assert shown(here) == ["Chrome on Linux"]


def test_the_list_is_limited_and_takes_the_same_queries_for_any_number(
    person: User, django_assert_num_queries: Any
) -> None:
    browser = signed_in()
    browser.get("/")
    expires = clock.now() + timedelta(days=1)
    for number in range(120):
        Session.objects.create(session_key=f"key{number}", session_data="", expire_date=expires)
        UserSession.objects.create(user=person, ip="192.0.2.1", session_key=f"key{number}", user_agent="x")
    with django_assert_num_queries(3):  # queries: session, user with account and unread counts, the list
        assert len(shown(browser)) == 100
    browser.post("/auth/sessions")
    assert UserSession.objects.count() == Session.objects.count() == 1


def test_expired_sessions_are_neither_shown_nor_stored(person: User) -> None:
    browser, old = signed_in(), signed_in(PHONE)
    UserSession.objects.create(user=person, ip="192.0.2.1", session_key="gone", user_agent="x")
    Session.objects.filter(session_key=old.session.session_key).update(expire_date=clock.now() - timedelta(seconds=1))
    assert shown(browser) == ["Chrome on Linux"]
    assert forget_ended_sessions() == 3
    assert [session.user_agent for session in UserSession.objects.all()] == [LINUX]
    assert is_signed_in(browser)


def test_row_24_a_new_password_leaves_no_session(person: User) -> None:
    here, there = signed_in(), signed_in(PHONE)
    here.post("/auth/password", {"oldpassword": "correct horse", "password1": "another horse"})
    assert not is_signed_in(here)
    assert not is_signed_in(there)
    assert not UserSession.objects.exists()
