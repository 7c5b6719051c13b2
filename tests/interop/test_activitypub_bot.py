"""Tests with @evanp/activitypub-bot: follow, post, reply, like, boost, edit, delete and undo, in both directions (`make
interop`).
"""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
import requests

from tests.flows.people import Person
from tests.interop.fedify_server import arrives, gone, pause
from tests.interop.node_server import NodeServer, wait
from tests.support.instance import Instance
from tests.support.own_postgres import own_postgres

pytestmark = pytest.mark.interop


class Zoe(NodeServer):
    """The bot's server, and its user Zoe."""

    def __init__(self, database_url: str) -> None:
        super().__init__("activitypub-bot", database_url)
        self.uri, self.address = f"{self.url}/user/zoe", f"zoe@localhost:{self.port}"

    def arrived(self, kind: str, fits: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the last activity of this type with a matching object, as soon as there is one."""
        return wait(
            lambda: next((act for act in reversed(self.seen()) if act["type"] == kind and fits(act["object"])), None)
        )

    def act(self, act: str, uri: str, **more: Any) -> str:
        """Perform an action on the object with this address, and return the id of the result."""
        made: str = self.do(act=act, uri=uri, **more)["id"]
        return made

    def listed(self, uri: str) -> list[str]:
        """Return the public members of one of Zoe's collections."""
        headers = {"Accept": "application/activity+json"}
        found = requests.get(uri, headers=headers, timeout=30).json()
        if "first" in found:
            found = requests.get(found["first"], headers=headers, timeout=30).json()
        items = found.get("items", found.get("orderedItems", []))
        return [
            each if isinstance(each, str) else each["id"]
            for each in ([items] if isinstance(items, str | dict) else items)
        ]


@pytest.fixture(scope="module")
def zoe() -> Iterator[Zoe]:
    with (
        own_postgres() as postgres,
        Zoe(f"postgres://social@localhost/social?host={quote(str(postgres.sockets))}") as running,
    ):
        yield running


@pytest.fixture(scope="module")
def anna() -> Iterator[Person]:
    with Instance(FEDERATION_LOOPBACK="yes", AUTHORIZED_FETCH="yes") as server:
        yield Person(server, "anna")


@pytest.fixture(scope="module")
def uri(anna: Person, zoe: Zoe) -> str:
    """Anna's address, after she and Zoe have followed each other."""
    uri = f"{anna.server.base_url}/users/anna"
    (account,) = anna.client.account_search(zoe.address, resolve=True)
    assert (account.acct, account.uri, account.display_name) == (zoe.address, zoe.uri, "zoe of activitypub-bot")
    anna.client.account_follow(account.id)
    wait(lambda: anna.client.account_relationships(account.id)[0].following)
    zoe.act("follow", uri)
    wait(lambda: anna.client.account_relationships(account.id)[0].followed_by)
    wait(lambda: zoe.do(act="lists") == {"followers": [uri], "following": [uri]})
    return uri


def of_zoe(anna: Person, zoe: Zoe, text: str) -> Any:
    """Publish a post of Zoe, and return it from Anna's home timeline."""
    note = zoe.do(act="post", text=text)["id"]
    seen = arrives(anna, text)
    assert (seen.uri, seen.account.acct, seen.visibility) == (note, zoe.address, "public")
    return seen


def of_anna(anna: Person, zoe: Zoe, text: str, **more: Any) -> Any:
    """Publish a post of Anna, and return it as soon as Zoe's server has it."""
    status = anna.client.status_post(text, **more)
    zoe.arrived("Create", lambda made: made["id"] == status.uri)
    return status


def test_posts_are_answered_both_ways(anna: Person, uri: str, zoe: Zoe) -> None:
    seen = of_zoe(anna, zoe, "Hello from the library")
    answer = anna.client.status_post(f"@{zoe.address} and from here", in_reply_to_id=seen.id)
    sent = zoe.arrived("Create", lambda made: made["id"] == answer.uri)["object"]
    assert sent["inReplyTo"] in (seen.uri, {"id": seen.uri})
    wait(lambda: zoe.listed(f"{seen.uri}/replies") == [answer.uri])
    status = of_anna(anna, zoe, "Hello from Anna")
    reply = zoe.act("answer", status.uri, text="An answer from the library")
    (below,) = wait(lambda: anna.client.status_context(status.id).descendants)
    assert (below.uri, below.in_reply_to_id) == (reply, status.id)


def test_likes_and_boosts_are_made_and_undone_both_ways(anna: Person, uri: str, zoe: Zoe) -> None:
    status = of_anna(anna, zoe, "Worth sharing, says Anna")

    def counts() -> tuple[int, int]:
        fresh = anna.client.status(status.id)
        return fresh.favourites_count, fresh.reblogs_count

    zoe.act("like", status.uri)
    zoe.act("boost", status.uri)
    wait(lambda: counts() == (1, 1))
    zoe.act("unlike", status.uri)
    zoe.act("unboost", status.uri)
    wait(lambda: counts() == (0, 0))
    seen = of_zoe(anna, zoe, "Worth sharing, says Zoe")
    anna.client.status_favourite(seen.id)
    anna.client.status_reblog(seen.id)
    for kept in ("likes", "shares"):
        wait(lambda kept=kept: len(zoe.listed(f"{seen.uri}/{kept}")) == 1)
    anna.client.status_unfavourite(seen.id)
    wait(lambda: not zoe.listed(f"{seen.uri}/likes"))
    # The bot's list of shares does not change, because the bot passes an Undo to listeners but does not apply it.
    anna.client.status_unreblog(seen.id)
    zoe.arrived("Undo", lambda undone: (undone["type"], undone["object"]) == ("Announce", seen.uri))


def test_edits_arrive_both_ways(anna: Person, uri: str, zoe: Zoe) -> None:
    status = of_anna(anna, zoe, "first of Anna")
    assert "first of Anna" in zoe.do(act="look", uri=status.uri)["content"]
    anna.client.status_update(status.id, status="second of Anna")
    zoe.arrived("Update", lambda made: made["id"] == status.uri)
    wait(lambda: "second of Anna" in zoe.do(act="look", uri=status.uri)["content"])
    seen = of_zoe(anna, zoe, "first of Zoe")
    zoe.act("edit", seen.uri, text="<p>second of Zoe</p>")
    wait(lambda: "second of Zoe" in anna.client.status(seen.id).content)
    assert anna.client.status(seen.id).edited_at


def test_an_edit_without_a_date_changes_no_text(anna: Person, uri: str, zoe: Zoe) -> None:
    """Only this library sends edits without a date; Mastodon ignores them too (contract, federation section 7)."""
    seen = of_zoe(anna, zoe, "before")
    zoe.act("rewrite", seen.uri, text="<p>after</p>")
    pause()
    assert "before" in anna.client.status(seen.id).content


def test_deleted_posts_are_gone_on_the_other_side(anna: Person, uri: str, zoe: Zoe) -> None:
    status = of_anna(anna, zoe, "A slip of Anna")
    anna.client.status_delete(status.id)
    zoe.arrived("Delete", lambda made: made["id"] == status.uri)
    seen = of_zoe(anna, zoe, "A slip of Zoe")
    zoe.act("delete", seen.uri)
    wait(lambda: gone(anna, seen.id))


def test_follows_are_ended_both_ways(anna: Person, uri: str, zoe: Zoe) -> None:
    (account,) = anna.client.account_search(zoe.address)
    zoe.act("unfollow", uri)
    wait(lambda: not anna.client.account_relationships(account.id)[0].followed_by)
    anna.client.account_unfollow(account.id)
    wait(lambda: zoe.do(act="lists") == {"followers": [], "following": []})
