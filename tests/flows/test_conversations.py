"""Tests of conversations across three remote servers; a fifth of the replies is on a fourth server, which never responds. The
page is shown immediately, and the other replies appear soon.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import mastodon
import pytest

from social.kernel import clock
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.flows.people import Person
from tests.support.chromium import find_chromium, open_tab
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]
CONVERSATIONS = 8
REPLIES = 40
PEOPLE = 4
MOMENTS = (0.0, 2.0, 5.0)
EVERY = 0.25


@pytest.fixture(scope="module")
def reader() -> Iterator[Person]:
    with Instance(FEDERATION_LOOPBACK="yes") as server:
        yield Person(server, "reader")


@pytest.fixture(scope="module")
def servers() -> Iterator[list[RemoteServer]]:
    """Three servers, followed by one that does not respond."""
    ended = Event()
    with ExitStack() as stack:
        found = [stack.enter_context(RemoteServer().running()) for _number in range(4)]
        found[-1].before_answer = lambda: ended.wait(60)
        stack.callback(ended.set)
        yield found


def listed(note: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the note with the collection of its direct replies."""
    items = [answer["id"] for answer in answers if answer["inReplyTo"] == note["id"]]
    first = {"type": "CollectionPage", "partOf": f"{note['id']}/replies", "items": items}
    return note | {"replies": {"id": f"{note['id']}/replies", "type": "Collection", "first": first}}


def converse(servers: list[RemoteServer], number: int) -> tuple[str, set[str]]:
    """Serve a conversation; return the id of its first post, and the ids of the replies that can be fetched."""
    people: list[list[RemotePerson]] = [[home.person(f"p{n}") for n in range(PEOPLE)] for home in servers]
    published = clock.iso(clock.now() - timedelta(hours=1))
    start = people[number % 3][0].note("<p>start</p>", number * 1000, published=published)
    answers: list[dict[str, Any]] = []
    for place in range(1, REPLIES + 1):
        # Every fifth reply is on the server that does not respond; a third of the others reply to another reply that can be
        # fetched.
        home = 3 if place % 5 == 0 else place % 3
        above = answers[-3] if place % 3 == 0 and place > 5 and (place - 3) % 5 else start
        who = people[home][place % PEOPLE]
        answers.append(who.note("<p>reply</p>", number * 1000 + place, published=published, inReplyTo=above["id"]))
    for note in (start, *answers):
        next(home for home in servers if note["id"].startswith(home.url)).serve(listed(note, answers))
    return start["id"], {note["id"] for note in answers if not note["id"].startswith(servers[3].url)}


def test_a_conversation_is_shown_immediately_and_soon_complete_even_with_a_silent_server(
    reader: Person, servers: list[RemoteServer], record_property: Any
) -> None:
    client: mastodon.Mastodon = reader.client
    shares: dict[float, list[float]] = {moment: [] for moment in MOMENTS}
    whole, waits = [], []
    for number in range(CONVERSATIONS):
        uri, among = converse(servers, number)
        (post,) = client.search_v2(uri, resolve=True, result_type="statuses").statuses
        opened, share, left = time.monotonic(), 0.0, list(MOMENTS)
        while share < 1.0:
            asked = time.monotonic() - opened
            assert asked < 120
            found = {each.uri for each in client.status_context(post.id).descendants}
            waits.append(time.monotonic() - opened - asked)
            assert found <= among
            share = len(found) / len(among)
            while left and (asked >= left[0] or share == 1.0):
                shares[left.pop(0)].append(share)
            time.sleep(EVERY)
        whole.append(time.monotonic() - opened - EVERY)
    report = {
        "share of replies after seconds": {
            moment: round(sum(found) / len(found), 3) for moment, found in shares.items()
        },
        "seconds until whole": [round(seconds, 2) for seconds in whole],
        "seconds until whole, p95": round(sorted(whole)[math.ceil(0.95 * len(whole)) - 1], 2),
        "seconds of an answer, slowest": round(max(waits), 3),
    }
    print(json.dumps(report))
    record_property("conversations", report)
    assert max(waits) < 5, "no response waits for another server"
    assert report["share of replies after seconds"][MOMENTS[0]] < 1, "the replies were fetched in the background"


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine")
def test_the_page_of_a_thread_shows_replies_that_arrive_while_it_is_open(
    reader: Person, servers: list[RemoteServer], tmp_path: Path
) -> None:
    uri, among = converse(servers, CONVERSATIONS)
    (post,) = reader.client.search_v2(uri, resolve=True, result_type="statuses").statuses
    with open_tab(tmp_path) as tab:
        tab.go(f"{reader.server.base_url}/auth/sign_in")
        tab.type("[name=login]", reader.username)
        tab.type("[name=password]", "correct horse battery")
        tab.click("form:not([data-passkey]) [type=submit]")
        tab.wait("location.pathname === '/' && document.readyState === 'complete'")
        tab.go(f"{reader.server.base_url}/@{post.account.acct}/{post.id}")
        tab.run("window.marked = true")
        tab.wait("document.querySelector('[data-fetching]') !== null")
        # The page shows replies up to six levels below the post.
        tab.wait(f"document.querySelectorAll('.tree article.post').length > {len(among) // 2}", 60)
        tab.wait("document.querySelector('[data-fetching]') === null", 60)
        answered = next(
            each for each in reader.client.status_context(post.id).descendants if each.in_reply_to_id == post.id
        )
        written = reader.client.status_post("A word of mine", in_reply_to_id=answered.id)
        below = f"document.querySelector('#post-{answered.id}')?.closest('.depth').compareDocumentPosition("
        tab.wait(f"{below}document.querySelector('#post-{written.id}') ?? document.body) & 4", 60)
        assert tab.run("window.marked === true"), "the page was not reloaded"
