"""Tests of the documents for other servers (contract, seed coverage: SEED-005, 006, 007, 054, 147)."""

import json

import pytest

from accounts.models import Account
from social.kernel import clock
from tests.conformance.people import Person
from tests.support.client import Api
from tests.support.federation_server import needs_federation

pytestmark = [pytest.mark.django_db, needs_federation]
ACTIVITY = {"Accept": "application/activity+json"}


def test_seed_005_accounts_are_found_by_webfinger_and_have_a_document(alice: Person) -> None:
    finger = Api().get("/.well-known/webfinger", {"resource": "acct:alice@social.localhost"}).json()
    href = next(link["href"] for link in finger["links"] if link["rel"] == "self")
    assert href == alice.account.uri
    answer = Api().get("/users/alice", headers=ACTIVITY)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/activity+json; charset=utf-8")
    actor = answer.json()
    assert (actor["id"], actor["inbox"]) == (href, f"{href}/inbox")
    assert actor["publicKey"]["owner"] == href
    assert actor["publicKey"]["publicKeyPem"].startswith("-----BEGIN PUBLIC KEY-----")
    assert "PRIVATE" not in json.dumps(actor)


@pytest.mark.parametrize(
    "relation", ["salmon", "hub", "magic-public-key", "http://schemas.google.com/g/2010#updates-from"]
)
def test_seed_006_and_007_webfinger_and_link_headers_name_no_obsolete_protocols(alice: Person, relation: str) -> None:
    finger = Api().get("/.well-known/webfinger", {"resource": "acct:alice@social.localhost"})
    assert relation not in {link["rel"] for link in finger.json()["links"]}
    assert "atom" not in finger.content.decode()
    for path in ("/users/alice", "/@alice", "/"):
        for accept in ("application/activity+json", "text/html"):
            header = Api().get(path, headers={"Accept": accept}).headers.get("Link", "")
            assert "hub" not in header
            assert "atom" not in header


@pytest.mark.parametrize("name", ["followers", "following"])
def test_seed_054_a_hidden_network_shows_its_size_and_nothing_else(alice: Person, name: str) -> None:
    bob = Person("bob")
    bob.do(f"accounts/{alice.id}/follow")
    alice.do(f"accounts/{bob.id}/follow")
    shown = Api().get(f"/users/alice/{name}?page=1", headers=ACTIVITY).json()
    assert shown["orderedItems"] == [bob.account.uri]
    alice.api.patch("/api/v1/accounts/update_credentials", {"hide_collections": True})
    hidden = Api().get(f"/users/alice/{name}", headers=ACTIVITY)
    assert hidden.status_code == 200
    assert hidden.json()["totalItems"] == 1
    assert not {"first", "last", "items", "orderedItems"} & set(hidden.json())
    for page in ("1", "2", "x"):
        refused = Api().get(f"/users/alice/{name}?page={page}", headers=ACTIVITY)
        assert refused.status_code == 403
        assert bob.account.uri not in refused.content.decode()


def test_seed_052_the_document_of_a_suspended_account_is_blank_and_all_others_are_refused(alice: Person) -> None:
    alice.api.patch("/api/v1/accounts/update_credentials", {"note": "secret thing"})
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    actor = Api().get("/users/alice", headers=ACTIVITY)
    assert (actor.status_code, actor.json()["suspended"]) == (200, True)
    assert "secret thing" not in actor.content.decode()
    for name in ("followers", "following", "outbox"):
        assert Api().get(f"/users/alice/{name}", headers=ACTIVITY).status_code == 403
