"""Tests with a server built on bovine's libraries: follow, post, reply, like, boost, edit and delete, in both directions. `make
interop` runs them; pip installs bovine into a separate folder, and without bovine the tests are skipped.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.flows.people import Person
from tests.interop.fedify_server import arrives, gone
from tests.interop.node_server import wait
from tests.runtime.processes import free_port
from tests.support.instance import ROOT, Instance

pytestmark = pytest.mark.interop

FOLDER = ROOT / ".tools" / "bovine-0.5.19"
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def install() -> None:
    """Install bovine and its dependencies; skip the test if that fails."""
    if FOLDER.exists():
        return
    shutil.rmtree(f"{FOLDER}.part", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", f"{FOLDER}.part", "bovine==0.5.19"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("pip did not install bovine within ten minutes")
    if done.returncode != 0:
        pytest.skip(f"pip could not install bovine: {done.stderr.strip()[:300]}")
    Path(f"{FOLDER}.part").rename(FOLDER)


class Zoe:
    """A user on bovine's server."""

    def __init__(self, port: int, inbox: str) -> None:
        self.url, self.address, self.inbox = f"http://localhost:{port}", f"zoe@localhost:{port}", inbox
        self.uri = f"{self.url}/users/zoe"
        self.number = 0

    def send(self, kind: str, obj: Any, **more: Any) -> dict[str, Any]:
        """Sign and send an activity, and return it."""
        self.number += 1
        activity = {
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": f"{self.uri}/acts/{self.number}",
            "type": kind,
            "actor": self.uri,
            "object": obj,
        } | more
        asked = {"inbox": self.inbox, "activity": activity, "keep": [obj] if kind in ("Create", "Update") else []}
        assert requests.post(f"{self.url}/do", json=asked, timeout=30).json() == {"status": 202}
        return activity

    def note(self, text: str, **more: Any) -> dict[str, Any]:
        """Return a public post of Zoe that has not been sent yet."""
        self.number += 1
        return {
            "id": f"{self.uri}/notes/{self.number}",
            "type": "Note",
            "attributedTo": self.uri,
            "content": f"<p>{text}</p>",
            "to": [PUBLIC],
            "cc": [f"{self.uri}/followers"],
        } | more

    def got(self, kind: str, fits: Any = bool) -> dict[str, Any]:
        """Return the last matching activity of this type whose signature bovine has verified, as soon as there is one."""

        def look() -> dict[str, Any] | None:
            found = requests.get(f"{self.url}/seen", timeout=10).json()
            assert all(each["signer"] for each in found), found
            acts = [each["activity"] for each in reversed(found)]
            return next((act for act in acts if act["type"] == kind and fits(act["object"])), None)

        return wait(look)


@pytest.fixture(scope="module")
def anna() -> Iterator[Person]:
    with Instance(FEDERATION_LOOPBACK="yes", AUTHORIZED_FETCH="yes") as server:
        yield Person(server, "anna")


@pytest.fixture(scope="module")
def zoe(anna: Person) -> Iterator[Zoe]:
    install()
    port = free_port()
    command = [sys.executable, str(Path(__file__).parent / "bovine" / "server.py"), str(port)]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(FOLDER)})
    try:
        zoe = Zoe(port, f"{anna.server.base_url}/inbox")

        def answers() -> bool:
            try:
                return requests.get(f"{zoe.url}/seen", timeout=5).ok
            except requests.ConnectionError:
                return False

        wait(answers)
        yield zoe
    finally:
        process.kill()
        process.wait(10)


def test_a_user_on_bovine_and_a_local_user_can_interact_in_all_ways(anna: Person, zoe: Zoe) -> None:
    uri = f"{anna.server.base_url}/users/anna"
    # Both accounts follow each other.
    (account,) = anna.client.account_search(zoe.address, resolve=True)
    anna.client.account_follow(account.id)
    zoe.send("Accept", zoe.got("Follow", lambda named: named == zoe.uri))
    wait(lambda: anna.client.account_relationships(account.id)[0].following)
    follow = zoe.send("Follow", uri)
    assert zoe.got("Accept", lambda named: named["id"] == follow["id"])
    # Zoe's post, with a reply of Anna; it is liked, boosted, edited and deleted.
    note = zoe.note("Hello from bovine")
    zoe.send("Create", note, to=note["to"], cc=note["cc"])
    seen = arrives(anna, "Hello from bovine")
    anna.client.status_favourite(seen.id)
    anna.client.status_reblog(seen.id)
    for kind in ("Like", "Announce"):
        zoe.got(kind, lambda named: named == note["id"])
    answer = anna.client.status_post(f"@{zoe.address} and from here", in_reply_to_id=seen.id)
    assert zoe.got("Create", lambda made: made["id"] == answer.uri)["object"]["inReplyTo"] == note["id"]
    zoe.send("Update", note | {"content": "<p>Changed by bovine</p>", "updated": "2030-01-01T00:00:00Z"})
    wait(lambda: "Changed by bovine" in anna.client.status(seen.id).content)
    # Anna's post is answered, liked, boosted, edited and deleted.
    status = anna.client.status_post("Hello from Anna")
    zoe.got("Create", lambda made: made["id"] == status.uri)
    reply = zoe.note("An answer of bovine", inReplyTo=status.uri, cc=[uri])
    zoe.send("Create", reply, to=reply["to"], cc=reply["cc"])
    zoe.send("Like", status.uri)
    zoe.send("Announce", status.uri, to=[PUBLIC])

    def counted() -> bool:
        fresh = anna.client.status(status.id)
        return (fresh.replies_count, fresh.favourites_count, fresh.reblogs_count) == (1, 1, 1)

    wait(counted)
    anna.client.status_update(status.id, status="Changed by Anna")
    zoe.got("Update", lambda made: made["id"] == status.uri and "Changed by Anna" in made["content"])
    anna.client.status_delete(status.id)
    zoe.got("Delete", lambda made: made["id"] == status.uri)
    zoe.send("Delete", {"id": note["id"], "type": "Tombstone"}, to=[PUBLIC])
    wait(lambda: gone(anna, seen.id))
