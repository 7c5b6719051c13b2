"""Tests of the page on which users choose which notifications they get by mail."""

from typing import Any

import pytest
from django.test import Client

from accounts.identity.services.staff import disable
from accounts.models import User
from accounts.policies.mails import MAILED_TYPES, MODES
from accounts.policies.staff import OPERATOR
from tests.accounts.pages.test_profile_settings import PREFERENCES, form_of

pytestmark = pytest.mark.django_db
PAGE = "/settings/preferences/notifications"


def kept(person: User) -> dict[str, Any]:
    person.refresh_from_db()
    preferences: dict[str, Any] = person.preferences
    return preferences


def test_by_default_each_notification_that_addresses_the_user_is_mailed(browser: Client) -> None:
    assert form_of(browser, PAGE) == {
        "notification_mails": "single",
        "mention_mails": "on",
        "quote_mails": "on",
        "follow_mails": "on",
        "follow_request_mails": "on",
        "summary_mails": "on",
    }


@pytest.mark.parametrize("mode", MODES)
def test_choices_of_mails_are_stored_and_shown(browser: Client, person: User, mode: str) -> None:
    chosen = {
        "notification_mails": mode,
        "mails_when_online": "on",
        "favourite_mails": "on",
        "mention_mails": "on",
    }
    assert browser.post(PAGE, chosen)["Location"] == PAGE
    page = browser.get(PAGE).content.decode()
    assert "Your choice has been saved." in page
    assert str(person.email) in page
    assert form_of(browser, PAGE) == chosen


def test_unchanged_values_are_not_written_and_other_preferences_are_kept(browser: Client, person: User) -> None:
    browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {"noindex": "on"})
    browser.post(PAGE, form_of(browser, PAGE) | {"reblog_mails": "on"})
    assert kept(person) == {"noindex": True, "reblog_mails": True, "refused_address": ""}
    browser.post(PREFERENCES, form_of(browser, PREFERENCES) | {"autoplay_gifs": "on"})
    assert kept(person)["reblog_mails"] is True


@pytest.mark.parametrize("mode", [None, "", "hourly", "SINGLE", "single\0", ["single", "weekly"]])
def test_an_unknown_choice_is_refused_and_changes_nothing(browser: Client, person: User, mode: Any) -> None:
    sent = form_of(browser, PAGE) | {"favourite_mails": "on", "notification_mails": mode}
    answer = browser.post(PAGE, {name: value for name, value in sent.items() if value is not None})
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"notification_mails"}
    assert 'class="errorlist"' in answer.content.decode()
    assert kept(person) == {}


def test_unknown_fields_are_ignored(browser: Client, person: User) -> None:
    sent = form_of(browser, PAGE) | {"poll_mails": "on", "staff_mails": "", "refused_address": "x"}
    assert browser.post(PAGE, sent).status_code == 303
    assert kept(person) == {"refused_address": ""}


def test_an_address_that_refused_mails_is_reported_and_retried_after_saving(browser: Client, person: User) -> None:
    sentence = "rejected this address"
    assert sentence not in browser.get(PAGE).content.decode()
    User.objects.filter(id=person.id).update(preferences={"refused_address": person.email})
    assert sentence in browser.get(PAGE).content.decode()
    browser.post(PAGE, form_of(browser, PAGE))
    assert kept(person) == {"refused_address": ""}
    assert sentence not in browser.get(PAGE).content.decode()


def test_notification_mails_are_chosen_only_for_ones_own_usable_account(
    browser: Client, client: Client, person: User
) -> None:
    assert client.get(PAGE)["Location"].startswith("/auth/sign_in")
    assert client.post(PAGE, {"notification_mails": "none"})["Location"].startswith("/auth/sign_in")
    disable(by=OPERATOR, user=person)
    assert browser.post(PAGE, {"notification_mails": "none"}).status_code in (303, 403)
    assert kept(person) == {}


def test_the_page_is_in_the_navigation_and_names_every_type(browser: Client) -> None:
    assert f'href="{PAGE}"' in browser.get(PREFERENCES).content.decode()
    assert len(browser.get(PAGE).context["form"].types()) == len(MAILED_TYPES)
