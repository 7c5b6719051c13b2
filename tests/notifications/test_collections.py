"""Tests of notifications about being added to a collection, and about edits of the collection."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.collections.models import CollectionItem
from accounts.events import CollectionItemAdded
from notifications.models import Notification
from notifications.services.collections import notify_added
from tests.notifications.people import Person

pytestmark = pytest.mark.django_db
FULL: dict[str, Any] = {
    "name": "Gardens",
    "description": "People who grow things",
    "sensitive": False,
    "discoverable": True,
}


class Owner(Person):
    """A user who adds other accounts to collections."""

    def make(self, *members: Person, **more: Any) -> dict[str, Any]:
        answer = self.api.post("/api/v1/collections", FULL | {"account_ids": [str(one.id) for one in members]} | more)
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["collection"]
        return found

    def change(self, collection: dict[str, Any], **values: Any) -> None:
        answer = self.api.patch(f"/api/v1/collections/{collection['id']}", values)
        assert answer.status_code == 200, answer.content


@pytest.fixture
def ann() -> Owner:
    return Owner("ann", discoverable=True)


@pytest.fixture
def bea() -> Person:
    return Person("bea", discoverable=True)


@pytest.fixture
def cat() -> Person:
    return Person("cat", discoverable=True)


def test_accounts_added_to_a_collection_are_notified(ann: Owner, bea: Person, cat: Person) -> None:
    gardens = ann.make(bea)
    added = ann.api.post(f"/api/v1/collections/{gardens['id']}/items", {"account_id": str(cat.id)})
    assert added.status_code == 200, added.content
    for person, count in ((bea, 2), (cat, 2)):
        (one,) = person.notifications()
        assert (one["type"], one["account"]["acct"]) == ("added_to_collection", "ann")
        assert one["group_key"] == f"ungrouped-{one['id']}"
        assert (one["collection"]["id"], one["collection"]["item_count"]) == (gardens["id"], count)
    assert ann.types() == []


def test_only_a_new_name_or_description_of_a_collection_notifies_once_for_each_edit(ann: Owner, bea: Person) -> None:
    gardens = ann.make(bea)
    assert bea.types() == ["added_to_collection"]
    bea.api.post("/api/v1/notifications/clear")
    ann.change(gardens, discoverable=False, sensitive=True, language="de", name="Gardens")
    assert bea.types() == []
    ann.change(gardens, name="Parks")
    (first,) = bea.notifications()
    assert (first["type"], first["account"]["acct"], first["collection"]["name"]) == (
        "collection_update",
        "ann",
        "Parks",
    )
    ann.change(gardens, description="Green places")
    (second,) = bea.notifications()
    assert int(second["id"]) > int(first["id"]), "a new notification replaces the old one"


def test_accounts_removed_from_a_collection_are_not_notified_and_lose_its_notifications(
    ann: Owner, bea: Person, cat: Person
) -> None:
    gardens = ann.make(bea, cat)
    ann.change(gardens, name="Parks")
    assert bea.types() == cat.types() == ["collection_update", "added_to_collection"]
    of_bea, of_cat = (item["id"] for item in gardens["items"])
    items = f"/api/v1/collections/{gardens['id']}/items"
    assert bea.api.post(f"{items}/{of_bea}/revoke").status_code == 200
    assert ann.api.delete(f"{items}/{of_cat}").status_code == 200
    ann.change(gardens, name="Woods")
    assert bea.types() == cat.types() == []
    assert ann.api.post(items, {"account_id": str(cat.id)}).status_code == 200
    assert cat.types() == ["added_to_collection"]


def test_notifications_of_a_deleted_collection_are_deleted(ann: Owner, bea: Person) -> None:
    gardens = ann.make(bea)
    ann.change(gardens, name="Parks")
    assert len(bea.notifications()) == 2
    assert ann.api.delete(f"/api/v1/collections/{gardens['id']}").status_code == 200
    assert not Notification.objects.exists()


def test_an_account_that_mutes_the_owner_is_not_notified_of_a_collection(ann: Owner, bea: Person) -> None:
    bea.api.post(f"/api/v1/accounts/{ann.id}/mute")
    ann.change(ann.make(bea), name="Parks")
    assert bea.notifications() == []


def test_an_item_deleted_before_its_event_is_handled_notifies_nobody(ann: Owner, bea: Person) -> None:
    gardens = ann.make(bea)
    item = CollectionItem.objects.get()
    notify_added([CollectionItemAdded(collection_id=int(gardens["id"]), item_id=item.id)])
    assert bea.types() == ["added_to_collection"], "a repeated event notifies once"
    item.delete()
    Notification.objects.all().delete()
    notify_added([CollectionItemAdded(collection_id=int(gardens["id"]), item_id=item.id or 0)])
    assert bea.types() == []


def test_a_page_of_collections_costs_as_many_statements_whatever_their_number(ann: Owner, bea: Person) -> None:
    def cost(number: int) -> int:
        with CaptureQueriesContext(connection) as caught:
            answer = bea.api.get("/api/v1/notifications", {"limit": number})
        assert len(answer.json()) == number
        return len(caught)

    for number in range(6):
        ann.make(bea, name=f"Collection {number}")
    bea.notifications()
    assert cost(2) == cost(6)
