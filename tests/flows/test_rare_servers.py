"""Tests of two local servers with unusual remote servers: a rebuilt server, renamed accounts, hosted inboxes, static files.

Both local servers show the remote accounts under the same identity, and users of both can follow, read and answer them
(contract, federation section 17).
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.federation.activities import PUBLIC
from tests.federation.remote_server import ACTIVITY, Answer, RemotePerson, RemoteServer
from tests.flows import people as flows
from tests.flows.people import Person, wait

pytestmark = pytest.mark.verify

#: In seconds; these tests do not measure speed, and some cases need a document to be fetched twice.
SECONDS = 60.0


@pytest.fixture
def elsewhere() -> Iterator[RemoteServer]:
    with RemoteServer().running() as server:
        yield server


@pytest.fixture
def hoster() -> Iterator[RemoteServer]:
    """A server that hosts the inboxes and collections of actors on another server."""
    with RemoteServer().running() as server:
        server.domain = f"127.0.0.1:{server.http.server_port}"
        server.url = f"http://{server.domain}"
        yield server


def tell(someone: RemotePerson, activity: dict[str, Any], *readers: Person) -> None:
    """Send an activity to the servers of these users."""
    for reader in readers:
        body = json.dumps(activity).encode()
        headers = someone.headers("/inbox", body, host=f"localhost:{reader.server.port}")
        headers["Content-Type"] = ACTIVITY
        answer = requests.post(f"{reader.server.base_url}/inbox", data=body, headers=headers, timeout=30)
        assert answer.status_code == 202, answer.text


def holders(reader: Person, address: str) -> list[tuple[str, str]]:
    """Return the addresses and ids of the accounts that the reader's server finds under the address."""
    return [(found.acct, found.uri) for found in reader.client.account_search(address, resolve=True)]


def find(reader: Person, address: str) -> Any:
    """Return the account with this address on the reader's server."""
    (found,) = reader.client.account_search(address, resolve=True)
    assert found.acct == address
    return found


def arrived(inbox: RemoteServer, path: str, kind: str, fits: Any) -> dict[str, Any]:
    """Return the last matching activity of this type in the inbox, as soon as there is one."""

    def look() -> dict[str, Any] | None:
        posted = [asked.activity() for asked in reversed(inbox.asked) if (asked.method, asked.path) == ("POST", path)]
        return next((act for act in posted if act["type"] == kind and fits(act)), None)

    return wait(look, SECONDS)


def follow(reader: Person, someone: RemotePerson, address: str, inbox: RemoteServer, path: str) -> Any:
    """Find a remote user by address, follow them, accept the follow on their server, and return the account."""
    account = find(reader, address)
    assert account.uri == someone.uri
    reader.client.account_follow(account.id)
    uri = f"{reader.server.base_url}/users/{reader.username}"
    asked = arrived(inbox, path, "Follow", lambda act: (act["actor"], act["object"]) == (uri, someone.uri))
    tell(someone, someone.activity("Accept", asked), reader)
    wait(lambda: reader.client.account_relationships(account.id)[0].following, SECONDS)
    return account


def arrives(reader: Person, text: str) -> Any:
    return flows.arrives(reader, text, SECONDS)


def read_and_answer(
    readers: tuple[Person, Person], address: str, note_uri: str, text: str, inbox: RemoteServer, path: str
) -> None:
    """Check that a post is in both home timelines, and that each reader's reply reaches the author and the other's server."""
    seen = [arrives(reader, text) for reader in readers]
    for number, (reader, post) in enumerate(zip(readers, seen, strict=True)):
        assert (post.uri, post.account.acct) == (note_uri, address)
        answer = reader.client.status_post(f"@{address} {reader.username} answers", in_reply_to_id=post.id)
        sent = arrived(inbox, path, "Create", lambda act, uri=answer.uri: act["object"]["id"] == uri)
        assert sent["object"]["inReplyTo"] == note_uri
        assert [tag["href"] for tag in sent["object"]["tag"] if tag["type"] == "Mention"] == [post.account.uri]
        other = readers[1 - number]
        known = seen[1 - number].id

        def below(other: Person = other, known: str = known) -> list[str]:
            return [status.uri for status in other.client.status_context(known).descendants]

        wait(lambda uri=answer.uri, below=below: uri in below(), SECONDS)


def test_accounts_of_a_rebuilt_server_are_followed_read_and_answered_again(
    people: tuple[Person, Person], elsewhere: RemoteServer
) -> None:
    old, address = elsewhere.person("zoe"), f"zoe@{elsewhere.domain}"
    former = [follow(reader, old, address, elsewhere, "/users/zoe/inbox") for reader in people]
    tell(old, old.activity("Create", old.note("<p>from the old server</p>")), *people)
    kept = [arrives(reader, "from the old server") for reader in people]
    new = elsewhere.rebuild("zoe")
    for reader in people:
        tell(new, new.activity("Follow", f"{reader.server.base_url}/users/{reader.username}"), reader)
        arrived(elsewhere, "/ap/users/zoe-2/inbox", "Accept", lambda act: act["object"]["actor"] == new.uri)
        wait(lambda reader=reader: find(reader, address).uri == new.uri, SECONDS)
        follow(reader, new, address, elsewhere, "/ap/users/zoe-2/inbox")
    note = new.note("<p>from the new server</p>", 2)
    tell(new, new.activity("Create", note), *people)
    read_and_answer(people, address, note["id"], "from the new server", elsewhere, "/inbox")
    for reader, account, status in zip(people, former, kept, strict=True):
        left = f"zoe.{account.id}@{elsewhere.domain}"
        assert reader.client.account(account.id).acct == left
        assert reader.client.status(status.id).account.acct == left
        assert reader.client.account_relationships(account.id)[0].following, "followed accounts are shown as followed"


