"""Tests of collections linked in posts, shown to permitted viewers (contract, entities "Status": `tagged_collections`)."""

from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account
from accounts.queries.relations import load_relations_of
from statuses.models import LinkedCollection, Status
from statuses.models.status import COLLECTIONS_LIMIT
from statuses.queries.marks import Marks
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present, present_statuses
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import block, edit, make_reblog, make_status
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.entities import check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"


def make_collection(owner: Account, *members: Account, state: str = ItemState.ACCEPTED, **values: Any) -> Collection:
    said = {"name": "Birds", "sensitive": False, "discoverable": True} | values
    made = Collection.objects.create(account=owner, **said)
    for member in members:
        CollectionItem.objects.create(collection=made, account=member, state=state)
    return made


def show(author: Account, *collections: Collection, **draft: Any) -> Status:
    """Create a post with links to collections.

    The tests' host has no public domain, so addresses on it only become links in Markdown.
    """
    return make_status(author, links_to(*collections), content_type="text/markdown", **draft)


def links_to(*collections: Collection) -> str:
    return " ".join(f"[See]({one.page_url})" for one in collections)


def linked(status: Status, reader: Account | None = None) -> list[dict[str, Any]]:
    """Return the collections of a post as the reader gets them."""
    entity = (Api() if reader is None else api_of(reader)).get(f"{STATUSES}/{status.id}").json()
    found: list[dict[str, Any]] = entity["tagged_collections"]
    return found


def numbers(status: Status, reader: Account | None = None) -> list[int]:
    return [int(one["id"]) for one in linked(status, reader)]


def test_a_post_that_links_to_the_page_or_id_of_a_collection_shows_the_collection(
    alice: Account, bob: Account, settings: Any
) -> None:
    settings.BASE_URL = "https://birds.social"
    mine, theirs = make_collection(alice, bob), make_collection(bob, discoverable=False)
    text = f"Look: {theirs.page_url} and {mine.object_uri}, twice {mine.page_url}"
    answer = api_of(alice).post(STATUSES, {"status": text})
    check("StatusOfUser", answer.json())
    assert [int(one["id"]) for one in answer.json()["tagged_collections"]] == [theirs.id, mine.id]
    status = Status.objects.get()
    (_theirs, shown) = linked(status)
    assert shown == Api().get(f"/api/v1/collections/{mine.id}").json()["collection"]
    assert [item["account_id"] for item in shown["items"]] == [str(bob.id)]


def test_a_link_written_as_markdown_counts_too(alice: Account) -> None:
    mine = make_collection(alice)
    assert numbers(show(alice, mine)) == [mine.id]


def test_the_former_id_of_a_collection_still_works_in_links(alice: Account, settings: Any) -> None:
    settings.BASE_URL = "https://birds.social"
    mine = make_collection(alice)
    assert numbers(make_status(alice, f"See https://birds.social/users/alice/collections/{mine.id}")) == [mine.id]


def test_a_remote_collection_is_found_by_its_page(alice: Account) -> None:
    zoe = make_remote("zoe")
    far = make_collection(zoe, uri="https://trees.social/c/1", url="https://trees.social/collections/1")
    assert numbers(make_status(alice, "See https://trees.social/collections/1")) == [far.id]
    assert numbers(make_status(alice, "See https://trees.social/c/1")) == [far.id]


def test_an_address_that_is_no_collection_of_this_server_is_an_ordinary_link(
    alice: Account, bob: Account, settings: Any
) -> None:
    settings.BASE_URL = "https://birds.social"
    mine = make_collection(alice)
    for address in (
        f"{mine.page_url}0",
        f"{mine.page_url}/more",
        f"{mine.page_url}?page=2",
        f"https://birds.social.evil.net/collections/{mine.id}",
        f"https://birds.social/users/{bob.username}/collections/{mine.id}",
        "https://trees.social/collections/1",
    ):
        assert numbers(make_status(alice, f"See {address}")) == [], address
    assert not LinkedCollection.objects.exists()


