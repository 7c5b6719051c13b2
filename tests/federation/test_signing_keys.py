"""Tests of the keys of signed activities: whose keys are accepted, and which requests fetch them."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test import Client

from accounts.models import Account, KeyPair
from federation.remote import signers
from social.kernel import clock, redis
from social.kernel.http import limits
from social.kernel.http.limits import stranger_budget, web_request_budget
from tests.federation.activities import follow_of, stored
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer, pair, post, signed
from tests.runtime.processes import PATIENCE, eventually

pytestmark = pytest.mark.django_db


def test_a_key_is_accepted_only_for_its_owner(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    mallory = elsewhere.person("mallory", key=2)
    body = json.dumps(follow_of(zoe, alice)).encode()
    stolen = signed(mallory.private_key, zoe.key_id, "/inbox", body)
    assert (post("/inbox", body, stolen).status_code, stored()) == (401, 0)


def test_a_key_must_be_listed_by_its_owner_on_its_own_server(elsewhere: RemoteServer, alice: Account) -> None:
    with RemoteServer().running() as other:
        victim = other.person("victim")
        # The attacker's server claims that its key belongs to the victim.
        key_id = elsewhere.uri("keys/1")
        elsewhere.serve({"id": key_id, "owner": victim.uri, "publicKeyPem": pair(2)[1]})
        body = json.dumps(follow_of(victim, alice)).encode()
        assert post("/inbox", body, signed(pair(2)[0], key_id, "/inbox", body)).status_code == 401
        # This actor lists a key of another server.
        lister = elsewhere.person("lister")
        key = {"id": other.uri("users/victim#main-key"), "owner": lister.uri, "publicKeyPem": pair(2)[1]}
        elsewhere.serve(lister.document() | {"publicKey": key})
        body = json.dumps(follow_of(lister, alice)).encode()
        assert post("/inbox", body, signed(pair(2)[0], lister.key_id, "/inbox", body)).status_code == 401
    assert stored() == 0


def test_each_key_in_an_actors_list_is_accepted(elsewhere: RemoteServer, alice: Account) -> None:
    """Contract, federation section 4: up to ten keys; a key that belongs to another actor is ignored."""
    yan = RemotePerson(elsewhere, "yan")
    keys = [
        {"id": f"{yan.uri}#stranger", "owner": elsewhere.uri("users/other"), "publicKeyPem": pair(3)[1]},
        {"id": f"{yan.uri}#old", "owner": yan.uri, "publicKeyPem": pair(1)[1]},
        {"id": f"{yan.uri}#new", "owner": yan.uri, "publicKeyPem": pair(2)[1]},
    ]
    elsewhere.person("yan", publicKey=keys)

    def send(name: str, number: int) -> int:
        body = json.dumps(follow_of(yan, alice)).encode()
        return int(post("/inbox", body, signed(pair(number)[0], f"{yan.uri}#{name}", "/inbox", body)).status_code)

    assert send("new", 2) == 202
    asked = len(elsewhere.gets())
    assert [send("old", 1), send("new", 2), send("old", 1)] == [202, 202, 202]
    assert len(elsewhere.gets()) == asked, "known keys are not fetched again"
    assert [send("new", 1), send("old", 2)] == [401, 401]
    assert len(elsewhere.gets()) == asked + 1, "an actor whose keys do not match is fetched at most once a minute"
    assert [send("stranger", 3), send("absent", 1)] == [401, 401]
    assert stored() == 4
    Account.objects.filter(uri=yan.uri).update(fetched_at=clock.now() - timedelta(minutes=10))
    elsewhere.person("yan", publicKey=[keys[1] | {"publicKeyPem": pair(3)[1]}])
    assert [send("old", 3), send("old", 1)] == [202, 401]
    assert send("new", 2) == 401, "a key that is no longer listed is refused"


def test_a_key_is_found_with_an_index_among_many(db: None) -> None:
    found = KeyPair.objects.filter(further_keys__has_key="https://a.example/k").exclude(further_keys={})
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "accounts_keypair_further" in found.explain()


def test_incoming_requests_signed_with_keys_of_this_server_are_refused(zoe: RemotePerson, alice: Account) -> None:
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = signed(pair(1)[0], f"{alice.uri}#main-key", "/inbox", body)
    assert (post("/inbox", body, headers).status_code, stored()) == (401, 0)


def test_a_new_key_is_fetched_once_if_the_known_key_does_not_match(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    assert zoe.send(follow_of(zoe, alice)).status_code == 202
    Account.objects.filter(uri=zoe.uri).update(fetched_at=clock.now() - timedelta(minutes=10))
    rotated = elsewhere.person("zoe", key=2)
    assert rotated.send(follow_of(rotated, alice)).status_code == 202
    assert KeyPair.objects.get(key_id=zoe.key_id).public_key == rotated.public_key
    before = len(elsewhere.gets())
    assert zoe.send(follow_of(zoe, alice)).status_code == 401
    assert zoe.send(follow_of(zoe, alice)).status_code == 401
    assert len(elsewhere.gets()) == before + 1, "an actor whose keys do not match is fetched at most once a minute"


def test_a_signer_whose_server_does_not_answer_is_asked_to_retry(elsewhere: RemoteServer, alice: Account) -> None:
    with RemoteServer().running() as other:
        gone = other.person("gone")
    answer = gone.send(follow_of(gone, alice))
    assert (answer.status_code, stored()) == (503, 0)


def test_a_signer_whose_key_fetch_must_wait_is_accepted_at_the_next_attempt(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    with web_request_budget(60.0), stranger_budget(elsewhere.domain, 60.0), monkeypatch.context() as soon:
        soon.setattr(signers, "DEADLINE", 0.1)
        answer = zoe.send(follow_of(zoe, alice))
    assert (answer.status_code, answer.headers["Retry-After"], elsewhere.gets(), stored()) == (503, "30", [], 0)
    assert zoe.send(follow_of(zoe, alice)).status_code == 202


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("second", ["yan", "zoe"])
def test_two_simultaneous_unknown_senders_from_one_server_are_both_accepted(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, second: str
) -> None:
    """Key documents that both senders need are fetched only once."""
    go_on = threading.Event()
    elsewhere.before_answer = lambda: go_on.wait(PATIENCE)
    people = [zoe, elsewhere.person("yan", key=2) if second == "yan" else zoe]

    def send(someone: RemotePerson) -> int:
        try:
            return int(someone.send(follow_of(someone, alice)).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(send, someone) for someone in people]
        try:
            eventually(lambda: limits._wanted_by_strangers)
        finally:
            go_on.set()
    assert ([answer.result() for answer in answers], stored()) == ([202, 202], 2)
    assert len(elsewhere.gets()) == (4 if second == "yan" else 2)


def test_a_key_that_could_not_be_fetched_is_not_requested_again_for_five_minutes(
    elsewhere: RemoteServer, alice: Account
) -> None:
    ghost = RemotePerson(elsewhere, "ghost")
    with RemoteServer().running() as other:
        gone = other.person("gone")
    before = [ghost.send(follow_of(ghost, alice)).status_code, gone.send(follow_of(gone, alice)).status_code]
    asked = len(elsewhere.gets())
    assert [ghost.send(follow_of(ghost, alice)).status_code, gone.send(follow_of(gone, alice)).status_code] == before
    assert len(elsewhere.gets()) == asked == 1
    for name in redis.client("cache").scan_iter(redis.key("cache", "keyless*")):
        assert 290 < redis.client("cache").ttl(name) <= 300


def test_a_host_whose_keys_cannot_be_fetched_gets_no_more_requests_for_a_while(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Contract, federation section 10 "Circuit"; other servers and known keys are not affected."""

    def send(someone: RemotePerson, address: str) -> int:
        body = json.dumps(follow_of(someone, alice)).encode()
        headers = someone.headers("/inbox", body)
        client = Client(raise_request_exception=False, REMOTE_ADDR=address)
        return int(client.generic("POST", "/inbox", body, ACTIVITY, headers=headers).status_code)

    assert send(zoe, "192.0.2.1") == 202
    asked = len(elsewhere.gets())
    ghosts = [RemotePerson(elsewhere, f"ghost{number}") for number in range(6)]
    assert [send(ghost, "192.0.2.1") for ghost in ghosts] == [401] * 3 + [503] * 3
    assert len(elsewhere.gets()) - asked == 3
    assert send(zoe, "192.0.2.1") == 202
    assert send(elsewhere.person("yan", key=2), "192.0.2.2") == 202
    with RemoteServer().running() as other:
        gone = other.person("gone")
    asked = len(elsewhere.gets())
    assert send(gone, "192.0.2.3") == 503
    assert (send(elsewhere.person("xan", key=3), "192.0.2.3"), len(elsewhere.gets())) == (503, asked)


