"""Tests that a link in a profile is verified only if its page links back (security row 3)."""

import threading
from typing import Any

import pytest

from accounts.models import Account, User
from accounts.policies.profile_links import link_to_verify, links_back
from accounts.services.profile_links import remember_verified
from social.kernel.outbox import OutboxRow, drain
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api
from tests.support.site import Site
from tests.support.work import work

ME = "http://social.localhost/@ann"


def set_fields(api: Api, *values: str) -> None:
    fields = [{"name": f"Field {number}", "value": value} for number, value in enumerate(values)]
    assert api.patch("/api/v1/profile", {"fields_attributes": fields}).status_code == 200


def verified(api: Api) -> list[bool]:
    shown = api.get("/api/v1/profile").json()
    assert [field["verified_at"] for field in shown["fields"]] == [
        field["verified_at"] for field in Api().get(f"/api/v1/accounts/{shown['id']}").json()["fields"]
    ]
    return [field["verified_at"] is not None for field in shown["fields"]]


def test_a_page_that_links_back_is_verified_and_stays_so(ann: User, api: Api, site: Site) -> None:
    good = site.show("/me", f'<p>I am <a href="{ME}" rel="nofollow ME">here</a></p>')
    head = site.show("/head", f"<link href={ME.upper()} rel=me>")
    other = site.show("/other", '<a rel="me" href="http://social.localhost/@bob">Bob</a>')
    set_fields(api, good, head, other, "words")
    assert verified(api) == [False] * 4
    version = Account.objects.get(id=ann.account_id).version
    work()
    assert verified(api) == [True, True, False, False]
    assert Account.objects.get(id=ann.account_id).version == version + 1
    site.pages.clear()
    site.asked.clear()
    set_fields(api, good, "words")
    work()
    assert (verified(api), site.asked) == ([True, False], [])


def test_links_are_verified_again_when_the_fields_change(api: Api, site: Site) -> None:
    link = site.show("/me", "nothing yet")
    set_fields(api, link)
    work()
    assert verified(api) == [False]
    site.show("/me", f'<a rel="me" href="{ME}">me</a>')
    set_fields(api, link)
    work()
    assert verified(api) == [False]
    set_fields(api, link, "more")
    work()
    assert verified(api) == [True, False]


def test_slow_pages_are_fetched_at_the_same_time_and_delay_no_other_fetch(ann: User, api: Api, site: Site) -> None:
    """Each of the four pages, two per account, responds only after all four have been requested."""
    bob = make_user("bob")
    set_fields(api, *(site.show(f"/ann/{number}", f'<a rel="me" href="{ME}">me</a>') for number in range(2)))
    theirs = Api(make_token(bob))
    link = f'<a rel="me" href="{ME.replace("ann", "bob")}">me</a>'
    set_fields(theirs, *(site.show(f"/bob/{number}", link) for number in range(2)))
    all_asked = threading.Barrier(4)
    site.before_answer = lambda: all_asked.wait(5)
    drain("fetches")
    assert site.asked == []
    work()
    assert (verified(api), verified(theirs)) == ([True, True], [True, True])


def test_row_03_a_redirect_or_an_error_verifies_no_link(api: Api, site: Site) -> None:
    mine = f'<a rel="me" href="{ME}">me</a>'
    good = site.show("/mine", mine)
    moved = site.show("/redirect?to=/mine", mine, 302, Location=good)
    missing = site.show("/missing", mine, 404)
    text = site.show("/text", mine, **{"Content-Type": "text/plain"})
    large = site.show("/large", "x" * 2**20 + mine)
    for link in (moved, missing, text, large, "http://127.0.0.1:1/"):
        set_fields(api, link)
        work()
        assert verified(api) == [False], link
    assert "/mine" not in site.asked


def test_row_03_only_https_links_are_fetched(api: Api, site: Site, settings: Any) -> None:
    link = site.show("/me", f'<a rel="me" href="{ME}">me</a>')
    settings.FEDERATION_LOOPBACK = False
    set_fields(api, link)
    work()
    assert (verified(api), site.asked) == ([False], [])


@pytest.mark.parametrize(
    "value",
    [
        "see https://example.org/",
        "https://example.org/ ",
        "https://example.org@evil.example/",
        "https://example.org:443@evil.example/",
        "https://example.org\u200b/",
        "https://example.org/\u2060page",
        "https://ex\u0430mple.org/",
        "https://example.org/#fragment",
        "https://example.org\\@evil.example/",
        "HTTPS://EXAMPLE.org/",
        "javascript:alert(1)",
        "ftp://example.org/",
        "",
    ],
)
def test_row_03_a_field_that_is_not_exactly_a_url_is_never_fetched(value: str) -> None:
    assert link_to_verify(value) is None


def test_row_03_an_address_is_requested_exactly_as_it_is_shown() -> None:
    long = "https://example.org/" + "a" * 200
    assert [link_to_verify(value) for value in ("https://example.org", "https://example.org/a?b=c", long)] == [
        "https://example.org/",
        "https://example.org/a?b=c",
        long,
    ]


@pytest.mark.parametrize(
    "page",
    [
        f'<!-- <a rel="me" href="{ME}">me</a> -->',
        f'<script>"<a rel=me href={ME}>"</script>',
        f"<textarea><a rel=me href={ME}></textarea>",
        f"<title><link rel=me href={ME}></title>",
        f'<template><a rel="me" href="{ME}"></a></template>',
        f'<a href="{ME}">without rel</a>',
        f'<a rel="menu" href="{ME}">another rel</a>',
        f'<a rel="me" href="{ME}/1">longer</a>',
        f'<a rel="me" href="{ME}nie">longer</a>',
        '<a rel="me" href="http://social.localhost.evil.example/@ann">another host</a>',
        '<a rel="me" href="/@ann">relative</a>',
        f'<p title="<a rel=me href={ME}>">',
        f'<div rel="me" href="{ME}">',
        f"{ME}",
        "",
    ],
)
def test_row_03_only_a_link_in_the_page_to_exactly_this_profile_verifies(page: str) -> None:
    assert not links_back(page, [ME])
    assert links_back(f'{page}<p><a class="x" rel="me" href="{ME}">me</a>', [ME])


def test_no_page_is_fetched_for_fields_without_links(api: Api, db: None) -> None:
    set_fields(api, "words", "see https://example.org/")
    assert not OutboxRow.objects.filter(event="ProfileLinksChanged").exists()


def test_erasing_an_account_while_its_pages_are_fetched_causes_no_error(ann: User) -> None:
    remember_verified(ann.account_id + 1, ["https://example.com/"])
    assert not Account.objects.filter(id=ann.account_id + 1).exists()
