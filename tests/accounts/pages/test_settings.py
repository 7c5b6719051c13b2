"""Tests of the navigation between the settings pages."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.pages import settings
from accounts.pages.settings import GROUPS, Entry, Group, navigation
from tests.accounts.identity.pages.test_second_factor import show_again

pytestmark = pytest.mark.django_db
# The page of linked identities exists only if the operator has configured issuers (tests/accounts/issuers).
ENTRIES = [entry for group in GROUPS for entry in group.entries if entry.url_name != "identities"]


def test_the_front_page_leads_to_every_page_of_the_settings_by_one_link(browser: Client) -> None:
    front = browser.get("/").content.decode()
    assert sum(f'href="{reverse(entry.url_name)}"' in front for entry in ENTRIES) == 1, "only the profile is linked"
    assert 'href="/settings"' in front
    text = browser.get("/settings").content.decode()
    assert all(f'href="{reverse(entry.url_name)}"' in text for entry in ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.url_name)
def test_each_page_of_the_settings_leads_to_the_others_and_marks_itself(browser: Client, entry: Entry) -> None:
    show_again(browser)
    text = browser.get(reverse(entry.url_name)).content.decode()
    assert all(f'href="{reverse(other.url_name)}"' in text for other in ENTRIES)
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', text) == [reverse(entry.url_name)]


def test_a_step_of_a_page_marks_the_page_it_belongs_to(person: User) -> None:
    marked = [
        entry["title"]
        for group in navigation(person, "mfa_activate_totp")
        for entry in group["entries"]
        if entry["within"]
    ]
    assert marked == ["Second factor and passkeys"]


def test_pages_for_some_users_are_listed_only_for_these(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    group = Group("Tools", (Entry("front", "Tool", shown_to=lambda user: user.email == "other@example.com"),))
    monkeypatch.setattr(settings, "GROUPS", (group,))
    assert navigation(person) == []
    person.email = "other@example.com"
    assert [entry["title"] for found in navigation(person) for entry in found["entries"]] == ["Tool"]


def test_password_managers_find_the_page_for_changing_the_password(client: Client) -> None:
    answer = client.get("/.well-known/change-password")
    assert (answer.status_code, answer["Location"]) == (301, "/auth/password")
    assert answer["Cache-Control"] == "no-cache"
    assert client.post("/.well-known/change-password").status_code == 405
