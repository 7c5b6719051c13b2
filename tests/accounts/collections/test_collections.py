"""Tests of creating, changing, joining, leaving and showing collections (contract, parameters and entities "Collections")."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.collections.models import Collection, CollectionItem
from accounts.models import Account, Role, User
from social.kernel import clock
from tests.factories.accounts import make_account, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
COLLECTIONS = "/api/v1/collections"
FULL: dict[str, Any] = {
    "name": "Gardens",
    "description": "People who grow things",
    "language": "en",
    "sensitive": False,
    "discoverable": True,
}


@pytest.fixture
def owner() -> User:
    return make_user("ann")


@pytest.fixture
def api(owner: User) -> Api:
    return Api(make_token(owner))


@pytest.fixture
def bea() -> User:
    return make_user("bea", discoverable=True)


def made(api: Api, **more: Any) -> dict[str, Any]:
    answer = api.post(COLLECTIONS, FULL | more)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["collection"]
    return found


def test_a_collection_is_made_with_its_accounts(api: Api, owner: User, bea: User) -> None:
    entity = made(api, tag_name="# Gardens", account_ids=[str(bea.account_id)])
    item = entity["items"][0]
    assert item == {
        "id": item["id"],
        "state": "accepted",
        "created_at": item["created_at"],
        "account_id": str(bea.account_id),
    }
    number = entity["id"]
    assert entity == FULL | {
        "id": number,
        "uri": f"http://social.localhost/ap/users/{owner.account_id}/collections/{number}",
        "account_id": str(owner.account_id),
        "local": True,
        "url": f"http://social.localhost/collections/{number}",
        "item_count": 1,
        "created_at": entity["created_at"],
        "updated_at": entity["updated_at"],
        "tag": {"name": "gardens", "url": "http://social.localhost/tags/gardens"},
        "items": [item],
    }
    shown = Api().get(f"{COLLECTIONS}/{number}").json()
    assert shown["collection"] == entity
    assert [account["acct"] for account in shown["accounts"]] == ["ann", "bea"]


@pytest.mark.parametrize(
    ("sent", "sentence", "fields"),
    [
        (
            {},
            "Name can't be blank, Sensitive is not included in the list, Discoverable is not included in the list",
            ["name", "sensitive", "discoverable"],
        ),
        (FULL | {"name": " "}, "Name can't be blank", ["name"]),
        (FULL | {"name": "x" * 41}, "Name is too long (maximum is 40 characters)", ["name"]),
        (
            FULL | {"description": "x" * 101},
            "Description is too long (maximum is 100 characters)",
            ["description"],
        ),
        (FULL | {"language": "zz"}, "Language is invalid", ["language"]),
        (FULL | {"tag_name": "!"}, "Name is invalid, Display name is invalid", ["name", "display_name"]),
        (
            FULL | {"tag_name": ""},
            "Name can't be blank, Name is invalid, Display name is invalid",
            ["name", "display_name"],
        ),
        (FULL | {"account_ids": [str(n) for n in range(1, 27)]}, "This collection is full", ["base"]),
    ],
)
def test_errors_are_listed_by_field(api: Api, sent: dict[str, Any], sentence: str, fields: list[str]) -> None:
    answer = api.post(COLLECTIONS, sent)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["error"] == f"Validation failed: {sentence}"
    assert list(error["details"]) == fields
    assert not Collection.objects.exists()


def test_only_discoverable_accounts_can_be_put_into_collections(api: Api, owner: User, bea: User) -> None:
    shy, locked = make_account(), make_account(discoverable=True, locked=True)
    blocker = make_user(discoverable=True)
    Api(make_token(blocker)).post(f"/api/v1/accounts/{owner.account_id}/block")
    Account.objects.filter(id=owner.account_id).update(discoverable=True)
    collection = made(api)["id"]
    for refused in (shy.id, locked.id, blocker.account_id, owner.account_id):
        assert api.post(COLLECTIONS, FULL | {"account_ids": [str(refused)]}).status_code == 403
        assert api.post(f"{COLLECTIONS}/{collection}/items", {"account_id": str(refused)}).status_code == 403
    for unknown in ("1", "x"):
        assert api.post(f"{COLLECTIONS}/{collection}/items", {"account_id": unknown}).status_code == 404
    for unknown in ("1", "x"):
        assert api.post(COLLECTIONS, FULL | {"account_ids": [unknown]}).status_code == 404
    # The accounts are checked before the texts.
    assert api.post(COLLECTIONS, {"account_ids": ["1"]}).status_code == 404
    assert api.post(COLLECTIONS, {"account_ids": [str(shy.id)]}).status_code == 403
    assert Collection.objects.count() == 1
    missing = api.post(f"{COLLECTIONS}/{collection}/items")
    assert (missing.status_code, missing.json()) == (422, {"error": "`account_id` parameter is missing"})


def test_a_role_limits_the_number_of_collections(api: Api, owner: User) -> None:
    Role.objects.filter(id=owner.role_id).update(collection_limit=1)
    made(api)
    answer = api.post(COLLECTIONS, FULL)
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["base"][0]["error"] == "ERR_TOO_MANY"


def test_an_account_that_left_a_collection_cannot_be_added_again(api: Api, bea: User) -> None:
    collection = made(api)["id"]
    items = f"{COLLECTIONS}/{collection}/items"
    item = api.post(items, {"account_id": str(bea.account_id)}).json()["collection_item"]
    again = api.post(items, {"account_id": str(bea.account_id)})
    assert (again.status_code, again.json()) == (422, {"error": "Validation failed: Account has already been taken"})
    stranger, member = Api(make_token(make_user())), Api(make_token(bea))
    assert stranger.post(f"{items}/{item['id']}/revoke").status_code == 403
    for _time in range(2):
        left = member.post(f"{items}/{item['id']}/revoke")
        assert (left.status_code, left.content) == (200, b"")
    assert api.get(f"{COLLECTIONS}/{collection}").json()["collection"]["item_count"] == 0
    assert api.delete(f"{items}/{item['id']}").status_code == 404, (
        "a removed item would no longer record that the account has left"
    )
    assert api.post(items, {"account_id": str(bea.account_id)}).status_code == 422


def test_the_owner_can_remove_accounts_and_add_them_again(api: Api, bea: User) -> None:
    entity = made(api, account_ids=[str(bea.account_id)])
    item = f"{COLLECTIONS}/{entity['id']}/items/{entity['items'][0]['id']}"
    assert Api(make_token(bea)).delete(item).status_code == 403
    assert api.delete(f"{COLLECTIONS}/1/items/{entity['items'][0]['id']}").status_code == 404
    assert (api.delete(item).status_code, api.delete(item).status_code) == (200, 404)
    answer = api.post(f"{COLLECTIONS}/{entity['id']}/items", {"account_id": str(bea.account_id)})
    assert answer.json()["collection_item"]["state"] == "accepted"


def test_a_collection_is_changed_by_its_owner_alone(api: Api, bea: User) -> None:
    path = f"{COLLECTIONS}/{made(api)['id']}"
    assert Api(make_token(bea)).patch(path, {"name": "Mine"}).status_code == 403
    assert api.patch(path, {"name": ""}).status_code == 422
    change = {"name": "Parks", "description": "", "language": "de", "sensitive": True, "tag_name": "two"}
    changed = api.patch(path, change | {"discoverable": False}).json()["collection"]
    assert {name: changed[name] for name in ("name", "description", "language", "sensitive", "discoverable")} == {
        "name": "Parks",
        "description": "",
        "language": "de",
        "sensitive": True,
        "discoverable": False,
    }
    assert changed["tag"]["name"] == "two"
    again = api.put(path, {"description": "By PUT", "language": None}).json()["collection"]
    assert (again["name"], again["description"], again["language"]) == ("Parks", "By PUT", None)
    assert api.patch(path).json()["collection"] == again
    assert api.put(path, {"description": None}).json()["collection"]["description"] == ""


def test_lists_show_discoverable_collections_to_others(api: Api, owner: User) -> None:
    hidden, shown = made(api, discoverable=False)["id"], made(api)["id"]
    path = f"/api/v1/accounts/{owner.account_id}/collections"
    assert [found["id"] for found in Api().get(path).json()["collections"]] == [shown]
    assert Api().get(f"{COLLECTIONS}/{hidden}").status_code == 200
    assert [found["id"] for found in api.get(path).json()["collections"]] == [shown, hidden]
    first = api.get(path, {"limit": 1})
    assert first["Link"] == f'<http://social.localhost{path}?limit=1&offset=1>; rel="next"'
    second = api.get(path, {"limit": 1, "offset": 1})
    assert [found["id"] for found in second.json()["collections"]] == [hidden]
    assert f'{path}?limit=1&offset=0>; rel="prev"' in second["Link"]


def test_only_the_account_itself_can_list_the_collections_that_contain_it(api: Api, owner: User, bea: User) -> None:
    entity = made(api, discoverable=False, account_ids=[str(bea.account_id)])
    path = f"/api/v1/accounts/{bea.account_id}/in_collections"
    found = Api(make_token(bea)).get(path).json()["collections"]
    assert [collection["id"] for collection in found] == [entity["id"]]
    assert api.get(path).status_code == 403
    anonymous = Api().get(path)
    assert (anonymous.status_code, anonymous.json()) == (422, {"error": "This method requires an authenticated user"})
    Api(make_token(bea)).post(f"{COLLECTIONS}/{entity['id']}/items/{entity['items'][0]['id']}/revoke")
    assert Api(make_token(bea)).get(path).json() == {"collections": []}


def test_a_block_removes_the_account_from_collections_and_hides_them(api: Api, owner: User, bea: User) -> None:
    member = Api(make_token(bea))
    entity = made(api, account_ids=[str(bea.account_id)])
    api.post(f"/api/v1/accounts/{bea.account_id}/block")
    assert Api().get(f"{COLLECTIONS}/{entity['id']}").json()["collection"]["item_count"] == 0
    assert member.get(f"{COLLECTIONS}/{entity['id']}").status_code == 403
    assert member.get(f"/api/v1/accounts/{owner.account_id}/collections").json() == {"collections": []}
    api.post(f"/api/v1/accounts/{bea.account_id}/unblock")
    assert not CollectionItem.objects.exists()


def test_collections_do_not_show_accounts_that_the_viewer_blocks(api: Api, bea: User) -> None:
    entity = made(api, account_ids=[str(bea.account_id)])
    reader = Api(make_token(make_user()))
    reader.post(f"/api/v1/accounts/{bea.account_id}/block")
    assert reader.get(f"{COLLECTIONS}/{entity['id']}").json()["collection"]["item_count"] == 0
    assert api.get(f"{COLLECTIONS}/{entity['id']}").json()["collection"]["item_count"] == 1


def test_suspended_accounts_are_in_no_collection(api: Api, owner: User, bea: User) -> None:
    entity = made(api, account_ids=[str(bea.account_id)])
    Account.objects.filter(id=bea.account_id).update(suspended_at=clock.now())
    assert Api().get(f"{COLLECTIONS}/{entity['id']}").json()["collection"]["items"] == []
    Account.objects.filter(id=owner.account_id).update(suspended_at=clock.now())
    assert Api().get(f"{COLLECTIONS}/{entity['id']}").status_code == 404
    assert Api().get(f"/api/v1/accounts/{owner.account_id}/collections").json() == {"collections": []}


@pytest.mark.parametrize(
    ("accept", "kind"),
    [(None, "text/html"), ("*/*", "text/html"), ("application/json", "application/json")],
)
def test_an_empty_response_is_json_only_if_the_client_accepts_json(
    api: Api, bea: User, accept: str | None, kind: str
) -> None:
    path = f"{COLLECTIONS}/{made(api, account_ids=[str(bea.account_id)])['id']}"
    item = api.get(path).json()["collection"]["items"][0]["id"]
    headers = {"Accept": accept} if accept is not None else {}
    for gone in (f"{path}/items/{item}", path):
        answer = api.delete(gone, headers=headers)
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer["Content-Type"] == f"{kind}; charset=utf-8"


def test_a_deleted_collection_is_gone(api: Api, bea: User) -> None:
    path = f"{COLLECTIONS}/{made(api, account_ids=[str(bea.account_id)])['id']}"
    assert Api(make_token(bea)).delete(path).status_code == 403
    gone = api.delete(path)
    assert (gone.status_code, gone.content) == (200, b"")
    assert (api.delete(path).status_code, api.get(path).status_code) == (404, 404)


def test_collections_require_a_users_token_with_a_matching_scope(api: Api, owner: User) -> None:
    number = made(api)["id"]
    assert Api().post(COLLECTIONS, FULL).status_code == 401
    assert Api(make_token(None)).post(COLLECTIONS, FULL).status_code == 422
    assert Api(make_token(owner, "read write:accounts")).post(COLLECTIONS, FULL).status_code == 403
    assert Api(make_token(owner, "write:collections")).get(f"{COLLECTIONS}/{number}").status_code == 403
    assert Api(make_token(owner, "read:collections")).get(f"{COLLECTIONS}/{number}").status_code == 200


def test_a_list_of_collections_costs_the_same_for_many(api: Api, owner: User) -> None:
    members = [str(make_account(discoverable=True).id) for _ in range(3)]

    def queries(limit: int) -> int:
        with CaptureQueriesContext(connection) as seen:
            found = api.get(f"/api/v1/accounts/{owner.account_id}/collections", {"limit": limit})
        assert len(found.json()["collections"]) == limit
        return len(seen)

    for _number in range(8):
        made(api, account_ids=members)
    queries(2)
    assert queries(2) == queries(8)