def test_accounts_that_exchanged_handles_are_read_and_answered_under_the_new_ones(
    people: tuple[Person, Person], elsewhere: RemoteServer
) -> None:
    zoe, yan = elsewhere.person("zoe"), elsewhere.person("yan", key=2)
    names = {zoe: f"zoe@{elsewhere.domain}", yan: f"yan@{elsewhere.domain}"}
    for reader in people:
        for someone, address in names.items():
            follow(reader, someone, address, elsewhere, f"/users/{someone.name}/inbox")
    elsewhere.swap(zoe, yan)
    # Only one of the two accounts announces that they have exchanged names.
    tell(zoe, zoe.activity("Update", zoe.document() | {"preferredUsername": "yan"}), *people)
    swapped = {zoe: names[yan], yan: names[zoe]}
    for reader in people:
        for someone, address in swapped.items():
            wait(lambda reader=reader, ask=address, uri=someone.uri: holders(reader, ask) == [(ask, uri)], SECONDS)
    for someone, address in swapped.items():
        note = someone.note(f"<p>{someone.name} is {address} now</p>", 3)
        tell(someone, someone.activity("Create", note), *people)
        read_and_answer(people, address, note["id"], f"{someone.name} is", elsewhere, "/inbox")


def test_a_blog_with_an_inbox_on_another_host_is_followed_read_and_answered(
    people: tuple[Person, Person], elsewhere: RemoteServer, hoster: RemoteServer
) -> None:
    ann, address = RemotePerson(elsewhere, "ann"), f"ann@{elsewhere.domain}"
    ann.uri = elsewhere.uri("?author=1")
    ann.key_id = f"{ann.uri}#main-key"
    places = {name: hoster.uri(f"blogs/1/{name}") for name in ("inbox", "outbox", "followers", "following", "featured")}
    blog = {"url": elsewhere.uri("author/ann"), "endpoints": {"sharedInbox": hoster.uri("shared")}}
    elsewhere.serve(ann.document() | places | blog, "/")
    elsewhere.finger("ann", ann.uri)
    for reader in people:
        follow(reader, ann, address, hoster, "/blogs/1/inbox")
    article = {
        "id": elsewhere.uri("?p=2"),
        "type": "Article",
        "name": "On bread",
        "summary": "<p>Why it is <em>good</em></p>",
        "attributedTo": ann.uri,
        "content": '<p class="wp-block-paragraph">Flour and water</p>',
        "contentMap": {"en": '<p class="wp-block-paragraph">Flour and water</p>'},
        "url": elsewhere.uri("2026/on-bread"),
        "published": ann.note()["published"],
    }
    # The activity names the audience, but its object does not.
    audience = {"to": [PUBLIC], "cc": [places["followers"]]}
    tell(ann, ann.activity("Create", article, **audience), *people)
    read_and_answer(people, address, article["id"], "On bread", hoster, "/shared")
    private = ann.note("<p>for those who follow</p>", 3, to=[places["followers"]], cc=[])
    tell(ann, ann.activity("Create", private), *people)
    assert [arrives(reader, "for those who follow").visibility for reader in people] == ["private", "private"]
    assert not elsewhere.delivered(), "the blog's own host gets no deliveries"


def test_a_static_site_is_followed_read_and_answered(
    people: tuple[Person, Person], elsewhere: RemoteServer, hoster: RemoteServer
) -> None:
    eva, address = RemotePerson(elsewhere, "eva"), f"eva@{elsewhere.domain}"
    eva.uri = elsewhere.uri("actor.json")
    eva.key_id = f"{eva.uri}#main-key"
    files = {"outbox": elsewhere.uri("outbox.json"), "followers": elsewhere.uri("followers.json")}
    document = eva.document() | files | {"inbox": hoster.uri("for/eva"), "endpoints": {}}
    del document["following"]
    link = {"rel": "self", "type": ACTIVITY, "href": eva.uri}
    # The server returns the same file for any query; the file has no extension that would determine its content type.
    names = json.dumps({"subject": f"acct:{address}", "links": [link]}).encode()
    elsewhere.pages["/.well-known/webfinger"] = Answer(names, "application/octet-stream")
    elsewhere.serve(document)
    older = eva.note("<p>An older page</p>", 1, id=elsewhere.uri("posts/1.json"))
    outbox = {"id": files["outbox"], "type": "OrderedCollection", "totalItems": 1}
    elsewhere.serve(outbox | {"orderedItems": [eva.activity("Create", older)]})
    for reader in people:
        account = follow(reader, eva, address, hoster, "/for/eva")
        wait(lambda reader=reader, account=account: reader.client.account_statuses(account.id), SECONDS)
    note = eva.note("<p>A newer page</p>", 2, id=elsewhere.uri("posts/2.json"))
    elsewhere.serve(note)
    tell(eva, eva.activity("Create", note), *people)
    read_and_answer(people, address, note["id"], "A newer page", hoster, "/for/eva")
    assert not elsewhere.delivered(), "the host of a static site gets no deliveries"
