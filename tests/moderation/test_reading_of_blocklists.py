"""Tests of parsing blocklists: every format is read, and errors change nothing."""

import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now

from accounts.models import AuditEntry
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistFetch
from moderation.blocklists.queries import list_failing
from moderation.blocklists.services import fetching
from moderation.blocklists.services.lists import (
    subscribe,
    switch_list,
)
from moderation.blocklists.services.reading import read_list
from moderation.blocklists.services.taking import queue_fetches, store_list
from social.kernel import clock
from social.kernel.runner import TERMS
from social.runtime import doctor
from tests.moderation.blocklists import HEADER, draft, fetched, listed, rules, subscribed
from tests.support.at_once import at_once
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db


def _silent(handler: BaseHTTPRequestHandler) -> None:
    threading.Event().wait(0.6)


def _huge(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _number in range(6):
        handler.wfile.write(b"a.example\n" * 100_000)


def _elsewhere(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "https://10.0.0.1/list")
    handler.end_headers()


def _again(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (lambda handler: handler.send_error(500), "the server answers 500"),
        (lambda handler: handler.send_error(404), "the server answers 404"),
        (_silent, "TimedOut"),
        (_huge, "TooLarge"),
        (_elsewhere, "Refused"),
        (_again, "TooManyRedirects"),
    ],
)
def test_a_list_that_cannot_be_fetched_changes_nothing(
    site: Site, instead: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "DEADLINE", 0.4)
    blocklist = subscribed(site, listed("a.example"))
    site.instead = instead
    fetched(blocklist)
    blocklist.refresh_from_db()
    assert said in blocklist.last_error
    assert (rules(), blocklist.failing_since is not None) == ({"a.example": "suspend"}, True)
    row = BlocklistFetch.objects.get()
    assert (row.attempts, row.due_at > clock.now()) == (1, True)


