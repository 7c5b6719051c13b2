"""What Mastodon 4.6.5 was recorded to send is taken, or refused for a reason that stands in the contract.

The records are the project's shared ones (`make conformance` finds them in the same place); without them this is skipped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from accounts.models import Account, Collection, CollectionItem, Follow, FollowRequest
from accounts.models.collection import ItemState
from accounts.services.following import FollowChange, follow_account
from federation.documents.reading import parse
from federation.documents.received_actors import read_actor
from federation.documents.received_notes import is_note, read_note
from federation.documents.synchronization import digest_of, read_header
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from statuses.models import PollVote, Status
from tests.factories.accounts import make_account
from tests.factories.statuses import make_poll, make_remote_status, make_status
from tests.federation.remote_server import RemotePerson, RemoteServer, pair
from tests.support.work import work

FOLDER = Path(os.environ.get("CONFORMANCE") or Path(__file__).resolve().parents[3] / "shared" / "conformance") / "wire"
FILES = sorted(path.stem for path in FOLDER.glob("*.json"))
pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


VOTED = "https://local.example/users/bob/statuses/5"
POSTS = [name for name in FILES if record(name)["method"] == "POST"]


class World:
    """The servers of the records, under addresses of this machine."""

    def __init__(self, remote: RemoteServer, third: RemoteServer) -> None:
        self.servers = {"remote.example": remote, "third.example": third}
        self.people = {name: make_account(name) for name in ("bob", "erin", "fay", "dave", "alice")}
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
        """Whoever has this key, with a document at the place where it is."""
        uri = self.here(key_id.partition("#")[0])
        server = next(server for server in self.servers.values() if uri.startswith(server.url))
        path = urlsplit(uri).path
        someone = RemotePerson(server, path.rpartition("/")[2])
        someone.uri, someone.key_id = uri, self.here(key_id)
        if path not in server.pages:
            self.serve(someone.document())
        return someone

    def send(self, name: str) -> str:
        """Deliver a record; what became of it."""
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
        work()
        stored = InboundActivity.objects.filter(id__gt=last).first()
        return stored.outcome if stored is not None else NOT_KEPT


@pytest.fixture
def world(elsewhere: RemoteServer) -> Iterator[World]:
    with RemoteServer().running() as third:
        yield World(elsewhere, third)


NOT_KEPT = "answered, and not kept"
NO_FOLLOW = "rejected: the answer is about no follow of ours"
# What is not "done". By section 7 of the contract an answer is to a Follow that waits, by its id.
REFUSED = {
    "accept_follow_again": NO_FOLLOW,
    "accept_quote_request": NO_FOLLOW,
    "reject_quote_request": NO_FOLLOW,
    "follow_relay": "rejected: the account is not of this server",
}


def _ask_for_places(world: World) -> None:
    """Bob has asked those who answer whether they want to be in a collection of his."""
    bob = world.people["bob"]
    Account.objects.filter(id=bob.id).update(discoverable=True)
    collection = Collection.objects.create(account=bob, name="Birds", sensitive=False, discoverable=True)
    for name in ("accept_feature_request", "reject_feature_request"):
        answer = world.here(record(name)["body"])
        person = fetch_actor(answer["actor"])
        CollectionItem.objects.create(
            collection=collection, account=person, request_uri=answer["object"], state=ItemState.PENDING
        )


def test_every_delivery_of_mastodon_is_taken_or_refused_for_a_known_reason(world: World) -> None:
    for name in ("actor_person", "actor_moved", "actor_suspended"):
        fetch_actor(world.here(record(name)["body"]["id"]))
    fetch_actor(world.here(record("delete_actor")["body"]["actor"]))
    newhome = make_account("newhome", also_known_as=[world.here(record("move")["body"]["object"])])
    for name in ("accept_follow", "reject_follow"):
        asked = world.here(record(name)["body"]["object"])
        follower, target = Account.objects.get(uri=asked["actor"]), fetch_actor(asked["object"])
        follow_account(account=follower, target=target, change=FollowChange())
        FollowRequest.objects.filter(account=follower).update(uri=asked["id"])
    _ask_for_places(world)
    forwarded = world.here(record("create_note_forwarded_reply")["body"]["object"])
    world.serve(forwarded)
    world.signer(record("create_note_forwarded_reply")["body"]["signature"]["creator"])
    answered = Account.objects.get(uri=world.here(record("actor_person")["body"]["id"]))
    make_remote_status(answered, uri=forwarded["inReplyTo"])
    outcomes = {name: world.send(name) for name in POSTS}
    assert outcomes.pop("delete_actor") == NOT_KEPT, "an actor takes its activities along"
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "done"} == REFUSED
    places = CollectionItem.objects.filter(collection__uri=None).order_by("id")
    assert list(places.values_list("state", flat=True)) == [ItemState.REVOKED, ItemState.REJECTED]
    changed = world.here(record("update_featured_collection")["body"]["object"])
    assert Collection.objects.get(uri__isnull=False).name == changed["name"]
    posts = [name for name in POSTS if name.startswith("create_") and name != "create_vote"]
    created = [world.here(record(name)["body"]["object"]["id"]) for name in posts]
    stored = set(Status.objects.filter(uri__in=created).values_list("uri", flat=True))
    refused = {world.here(record(name)["body"]["object"]["id"]) for name in REFUSED if name.startswith("create_")}
    assert stored == set(created) - refused
    assert PollVote.objects.get(poll__status__account=world.people["bob"]).choice == 1
    alice = Account.objects.get(uri=world.here(record("actor_person")["body"]["id"]))
    assert alice.display_name == record("update_actor")["body"]["object"]["name"]
    assert Account.objects.get(uri=world.here(record("move")["body"]["object"])).moved_to == newhome
    assert Account.objects.get(uri=world.here(record("actor_suspended")["body"]["id"])).suspended
    assert not Account.objects.filter(uri=world.here(record("delete_actor")["body"]["actor"])).exists()
    assert Follow.objects.filter(account=world.people["bob"], target=alice).exists()


@pytest.mark.parametrize("name", [name for name in FILES if record(name)["method"] == "GET"])
def test_every_document_of_mastodon_can_be_read(name: str) -> None:
    body = record(name)["body"]
    if not isinstance(body, dict):
        return
    document = parse(json.dumps(body).encode())
    if name.startswith("actor_"):
        actor = read_actor(document)
        assert (actor.uri, actor.suspended) == (body["id"], name == "actor_suspended")
        assert actor.keys
    elif is_note(document):
        note = read_note(document)
        assert (note.uri, note.author_uri) == (body["id"], body["attributedTo"])
        assert note.content
    else:
        assert name not in ("note", "question", "get_note_private_follower")


@pytest.mark.parametrize("name", ["fetch_actor", "fetch_host_meta", "fetch_url_of_search", "fetch_webfinger"])
def test_what_mastodon_fetches_is_there(world: World, name: str) -> None:
    found = record(name)
    path = urlsplit(world.here(f"https://local.example{found['path']}"))
    accept = next(value for header, value in found["headers"].items() if header.lower() == "accept")
    answer = Client().get(f"{path.path}?{path.query}", headers={"accept": accept})
    assert answer.status_code == 200, answer.content


def test_the_header_of_a_post_for_followers_is_understood() -> None:
    found = record("create_note_private")
    actor = Account(uri=found["body"]["actor"], followers_url=found["body"]["to"][0])
    synchronization = read_header(found["headers"]["Collection-Synchronization"], actor)
    listed = record("get_followers_synchronization")["body"]
    assert synchronization == (listed["id"], digest_of(listed["orderedItems"]))
