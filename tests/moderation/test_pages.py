"""Tests of the public pages about this server."""

import pytest
from django.test import Client

from accounts.services.audit import write_setting
from moderation.models import InstanceRule
from social.kernel import clock
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db


def page(path: str, **query: str) -> str:
    answer = Client().get(path, query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_about_page_shows_the_texts_of_staff() -> None:
    boss = make_user("boss")
    for key, value in {
        "site_title": "The Garden",
        "site_short_description": "For people who <b>grow</b> things",
        "site_contact_username": "boss",
        "site_contact_email": "boss@example.com",
    }.items():
        write_setting(key, value)
    InstanceRule.objects.create(text="Be kind", hint="Always", translations={"de": {"text": "Sei freundlich"}})
    InstanceRule.objects.create(text="No weeds", withdrawn_at=clock.now())
    shown = page("/about")
    front = page("/")
    assert "<h1><bdi>The Garden</bdi></h1>" in front
    assert '<meta property="og:description" content="For people who grow things">' in front
    for words in ("The Garden", "For people who grow things", "Be kind", "Always", "mailto:boss@example.com"):
        assert words in shown
    assert f'href="{boss.account.page_url}"' in shown
    assert "No weeds" not in shown
    assert "Sei freundlich" in page("/about", lang="de")


def test_the_about_page_without_texts_of_staff_names_what_is_missing() -> None:
    shown = page("/about")
    assert "not written any rules yet" in shown
    assert "not said how to reach them" in shown


def test_the_actor_of_the_server_has_a_page() -> None:
    assert page("/about/more", instance_actor="true") == page("/about", instance_actor="true").replace(
        "/about?", "/about/more?"
    )


def test_the_privacy_page_names_a_contact() -> None:
    assert "/about" in page("/privacy-policy")
    write_setting("site_contact_email", "boss@example.com")
    assert "mailto:boss@example.com" in page("/privacy-policy")


def test_the_rules_can_be_read_before_signing_up() -> None:
    assert 'href="/about"' in page("/auth/sign_up")
