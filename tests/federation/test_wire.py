"""Tests that deliveries recorded from Mastodon 4.6.5 are accepted, or refused for a reason in the contract.

The records are not part of the repository: `make conformance` and these tests look for them in the same place. Without the
records the tests are skipped.
"""

import json
import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from django.test import Client

from accounts.models import Account
from federation.documents.reading import parse
from federation.documents.received_actors import read_actor
from federation.documents.received_notes import is_note, read_note
from federation.documents.synchronization import digest_of, read_header
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import make_poll, make_status
from tests.federation.remote_server import RemotePerson, RemoteServer, pair
from tests.federation.wire_effects import EFFECTS
from tests.federation.wire_preparations import BEFORE
from tests.support.wire import FILES, record
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]


VOTED = "https://local.example/users/bob/statuses/5"


def sent_at(name: str) -> datetime:
    """Return the time at which a record was sent."""
    return parsedate_to_datetime(record(name)["headers"]["Date"])


# The records, in the order in which they were sent.
POSTS = sorted(
    (name for name in FILES if record(name)["method"] == "POST"),
    key=lambda name: (sent_at(name), name),
)


class World:
    """The servers of the records, with addresses on this machine instead of the recorded ones."""

    def __init__(self, remote: RemoteServer, third: RemoteServer) -> None:
        self.servers = {"remote.example": remote, "third.example": third}
        self.people = {name: make_user(name).account for name in ("bob", "erin", "fay", "dave", "alice")}
        self.posts: dict[str, str] = {}
        for name in FILES:
            found = record(name)
            served = found["method"] == "GET" and not name.startswith("fetch_") and "?" not in found["path"]
            if served and isinstance(found["body"], dict) and "id" in found["body"]:
                self.serve(self.here(found["body"]))
        for name in POSTS:
            key_id = re.search(r'keyId="([^"]+)"', record(name)["headers"]["Signature"])
            assert key_id is not None
            self.signer(key_id[1])

    def here(self, document: Any) -> Any:
        text = json.dumps(document)
        text = re.sub(r"https://local\.example/users/(\w+)/statuses/(\d+)", self._post, text)
        text = text.replace("https://local.example", "http://social.localhost").replace(
            "@local.example", "@social.localhost"
        )
        for name, server in self.servers.items():
            text = text.replace(f"https://{name}", server.url).replace(f"@{name}", f"@{server.domain}")
        return json.loads(text)

    def _post(self, match: re.Match[str]) -> str:
        if match[0] not in self.posts:
            author = self.people[match[1]]
            poll = match[0] == VOTED and make_poll(author, "yes", "no")
            self.posts[match[0]] = (
                f"{author.uri}/statuses/{poll.status_id if poll else make_status(author, match[0]).id}"
            )
        return self.posts[match[0]]

    def serve(self, document: dict[str, Any]) -> None:
        server = next(server for server in self.servers.values() if str(document.get("id")).startswith(server.url))
        if "publicKey" in document:
            document["publicKey"]["publicKeyPem"] = pair(1)[1]
            if document["type"] == "Application":
                document["preferredUsername"] = "remote.example"
                document.pop("webfinger", None)
            server.finger(document["preferredUsername"], document["id"])
        server.serve(document)

    def signer(self, key_id: str) -> RemotePerson:
        """Return the owner of this key, after serving the owner's document if it is not served yet."""
        uri = self.here(key_id.partition("#")[0])
        server = next(server for server in self.servers.values() if uri.startswith(server.url))
        path = urlsplit(uri).path
        someone = RemotePerson(server, path.rpartition("/")[2])
        someone.uri, someone.key_id = uri, self.here(key_id)
        if path not in server.pages:
            self.serve(someone.document())
        return someone

    def send(self, name: str) -> str:
        """Deliver a record, and return its outcome."""
        found = record(name)
        key_id = re.search(r'keyId="([^"]+)"', found["headers"]["Signature"])
        assert key_id is not None
        body = self.here(found["body"])
        obj = body.get("object")
        if isinstance(obj, dict) and "publicKey" in obj:
            obj["publicKey"]["publicKeyPem"] = pair(1)[1]
        last = InboundActivity.objects.order_by("-id").values_list("id", flat=True).first() or 0
        answer = self.signer(key_id[1]).send(body, found["path"])
        assert answer.status_code == 202, (name, answer.content)
        # The test has set the clock to the past, so a postponed job is already due in the next round.
        work(rounds=5)
        stored = InboundActivity.objects.filter(id__gt=last).first()
        return stored.outcome if stored is not None else NOT_KEPT


@pytest.fixture
def world(elsewhere: RemoteServer, third: RemoteServer) -> World:
    return World(elsewhere, third)


NOT_KEPT = "answered, and not kept"
# The expected outcomes other than "done", according to section 7 of the contract.
REFUSED = {"follow_relay": "rejected: the account is not on this server"}


def test_every_delivery_of_mastodon_is_understood_or_refused_for_a_known_reason(world: World) -> None:
    for name in ("actor_person", "actor_moved", "actor_suspended"):
        fetch_actor(world.here(record(name)["body"]["id"]))
    make_account("newhome", also_known_as=[world.here(record("move")["body"]["object"])])
    outcomes, without_effect = {}, []
    for name in POSTS:
        with time_machine.travel(sent_at(name)):
            BEFORE.get(name, bool)(world)
            outcomes[name] = world.send(name)
            if not EFFECTS[name][1](world):
                without_effect.append(name)
    assert without_effect == []
    assert outcomes.pop("delete_actor") == NOT_KEPT, "the activities of a deleted actor are deleted too"
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "done"} == REFUSED


@pytest.mark.parametrize("name", [name for name in FILES if record(name)["method"] == "GET"])
def test_every_document_of_mastodon_can_be_read(name: str) -> None:
    body = record(name)["body"]
    if not isinstance(body, dict):
        return
    document = parse(json.dumps(body).encode())
    if name.startswith("actor_"):
        actor = read_actor(document)
        assert (actor.profile.uri, actor.profile.suspended) == (body["id"], name == "actor_suspended")
        assert actor.keys
    elif is_note(document):
        note = read_note(document)
        assert (note.uri, note.author_uri) == (body["id"], body["attributedTo"])
        assert note.content
    else:
        assert name not in ("note", "question", "get_note_private_follower")


@pytest.mark.parametrize("name", ["fetch_actor", "fetch_host_meta", "fetch_url_of_search", "fetch_webfinger"])
def test_every_address_that_mastodon_fetches_answers_200(world: World, name: str) -> None:
    found = record(name)
    path = urlsplit(world.here(f"https://local.example{found['path']}"))
    accept = next(value for header, value in found["headers"].items() if header.lower() == "accept")
    answer = Client().get(f"{path.path}?{path.query}", headers={"accept": accept})
    assert answer.status_code == 200, answer.content


def test_the_synchronization_header_of_a_followers_only_post_is_understood() -> None:
    found = record("create_note_private")
    actor = Account(uri=found["body"]["actor"], followers_url=found["body"]["to"][0])
    synchronization = read_header(found["headers"]["Collection-Synchronization"], actor)
    listed = record("get_followers_synchronization")["body"]
    assert synchronization == (listed["id"], digest_of(listed["orderedItems"]))
