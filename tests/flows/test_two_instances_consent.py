"""Tests of two local servers in secure mode: consent to collections, and encrypted messages, checked through the client API.

FEP-7aa9; contract, federation section 7; seed decision D-05.
"""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.flows.people import wait
from tests.support.instance import Instance

pytestmark = pytest.mark.verify


class Somebody:
    """A discoverable user, whose client can encrypt messages."""

    def __init__(self, server: Instance, username: str) -> None:
        self.server, self.username = server, username
        made = server.create_account(username, "--token", "read write follow push crypto")
        self.headers = {"Authorization": f"Bearer {made['access_token']}"}
        self.address = f"{username}@localhost:{server.port}"
        self.secret = Ed25519PrivateKey.from_private_bytes(username.encode().ljust(32, b"."))
        self.ask("PATCH", "/api/v1/accounts/update_credentials", discoverable=True)

    def ask(self, method: str, path: str, **values: Any) -> Any:
        """Return the body of the response, or its status if the request failed."""
        sent: Any = {"params": values} if method == "GET" else {"json": values}
        answer = requests.request(method, self.server.base_url + path, headers=self.headers, timeout=60, **sent)
        return answer.json() if answer.ok and answer.content else answer.status_code

    def find(self, other: "Somebody") -> str:
        """Return the id of another user on this user's server."""
        found = self.ask("GET", "/api/v1/accounts/search", q=other.address, resolve="true")
        return str(found[0]["id"])

    def collections_of(self, other: "Somebody") -> list[Any]:
        found: list[Any] = self.ask("GET", f"/api/v1/accounts/{self.find(other)}/collections")["collections"]
        return found

    def notified(self) -> list[str]:
        return [one["type"] for one in self.ask("GET", "/api/v1/notifications")]

    def items(self, number: str) -> list[str]:
        found = self.ask("GET", f"/api/v1/collections/{number}")
        return [one["state"] for one in found["collection"]["items"]]

    def upload(self, *names: str) -> None:
        """Register a device with one-time keys of these names."""

        def text(data: bytes) -> str:
            return base64.b64encode(data).decode()

        keys = [text(name.encode().ljust(32, b"k")) for name in names]
        device = {
            "device_id": f"{self.username}-phone",
            "name": "Phone",
            "fingerprint_key": text(self.secret.public_key().public_bytes_raw()),
            "identity_key": text(b"i" * 32),
        }
        signed = [
            {"key_id": name, "key": key, "signature": text(self.secret.sign(key.encode()))}
            for name, key in zip(names, keys, strict=True)
        ]
        assert self.ask("POST", "/api/v1/crypto/keys/upload", device=device, one_time_keys=signed) != 422


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Somebody, Somebody]]:
    environment = {"FEDERATION_LOOPBACK": "yes", "AUTHORIZED_FETCH": "yes"}
    with Instance(**environment) as one, Instance(**environment) as other:
        yield Somebody(one, "anna"), Somebody(other, "bob")


@pytest.fixture(params=["there", "back"])
def sides(request: pytest.FixtureRequest, pair: tuple[Somebody, Somebody]) -> tuple[Somebody, Somebody]:
    """The acting user and the target user, in this order."""
    return pair if request.param == "there" else (pair[1], pair[0])


