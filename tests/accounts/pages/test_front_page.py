"""Tests of the front page for new users: it offers apps, the profile and accounts to follow."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import AccountStat, Follow, FollowRequest, SiteSetting, User
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db


def suggest(name: str, **values: Any) -> int:
    account = make_account(name, discoverable=True, **values)
    AccountStat.objects.update_or_create(account=account, defaults={"followers_count": 3})
    return account.id


def test_links_to_apps_contain_the_domain_and_suggested_accounts_can_be_followed(browser: Client, person: User) -> None:
    suggest("cleo")
    suggest("dana", locked=True)
    apps = browser.get("/apps").content.decode()
    text = browser.get("/").content.decode()
    assert 'href="https://phanpy.social/#/login?instance=social.localhost&amp;submit=1"' in apps
    assert 'href="https://elk.zone/social.localhost/public/local"' in apps
    assert 'href="/settings/profile"' in text
    ids = re.findall(r'name="id" value="(\d+)"', text)
    assert len(ids) == 2
    for number in [*ids, ids[0]]:
        assert browser.post("/welcome/follow", {"id": number})["Location"] == "/"
    assert Follow.objects.filter(account=person.account).count() == 1
    assert FollowRequest.objects.filter(account=person.account).count() == 1
    again = browser.get("/").content.decode()
    assert 'name="id"' not in again, "followed accounts are no longer suggested"


def test_following_a_suggestion_needs_a_known_account_and_a_signed_in_user(
    browser: Client, person: User, client: Client
) -> None:
    for wrong in ("", "abc", "1", str(2**63)):
        assert browser.post("/welcome/follow", {"id": wrong}).status_code == 404
    browser.post("/welcome/follow", {"id": person.account_id})
    assert client.post("/welcome/follow", {"id": suggest("cleo")})["Location"].startswith("/auth/sign_in")
    assert browser.get("/welcome/follow")["Location"] == "/", "after signing in the suggestions are shown again"
    assert not Follow.objects.exists()


def test_suggestions_cost_the_same_however_many(browser: Client, django_assert_max_num_queries: Any) -> None:
    browser.get("/")
    for number in range(7):
        suggest(f"cleo{number}")
    with django_assert_max_num_queries(16):
        text = browser.get("/").content.decode()
    assert text.count('name="id"') == 5


def test_a_long_name_of_the_server_is_broken_between_its_words(client: Client, settings: Any) -> None:
    name = "nachbarschaftsnetz.<b>.example"
    settings.LOCAL_DOMAIN = name
    page = client.get("/").content.decode()
    assert page.count("nachbarschaftsnetz<wbr>.&lt;b&gt;<wbr>.example</bdi>") == 4
    assert '<h1 class="long">' in page
    SiteSetting.objects.create(key="site_title", value="A net of many neighbours")
    page = client.get("/").content.decode()
    assert "<h1><bdi>A net of many neighbours</bdi></h1>" in page
