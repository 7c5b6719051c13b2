"""Tests that a form sent twice, by a double click or the Back button, creates one row (on pages for members and for staff)."""

import ast
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import Model
from django.test import Client

from accounts.collections.models import Collection
from accounts.models import Invite, User
from accounts.transfers.models import Import
from moderation.blocklists.models import Blocklist
from moderation.models import Report, Webhook
from statuses.models import Filter
from tests.factories.accounts import make_account, make_user
from timelines.models import List


def _list_of_accounts() -> dict[str, Any]:
    return {"kind": "follows", "mode": "merge", "file": SimpleUploadedFile("f.csv", b"bea@social.localhost\n")}


WEBHOOK = {"url": "https://example.org/hook", "events": "account.created", "enabled": "on", "template": ""}
BLOCKLIST = {
    "name": "theirs",
    "url": "https://example.org/list",
    "mode": "draft",
    "follows_limit": "0",
    "suspend_as": "suspend",
    "silence_as": "silence",
    "noop_as": "ignore",
    "content_type": "text/csv",
}
#: The page of each form, the model of the created row, the fields, and the role of the sender.
FORMS: list[tuple[str, type[Model], Callable[[], dict[str, Any]], str | None]] = [
    ("/lists", List, lambda: {"title": "Friends", "replies_policy": "list"}, None),
    ("/collections", Collection, lambda: {"name": "Gardeners", "discoverable": "on"}, None),
    (
        "/filters/new",
        Filter,
        lambda: {"title": "Film", "action": "warn", "in_home": "on", "keyword_new_1": "film"},
        None,
    ),
    ("/settings/imports", Import, _list_of_accounts, None),
    ("/report/{bea}", Report, lambda: {"category": "spam", "comment": "They shout"}, None),
    ("/invites", Invite, lambda: {"comment": "For the choir"}, "Owner"),
    ("/admin/accounts/invite/add/", Invite, lambda: {"comment": "For the choir"}, "Owner"),
    ("/admin/moderation/webhook/add/", Webhook, lambda: WEBHOOK, "Owner"),
    ("/admin/moderation/blocklist/add/", Blocklist, lambda: BLOCKLIST, "Owner"),
]


def browser_of(user: User) -> Client:
    """Return a browser in which the user is signed in."""
    browser = Client()
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


def token_of(browser: Client, path: str) -> dict[str, str]:
    """Return the CSRF token in the forms of a page."""
    found = re.findall(r'name="(csrfmiddlewaretoken)" value="([^"]+)"', browser.get(path).content.decode())
    return dict(found[-1:])


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "model", "values", "role"), FORMS, ids=[form[0] for form in FORMS])
def test_a_form_that_is_sent_twice_creates_one_row(path: str, model: Any, values: Any, role: str | None) -> None:
    path = path.format(bea=make_account("bea").id)
    browser = browser_of(make_user("ann", role=role))
    token = token_of(browser, path)
    if "admin" in path and "invite" in path:
        token[browser.get(path).context["confirmed"]] = "yes"
    if path in ("/lists", "/collections", "/filters/new"):
        refused = browser.post(path, {**values(), "title": "", "name": "", **token})
        assert refused.status_code == 422
    first, second = (browser.post(path, {**values(), **token}) for _ in range(2))
    assert first.status_code in (302, 303), first.content.decode()[-2000:]
    assert first["Location"] == second["Location"], "the second click leads to the page that the first one created"
    assert model.objects.count() == 1
    other = browser_of(make_user("bob", role=role))
    # names and addresses of blocklists are unique
    theirs = {"name": "ours", "url": "https://example.org/ours"} if model is Blocklist else {}
    assert other.post(path, {**values(), **theirs, **token}).status_code in (302, 303)
    assert model.objects.count() == 2, "a form of one user does not count for another"


@pytest.mark.django_db
def test_another_page_or_another_text_creates_another_row() -> None:
    browser = browser_of(make_user("ann"))
    values = {"title": "Friends", "replies_policy": "list"} | token_of(browser, "/lists")
    for sent in (values, values | token_of(browser, "/lists"), values | {"title": "Foes"}):
        assert browser.post("/lists", sent).status_code == 303
    assert [found.title for found in List.objects.order_by("id")] == ["Friends", "Friends", "Foes"]


@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_clicks_create_one_list() -> None:
    ann = make_user("ann")
    browsers = [browser_of(ann) for _ in range(2)]
    values = {"title": "Friends", "replies_policy": "list", **token_of(browsers[0], "/lists")}

    def click(browser: Client) -> str:
        try:
            return str(browser.post("/lists", values)["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        places = set(pool.map(click, browsers))
    assert places == {f"/lists/{List.objects.get().id}"}


#: Services that create a second row when they are called twice.
CREATING = {"create_list", "create_collection", "create_filter", "create_invite", "file_report", "read_import"}
CREATING |= {"take_archive", "file_appeal"}


def test_views_that_create_rows_process_a_form_once() -> None:
    missing, found = [], set()
    for path in sorted(
        {*Path(settings.BASE_DIR).glob("[a-s]*/**/pages/*.py"), *Path(settings.BASE_DIR).glob("*/*/pages.py")}
    ):
        tree = ast.parse(path.read_text())
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        calls = {name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} for name, node in functions.items()}
        for name, node in functions.items():
            made = calls[name] | {inner for helper in calls[name] & functions.keys() for inner in calls[helper]}
            named = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if made & CREATING and not name.startswith("_"):
                found |= made & CREATING
                if "once" not in named:
                    missing.append(f"{path.name}: {name}")
    assert not missing
    assert len(found) >= 6
