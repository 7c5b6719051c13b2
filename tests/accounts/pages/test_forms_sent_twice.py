"""A form that is sent twice, by a double click or by Back, creates one thing (pages of members)."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client

from accounts.collections.models import Collection
from statuses.models import Filter
from tests.factories.accounts import make_user
from timelines.models import List

FORMS: list[tuple[str, type[Model], dict[str, Any]]] = [
    ("/lists", List, {"title": "Friends", "replies_policy": "list"}),
    ("/collections", Collection, {"name": "Gardeners", "discoverable": "on"}),
    ("/filters/new", Filter, {"title": "Films", "action": "warn", "in_home": "on", "keyword_new_1": "film"}),
]


def form_of(browser: Client, path: str) -> dict[str, str]:
    """The key in the page's form."""
    page = browser.get(path).content.decode()
    return dict(re.findall(r'name="(form_key)" value="([^"]+)"', page))


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "model", "values"), FORMS)
def test_a_form_that_is_sent_twice_creates_one_thing(path: str, model: Any, values: dict[str, Any]) -> None:
    browser = Client()
    browser.force_login(make_user("ann"), backend="allauth.account.auth_backends.AuthenticationBackend")
    key = form_of(browser, path)
    refused = browser.post(path, {**values, "title": "", "name": "", **key})
    assert refused.status_code == 422
    first, second = (browser.post(path, {**values, **key}) for _ in range(2))
    assert first["Location"] == second["Location"], "the second click leads to what the first has created"
    assert model.objects.count() == 1
    browser.post(path, {**values, **form_of(browser, path)})
    assert model.objects.count() == 2, "another form creates another one"
    other = Client()
    other.force_login(make_user("bob"), backend="allauth.account.auth_backends.AuthenticationBackend")
    assert other.post(path, {**values, **key}).status_code == 302 or path == "/filters/new"
    assert model.objects.count() == 3, "a key is its person's"


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_create_one_list() -> None:
    browsers = [Client() for _ in range(2)]
    ann = make_user("ann")
    for browser in browsers:
        browser.force_login(ann, backend="allauth.account.auth_backends.AuthenticationBackend")
    values = {"title": "Friends", "replies_policy": "list", **form_of(browsers[0], "/lists")}

    def click(browser: Client) -> str:
        try:
            return str(browser.post("/lists", values)["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        places = set(pool.map(click, browsers))
    assert places == {f"/lists/{List.objects.get().id}"}