def test_a_remote_user_is_in_a_collection_with_consent_until_leaving(
    sides: tuple[Somebody, Somebody],
) -> None:
    owner, member = sides
    values = {"name": "Birds", "sensitive": False, "discoverable": True, "language": "en", "description": "They sing"}
    made = owner.ask("POST", "/api/v1/collections", account_ids=[owner.find(member)], **values)["collection"]
    number = made["id"]
    assert [one["state"] for one in made["items"]] == ["pending"]
    wait(lambda: owner.items(number) == ["accepted"])
    wait(lambda: "added_to_collection" in member.notified())
    (there,) = member.ask("GET", f"/api/v1/accounts/{member.find(member)}/in_collections")["collections"]
    assert (there["uri"], there["local"], there["item_count"]) == (made["uri"], False, 1)
    (shown,) = member.collections_of(owner)
    assert (shown["name"], shown["description"], shown["language"]) == ("Birds", "They sing", "en")
    # Changes are delivered only to followers of the owner.
    member.ask("POST", f"/api/v1/accounts/{member.find(owner)}/follow")
    wait(lambda: member.ask("GET", "/api/v1/accounts/relationships", id=member.find(owner))[0]["following"])
    owner.ask("PATCH", f"/api/v1/collections/{number}", name="Singers")
    wait(lambda: [one["name"] for one in member.collections_of(owner)] == ["Singers"])
    wait(lambda: "collection_update" in member.notified())
    text = {"status": f"{owner.username} shows [birds]({made['url']})", "content_type": "text/markdown"}
    posted = owner.ask("POST", "/api/v1/statuses", **text)
    assert [one["id"] for one in posted["tagged_collections"]] == [number]
    (seen,) = wait(lambda: [one for one in member.ask("GET", "/api/v1/timelines/home") if one["uri"] == posted["uri"]])
    assert [(one["uri"], one["local"], one["item_count"]) for one in seen["tagged_collections"]] == [
        (made["uri"], False, 1)
    ]
    item = there["items"][0]["id"]
    assert member.ask("POST", f"/api/v1/collections/{there['id']}/items/{item}/revoke") == 200
    wait(lambda: owner.items(number) == [])
    again = owner.ask("POST", f"/api/v1/collections/{number}/items", account_id=owner.find(member))
    assert again == 422, "an account that has left cannot be added again"
    assert owner.ask("DELETE", f"/api/v1/collections/{number}") == 200
    wait(lambda: member.collections_of(owner) == [])


def test_an_account_that_disallows_featuring_meanwhile_is_in_no_collection_on_either_server(
    sides: tuple[Somebody, Somebody],
) -> None:
    owner, other = sides
    coy = Somebody(other.server, f"coy{owner.username}")
    number = owner.find(coy)
    # Nobody on that server follows the user, so the server is not notified.
    coy.ask("PATCH", "/api/v1/accounts/update_credentials", discoverable=False)
    values = {"name": "Ducks", "sensitive": False, "discoverable": True, "description": "They swim"}
    made = owner.ask("POST", "/api/v1/collections", account_ids=[number], **values)["collection"]
    assert [one["state"] for one in made["items"]] == ["pending"]
    wait(lambda: owner.items(made["id"]) == [])
    assert coy.ask("GET", f"/api/v1/accounts/{coy.find(coy)}/in_collections")["collections"] == []
    assert "added_to_collection" not in coy.notified()
    (shown,) = [one for one in coy.collections_of(owner) if one["name"] == "Ducks"]
    assert shown["item_count"] == 0
    assert owner.ask("DELETE", f"/api/v1/collections/{made['id']}") == 200


def test_a_message_is_encrypted_with_a_key_from_the_other_server_and_arrives_there(
    sides: tuple[Somebody, Somebody],
) -> None:
    writer, reader = sides
    writer.upload("a")
    reader.upload("b", "c")
    number = writer.find(reader)
    (found,) = writer.ask("POST", "/api/v1/crypto/keys/query", id=[number])
    assert [one["device_id"] for one in found["devices"]] == [f"{reader.username}-phone"]
    wanted = [{"account_id": number, "device_id": f"{reader.username}-phone"}]
    before = reader.ask("GET", "/api/v1/crypto/keys/count")["one_time_keys"]
    (claimed,) = writer.ask("POST", "/api/v1/crypto/keys/claim", device=wanted)
    assert claimed["key_id"] in {"a", "b", "c"}
    assert reader.ask("GET", "/api/v1/crypto/keys/count")["one_time_keys"] == before - 1
    message = wanted[0] | {"type": 0, "body": f"cipher of {writer.username}", "hmac": "digest"}
    assert writer.ask("POST", "/api/v1/crypto/deliveries", device=[message]) == {}
    unknown = message | {"device_id": "unknown"}
    assert writer.ask("POST", "/api/v1/crypto/deliveries", device=[unknown]) == 404

    def received() -> Any:
        return reader.ask("GET", "/api/v1/crypto/encrypted_messages")

    (stored,) = wait(received)
    assert (stored["body"], stored["digest"], stored["device_id"]) == (
        message["body"],
        "digest",
        f"{writer.username}-phone",
    )
    assert stored["account_id"] == reader.find(writer)
    assert reader.ask("POST", "/api/v1/crypto/encrypted_messages/clear", up_to_id=stored["id"]) == {}