def test_an_edit_replaces_the_linked_collections(alice: Account) -> None:
    one, two = make_collection(alice), make_collection(alice, name="Trees")
    status = show(alice, one)
    edit(status, links_to(two))
    assert numbers(status) == [two.id]
    edit(status, "See nothing")
    assert numbers(status) == []


def test_boosts_and_quotes_show_the_linked_collections_of_the_post(alice: Account, bob: Account) -> None:
    mine = make_collection(alice)
    status = show(alice, mine, quote_approval_policy="public")
    boost = api_of(bob).get(f"{STATUSES}/{make_reblog(bob, status).id}").json()
    assert ([one["id"] for one in boost["reblog"]["tagged_collections"]], boost["tagged_collections"]) == (
        [str(mine.id)],
        [],
    )
    quoting = make_status(bob, "look", quoted_status_id=status.id)
    quoted = api_of(bob).get(f"{STATUSES}/{quoting.id}").json()["quote"]["quoted_status"]
    assert [one["id"] for one in quoted["tagged_collections"]] == [str(mine.id)]


def test_linked_collections_are_shown_as_the_reader_may_see_them(alice: Account, bob: Account, carol: Account) -> None:
    mine = make_collection(alice, bob)
    CollectionItem.objects.create(collection=mine, account=make_user("shy").account, state=ItemState.PENDING)
    status = show(make_user("writer").account, mine)

    def seen(reader: Account | None) -> list[int]:
        return [one["item_count"] for one in linked(status, reader)]

    assert (seen(alice), seen(carol), seen(None)) == ([2], [1], [1])
    block(carol, bob)
    assert (seen(carol), seen(bob)) == ([0], [1])
    block(alice, bob)
    assert (seen(bob), seen(None)) == ([], [1]), "viewers who may not open the collection do not see it"
    Account.objects.filter(id=bob.id).update(suspended_at=alice.created_at)
    assert seen(alice) == [1]
    Account.objects.filter(id=alice.id).update(suspended_at=alice.created_at)
    assert seen(carol) == []


def test_posts_no_longer_show_a_deleted_collection(alice: Account) -> None:
    mine = make_collection(alice)
    status = show(alice, mine)
    assert api_of(alice).delete(f"/api/v1/collections/{mine.id}").status_code == 200
    assert numbers(status) == []


def test_at_most_ten_collections_are_shown_with_a_post(alice: Account, settings: Any) -> None:
    settings.BASE_URL = "https://birds.social"
    many = [make_collection(alice) for _number in range(COLLECTIONS_LIMIT + 2)]
    status = make_status(alice, " ".join(one.page_url for one in many))
    assert numbers(status) == [one.id for one in many[:COLLECTIONS_LIMIT]]


def test_a_page_of_posts_with_collections_takes_as_many_statements_whatever_its_size(
    alice: Account, bob: Account
) -> None:
    def statements(size: int) -> int:
        posts = [show(bob, make_collection(make_user().account, alice)) for _time in range(size)]
        with CaptureQueriesContext(connection) as captured:
            assert len(present_statuses([post.id for post in posts], alice.id)) == size
        return len(captured.captured_queries)

    statements(1)
    assert statements(2) == statements(15)


def test_a_page_loaded_for_a_stream_shows_each_reader_their_own_view_of_collections(
    alice: Account, bob: Account, carol: Account
) -> None:
    mine = make_collection(alice, carol)
    status = show(alice, mine)
    block(bob, carol)
    block(alice, carol)
    (row,) = load_posts([status.id])
    page = fill(of_rows([row], 0))
    readers = load_relations_of({bob.id, carol.id}, page.related_ids(row))

    def shown(reader: Account) -> list[int]:
        seen = page.seen_by(reader.id, row, Marks(), readers.get(reader.id))
        return [one["item_count"] for one in orjson.loads(orjson.dumps(present(seen)[0]))["tagged_collections"]]

    assert [one["item_count"] for one in orjson.loads(orjson.dumps(present(page)[0]))["tagged_collections"]] == [1]
    assert (shown(bob), shown(carol)) == ([0], [])