def test_a_key_id_may_be_the_acct_address_of_its_owner(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    zoe.key_id = f"acct:zoe@{elsewhere.domain}"
    elsewhere.serve(RemotePerson(elsewhere, "zoe").document())
    body = json.dumps(follow_of(zoe, alice)).encode()
    headers = zoe.headers("/inbox", body)
    assert (post("/inbox", body, headers).status_code, stored()) == (202, 1)
    renamed = {**headers, "signature": headers["signature"].replace(zoe.key_id, f"{zoe.uri}#main-key")}
    assert (post("/inbox", body, renamed).status_code, stored()) == (202, 1), (
        "the same request with another key id is a replay"
    )
    asked = len(elsewhere.gets())
    assert zoe.send(follow_of(zoe, alice)).status_code == 202
    assert len(elsewhere.gets()) == asked, "a known sender is not fetched again"
    mallory = RemotePerson(elsewhere, "mallory", key=2)
    mallory.key_id = zoe.key_id
    assert mallory.send(follow_of(zoe, alice)).status_code == 401
    for key_id, status in (
        ("acct:alice@social.localhost", 401),
        ("acct:zoe", 401),
        ("acct:", 401),
        ("acct:a@b c", 401),
    ):
        zoe.key_id = key_id
        assert zoe.send(follow_of(zoe, alice)).status_code == status, key_id
