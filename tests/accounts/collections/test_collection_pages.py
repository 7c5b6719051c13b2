"""Tests of the pages on which users create, fill, find and leave collections."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import User
from accounts.services.blocking import block_account
from tests.factories.accounts import make_account, make_user
from tests.support.client import signed_in
from tests.support.federation_server import needs_federation

pytestmark = [pytest.mark.django_db, needs_federation]
HTML = {"Accept": "text/html"}


@pytest.fixture
def ann() -> User:
    return make_user("ann", discoverable=True)


@pytest.fixture
def browser(ann: User) -> Client:
    return signed_in(ann)


def page(browser: Client, path: str) -> str:
    answer = browser.get(path, headers=HTML)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store"), path
    return answer.content.decode()


def people(text: str) -> set[str]:
    return set(re.findall(r"@(\w+)@", text.partition("<main")[2]))


def test_a_collection_is_created_filled_changed_and_deleted(ann: User, browser: Client) -> None:
    bea = make_user("bea", discoverable=True)
    refused = browser.post("/collections", {"name": ""})
    assert refused.status_code == 422
    made = browser.post(
        "/collections", {"name": "Good <b>", "description": "people", "discoverable": "on", "tag_name": "#Art"}
    )
    found = Collection.objects.get()
    assert (made["Location"], found.discoverable, found.sensitive) == (f"/collections/{found.id}", True, False)
    edit = f"/collections/{found.id}/edit"
    for _time in range(2):
        answer = browser.post(edit, {"add": "@bea", "next": edit})
        assert (answer.status_code, answer["Location"]) == (303, f"{edit}#people")
    assert [item.account_id for item in CollectionItem.objects.all()] == [bea.account_id]
    browser.post(edit, {"add": "@nobody@nowhere.example", "next": edit})
    assert "does not know an account with this address" in page(browser, edit)
    text = page(browser, f"/collections/{found.id}")
    assert people(text) == {"ann", "bea"}
    assert "Good &lt;b&gt;" in text
    assert f'action="/people/{bea.account_id}/act"' in text, "the accounts in the collection can be followed"
    browser.post(edit, {"name": "Better", "description": "people", "tag_name": "", "sensitive": "on"})
    found.refresh_from_db()
    assert (found.name, found.discoverable, found.sensitive, found.tag.name if found.tag else "") == (
        "Better",
        False,
        True,
        "art",
    )
    assert "Better" in page(browser, "/collections")
    visitor = Client().get(f"/collections/{found.id}", headers=HTML).content.decode()
    assert "/act" not in visitor
    stranger = Client()
    stranger.force_login(bea)
    assert "Better" in page(stranger, "/collections"), "members see collections that contain them"
    for path in ("edit", "delete"):
        assert stranger.get(f"/collections/{found.id}/{path}").status_code == 404
        assert stranger.post(f"/collections/{found.id}/{path}", {"name": "Mine"}).status_code == 404
    for _time in range(2):
        assert browser.post(edit, {"remove": str(bea.account_id), "next": edit}).status_code == 303
    assert not CollectionItem.objects.exists()
    assert browser.post(f"/collections/{found.id}/delete")["Location"] == "/collections"
    assert not Collection.objects.exists()


def test_collections_of_others_can_be_left_and_their_owner_added_to_ones_own(ann: User, browser: Client) -> None:
    bea, shy = make_user("bea", discoverable=True), make_account("shy", discoverable=False)
    theirs = Collection.objects.create(account=bea.account, name="Of bea", sensitive=False, discoverable=True)
    Collection.objects.create(account=bea.account, name="Hidden", sensitive=False, discoverable=False)
    mine = Collection.objects.create(account=ann.account, name="Mine", sensitive=False, discoverable=True)
    CollectionItem.objects.create(collection=theirs, account=ann.account)
    path = f"/people/{bea.account_id}/collections"
    text = page(browser, path)
    assert "Of bea" in text
    assert "Hidden" not in text
    assert f'href="{path}"' in page(browser, "/@bea")
    for act, kept in (("add", 1), ("remove", 0)):
        for _time in range(2):
            answer = browser.post(path, {act: str(mine.id), "next": path})
            assert (answer.status_code, answer["Location"]) == (303, path)
        assert CollectionItem.objects.filter(collection=mine).count() == kept
    other = f"/people/{shy.id}/collections"
    browser.post(other, {"add": str(mine.id), "next": other})
    assert "does not allow you to add it to collections" in page(browser, other)
    assert browser.post(path, {"add": str(theirs.id)}).status_code == 404, (
        "users cannot add accounts to collections of others"
    )
    page_of_one = f"/collections/{theirs.id}"
    assert "Leave the collection" in page(browser, page_of_one)
    assert browser.post(f"{page_of_one}/leave", {"next": page_of_one})["Location"] == page_of_one
    assert CollectionItem.objects.get().state == ItemState.REVOKED
    assert "Leave the collection" not in page(browser, page_of_one)
    assert browser.post(f"{page_of_one}/leave").status_code == 404
    counts = []
    for size in (1, 5):
        for number in range(size):
            member = make_account(f"m{size}{number}", discoverable=True)
            CollectionItem.objects.create(collection=theirs, account=member)
        with CaptureQueriesContext(connection) as queries:
            page(browser, page_of_one)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    block_account(account=bea.account, target=ann.account)
    assert browser.get(page_of_one, headers=HTML).status_code == 403
