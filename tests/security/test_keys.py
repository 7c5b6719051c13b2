"""Tests that a key counts only for the actor that lists it, and only if the key names this actor and is on the same server
(security row 12).
"""

import json

import pytest

from accounts.models import Account, KeyPair
from federation.documents.received_actors import read_actor, read_key
from federation.models import InboundActivity
from tests.conformance.people import Person
from tests.federation.remote_server import RemotePerson, RemoteServer, pair, post, signed

pytestmark = pytest.mark.django_db


def attempt(key_id: str, actor: RemotePerson, alice: Person, key: int = 1) -> int:
    """Return the status of a Follow by this actor that is signed with this key."""
    body = json.dumps(actor.activity("Follow", alice.account.uri)).encode()
    return int(post("/inbox", body, signed(pair(key)[0], key_id, "/inbox", body)).status_code)


def test_row_12_a_key_must_name_its_actor_and_be_on_the_actors_server() -> None:
    actor = "https://a.example/users/zoe"
    good = {"id": f"{actor}#main-key", "owner": actor, "publicKeyPem": "PEM"}
    found = read_key(good, actor)
    assert found is not None
    assert (found.id, found.pem) == (good["id"], "PEM")
    for bad in (
        good | {"owner": "https://a.example/users/yan"},
        good | {"owner": "https://b.example/users/zoe"},
        {name: value for name, value in good.items() if name != "owner"},
        good | {"id": "https://b.example/users/zoe#main-key"},
        good | {"id": "https://a.example.b.example/users/zoe#main-key"},
        good | {"publicKeyPem": None},
    ):
        assert read_key(bad, actor) is None, bad


def test_row_12_of_several_keys_only_the_actors_own_count(elsewhere: RemoteServer, zoe: RemotePerson) -> None:
    document = zoe.document()
    foreign = {"id": "https://b.example/k", "owner": zoe.uri, "publicKeyPem": pair(2)[1]}
    strangers = {"id": elsewhere.uri("k"), "owner": elsewhere.uri("users/yan"), "publicKeyPem": pair(2)[1]}
    read = read_actor(document | {"publicKey": [foreign, strangers, document["publicKey"]]})
    assert [(key.id, key.pem) for key in read.keys] == [(zoe.key_id, zoe.public_key)]
    assert read_actor(document | {"publicKey": "https://b.example/k"}).key_reference is None
    assert read_actor(document | {"publicKey": elsewhere.uri("k")}).key_reference == elsewhere.uri("k")


def test_row_12_a_key_document_leads_only_to_an_owner_on_its_own_server(elsewhere: RemoteServer, alice: Person) -> None:
    with RemoteServer().running() as other:
        victim = other.person("victim")
        key_id = elsewhere.uri("keys/1")
        elsewhere.serve({"id": key_id, "owner": victim.uri, "publicKeyPem": pair(2)[1]})
        assert attempt(key_id, victim, alice, key=2) == 401
        assert other.gets() == [], "the owner named by another server's key is not even fetched"
    assert not Account.objects.filter(uri=victim.uri).exists()


def test_row_12_a_key_that_its_owner_does_not_list_is_refused(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Person
) -> None:
    """Either the key's id is not the one in the actor document, or the key has a document of its own that the actor does not
    list.
    """
    assert attempt(f"{zoe.uri}#another-key", zoe, alice) == 401
    beside = elsewhere.uri("keys/2")
    elsewhere.serve({"id": beside, "owner": zoe.uri, "publicKeyPem": zoe.public_key})
    assert attempt(beside, zoe, alice) == 401
    assert not InboundActivity.objects.exists()


def test_row_12_a_key_document_of_another_actor_is_refused(elsewhere: RemoteServer, alice: Person) -> None:
    """The actor lists a key document that names another actor."""
    lister = elsewhere.person("lister")
    key_id = elsewhere.uri("keys/3")
    elsewhere.serve(lister.document() | {"publicKey": key_id})
    elsewhere.serve({"id": key_id, "owner": elsewhere.uri("users/yan"), "publicKeyPem": lister.public_key})
    assert attempt(key_id, lister, alice) == 401
    elsewhere.serve({"id": key_id, "owner": lister.uri, "publicKeyPem": lister.public_key})
    from social.kernel import redis

    redis.client("cache").flushdb()  # removes the entry that prevents another fetch of a refused key for five minutes
    assert attempt(key_id, lister, alice) == 202


def test_row_12_a_key_document_on_another_server_is_not_requested(elsewhere: RemoteServer, alice: Person) -> None:
    with RemoteServer().running() as other:
        lister = elsewhere.person("lister")
        reference = other.uri("keys/4")
        other.serve({"id": reference, "owner": lister.uri, "publicKeyPem": lister.public_key})
        elsewhere.serve(lister.document() | {"publicKey": reference})
        assert attempt(lister.key_id, lister, alice) == 401
        assert other.gets() == []
    assert not InboundActivity.objects.exists()


def test_row_12_a_known_key_cannot_be_claimed_by_another_actor(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Person
) -> None:
    assert attempt(zoe.key_id, zoe, alice) == 202
    mallory = elsewhere.person("mallory", key=2)
    stolen = {"id": zoe.key_id, "owner": mallory.uri, "publicKeyPem": mallory.public_key}
    elsewhere.serve(mallory.document() | {"publicKey": stolen})
    assert attempt(mallory.key_id, mallory, alice, key=2) == 401
    assert KeyPair.objects.get(key_id=zoe.key_id).account.uri == zoe.uri