def test_a_failing_list_is_retried_after_some_hours_and_named_by_the_doctor(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"))
    site.show("/theirs", "gone", status=404)
    fetched(blocklist)
    for _attempt in range(TERMS["blocklists"].attempts - 1):
        BlocklistFetch.objects.update(due_at=Now())
        fetching.FETCHES.run()
    assert BlocklistFetch.objects.get().dead_at is not None
    Blocklist.objects.update(checked_at=clock.now() - timedelta(days=4))
    assert (queue_fetches(), rules()) == (0, {"a.example": "suspend"})
    assert (list(list_failing()), list(doctor._blocklists())) == ([], [])
    Blocklist.objects.update(failing_since=clock.now() - timedelta(days=4))
    (check,) = doctor._blocklists()
    assert (check.state, "theirs (since " in check.detail, "answers 404" in check.detail) == ("warning", True, True)
    BlocklistFetch.objects.all().delete()
    assert queue_fetches() == 1


def test_a_page_or_garbage_in_place_of_a_list_changes_nothing(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"))
    for body, said in (
        (b"<!doctype html><title>Gone</title>", "This is a web page, not a list."),
        (b'{"error": "no"}', "The JSON document is not a list of servers."),
        (b'{"items": [], "next": "https://x.example/2"}', "This is only one page of a list"),
        (rb'["a.example", {"domain": "b.example", "comment": "\u0000"}]', "The file contains NUL bytes"),
        (b"[1, 2", "This is not a valid JSON document."),
        (b"[" * 5000, "This is not a valid JSON document."),
        (b"not a domain\nneither is this\n", "No line of the list names a server: Line 1"),
        (b"\xff\xfe\x00", "That is not a CSV file in UTF-8: line 1 cannot be read."),
        (b"a.example\n" * 20_001, "The list has more than 20000 lines."),
        (b"[" + b"1," * 2_000_000 + b"1]", "The list has more than 20000 lines."),
    ):
        site.show("/theirs", body)
        fetched(blocklist)
        assert said in blocklist.last_error
        assert rules() == {"a.example": "suspend"}
        BlocklistFetch.objects.all().delete()


def test_an_unchanged_list_is_not_downloaded_again(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"))
    site.show("/theirs", listed("a.example", "b.example"), ETag='"2"', Last_Modified="Sat, 28 Nov 2026 10:00:00 GMT")
    fetched(blocklist)
    assert (blocklist.etag, blocklist.last_modified) == ('"2"', "Sat, 28 Nov 2026 10:00:00 GMT")
    asked: list[Any] = []

    def unchanged(handler: BaseHTTPRequestHandler) -> None:
        asked.append((handler.headers["If-None-Match"], handler.headers["If-Modified-Since"]))
        handler.send_response(304)
        handler.end_headers()

    site.instead = unchanged
    before = blocklist.checked_at
    fetched(blocklist)
    assert asked == [('"2"', "Sat, 28 Nov 2026 10:00:00 GMT")]
    assert (blocklist.last_error, blocklist.checked_at > before, len(rules())) == ("", True, 2)


def test_lists_of_all_kinds_are_read(site: Site) -> None:
    gotosocial = [
        {"domain": "a.example", "suspended_at": "2020-05-13T13:29:12.000Z", "public_comment": "big jerks"},
        {"domain": "b.example", "silenced_at": "2020-05-13T13:29:12.000Z"},
    ]
    mastodon = [
        {"domain": "a.example", "digest": "x", "severity": "suspend", "comment": "big jerks"},
        {"domain": "b.example", "digest": "x", "severity": "silence", "comment": ""},
        {"domain": "c***e.example", "digest": "x", "severity": "suspend", "comment": ""},
    ]
    kind = {"entityKind": "domain", "type": "Recommendation"}
    fires = {
        "type": "OrderedCollection",
        "orderedItems": [
            {**kind, "entityKey": "a.example", "recommendedPolicy": "drop", "comment": "big jerks"},
            {**kind, "entityKey": "b.example", "recommendedPolicy": "filter"},
            {**kind, "entityKey": "c.example", "recommendedPolicy": "accept"},
            {**kind, "entityKey": "https://d.example/u", "entityKind": "actor", "recommendedPolicy": "drop"},
            {"type": "Advisory", "entityKind": "domain", "entityKey": "e.example"},
            {"type": "Retraction", "entityKind": "domain", "entityKey": "f.example"},
        ],
    }
    reference = {
        "items": [
            {
                "type": "Recommendation",
                "entity": {"type": "Domain", "value": "a.example"},
                "recommended_policy": "reject",
            },
            {
                "type": "https://fires.fedimod.org/ns#Recommendation",
                "entity": {"type": "Domain", "value": "b.example"},
                "recommended_policy": "filter",
            },
            {
                "type": "fires:Recommendation",
                "entity": {"type": "Domain", "value": "c.example"},
                "recommended_policy": None,
            },
        ]
    }
    csv = HEADER + "a.example,suspend,,,big jerks,\nb.example,limit,,,,\n"
    for body in (
        *map(orjson.dumps, (gotosocial, mastodon, fires, reference)),
        csv.encode(),
        b"\xef\xbb\xbf" + csv.encode(),
    ):
        found = {entry.name: entry.draft.severity for entry in read_list(body).entries}
        assert found == {"a.example": "suspend", "b.example": "silence"}, body
    shapes = (
        csv.replace(HEADER, f"# a list\n\n{HEADER}"),
        "\n" + csv.replace("#", ""),
        "# a list\na.example,,big jerks\nb.example,limit\n",
        "a.example,big jerks  # really\nb.example,Silence\t# ours\n",
        csv.replace("\n", "\r\n"),
        csv.replace("big jerks", '"see\n#spam"'),
    )
    for body in shapes:
        found = {entry.name: entry.draft.severity for entry in read_list(body.encode()).entries}
        assert found == {"a.example": "suspend", "b.example": "silence"}, body
    plain = "# a list\n\nA.example\n*.b\u00fccher.example\n#c.example\nd.example,limit\nA.example\n"
    read = read_list(plain.encode())
    assert [entry.name for entry in read.entries] == ["a.example", "xn--bcher-kva.example", "d.example"]
    assert read.problems == ["Line 7, a.example: line 3 names it already"]
    assert [entry.name for entry in read_list(b'["a.example", "b.example"]').entries] == ["a.example", "b.example"]
    assert read_list(b"").entries == []

    site.show("/snapshot", orjson.dumps(fires))
    dataset = {"type": "Dataset", "endpoints": {"snapshot": f"{site.address}/snapshot", "changes": f"{site.address}/c"}}
    blocklist = subscribed(site, orjson.dumps(dataset))
    assert (rules(), blocklist.etag) == ({"a.example": "suspend", "b.example": "silence"}, "")
    site.show("/snapshot", orjson.dumps(dataset))
    fetched(blocklist)
    assert blocklist.last_error == "the snapshot names another snapshot"


@pytest.mark.django_db(transaction=True)
def test_creating_a_list_twice_at_the_same_time_creates_one(site: Site) -> None:
    blocklist = subscribe(by=OPERATOR, draft=draft(f"{site.address}/theirs"))
    assert queue_fetches() == 0 or BlocklistFetch.objects.count() == 1
    body = listed("a.example", "b.example").encode()
    read = read_list(body)
    answers = at_once(4, lambda _place: store_list(blocklist, read, body=body, etag="", last_modified=""))
    assert (answers, BlocklistEntry.objects.count()) == ([None] * 4, 2)
    work()
    assert rules() == {"a.example": "suspend", "b.example": "suspend"}
    assert AuditEntry.objects.filter(target_type="DomainRule").count() == 2


def test_a_list_that_is_switched_off_is_not_fetched_and_changes_nothing(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"))
    switch_list(by=OPERATOR, blocklist=blocklist, enabled=False)
    Blocklist.objects.update(checked_at=None)
    asked = len(site.asked)
    assert queue_fetches() == 0
    work()
    assert (len(site.asked), rules()) == (asked, {"a.example": "suspend"})
    switch_list(by=OPERATOR, blocklist=blocklist, enabled=True)
    work()
    assert len(site.asked) == asked + 1
