"""Tests of the front page for visitors: it shows the owner's texts and pictures, and only accounts that are discoverable."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AccountStat, SiteSetting
from accounts.queries.site_settings import ACCESS_SETTING
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from timelines.queries.public import forget_access

pytestmark = pytest.mark.django_db


def someone(name: str, text: str, *, discoverable: bool = True, **post: Any) -> None:
    user = make_user(name, discoverable=discoverable)
    AccountStat.objects.update_or_create(account=user.account, defaults={"followers_count": 1, "statuses_count": 1})
    make_status(user.account, text, **post)


def set_site(key: str, value: Any) -> None:
    SiteSetting.objects.update_or_create(key=key, defaults={"value": value})
    forget_access()


def test_visitors_see_the_name_and_contact_of_the_server_and_discoverable_accounts(client: Client) -> None:
    someone("anna", "Tulips are out")
    someone("bert", "Nobody shall find this", discoverable=False)
    someone("cleo", "For followers alone", visibility="private")
    set_site("site_title", "The Garden")
    set_site("site_short_description", "For gardeners")
    set_site("site_contact_username", "bert")
    page = client.get("/").content.decode()
    assert "<bdi>The Garden</bdi></h1>" in page
    assert "For gardeners" in page
    assert 'href="/@bert"' in page, "the contact account is shown even if it is not discoverable"
    assert 'alt="anna @anna@social.localhost"' in page
    assert 'alt="bert' not in page
    # Without trends the newest public posts of discoverable accounts are shown.
    assert "Tulips are out" in page
    assert "Nobody shall find this" not in page
    assert "For followers alone" not in page
    assert "3 people" in page
    explore = client.get("/explore").content.decode()
    assert "Tulips are out" in explore
    assert "Nobody shall find this" not in explore
    closed = {"live_feeds": {"local": "authenticated", "remote": "authenticated"}}
    set_site(ACCESS_SETTING, closed)
    assert "Tulips are out" not in client.get("/").content.decode()
    assert "Tulips are out" not in client.get("/explore").content.decode()


def test_the_owner_chooses_what_visitors_see(client: Client) -> None:
    someone("anna", "Tulips are out")
    for landing, is_there in (("about", False), ("local_feed", True), ("trends", True)):
        set_site("site_landing_page", landing)
        page = client.get("/").content.decode()
        assert ("Tulips are out" in page) is is_there, landing
        assert ('alt="anna' in page) is is_there, landing


def test_a_profile_page_describes_the_server_to_visitors_only(client: Client) -> None:
    user = make_user("anna")
    assert '<aside class="beside card"' in client.get("/@anna").content.decode()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert '<aside class="beside card"' not in client.get("/@anna").content.decode()


def test_the_front_page_takes_the_same_queries_however_many_people_and_posts(client: Client) -> None:
    someone("anna0", "first")
    client.get("/")
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get("/")
    for number in range(1, 8):
        someone(f"anna{number}", f"post {number}")
    client.get("/")
    with CaptureQueriesContext(connection) as many:
        page = client.get("/").content.decode()
    assert page.count('<li><a href="/@anna') == 8
    assert len(many) == len(few)
    assert len(many) <= 25, [query["sql"][:90] for query in many.captured_queries]
