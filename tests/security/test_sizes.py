"""Tests that input which is too long, too deeply nested or slow to process is refused quickly (security rows 32 to 34)."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Account
from statuses.models import Status
from tests.conformance.people import Person
from tests.factories.accounts import make_remote, make_token
from tests.support.client import Api

pytestmark = pytest.mark.django_db
#: The limit as a multiple of the time of an ordinary request: refusing input because of its length takes 2 to 20 times as long,
#: and processing it at least 400 times.
DEAR = 100
UPDATE = "/api/v1/accounts/update_credentials"


def cost(ask: Callable[[], Any]) -> float:
    """Return the processor seconds of a request: the minimum of three attempts, because a busy machine is slower."""
    spent = []
    for _time in range(3):
        began = time.thread_time()
        ask()
        spent.append(time.thread_time() - began)
    return min(spent)


def times_ordinary(person: Person, ask: Callable[[], Any]) -> float:
    """Return the CPU time of a request relative to the CPU time of an ordinary refused request, measured at the same time."""

    def ordinary() -> None:
        assert person.api.post("/api/v1/statuses", {"status": ""}).status_code == 422
        assert person.api.patch(UPDATE, {"note": "x" * 501}).status_code == 422

    return cost(ask) / cost(ordinary)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<" * 100_000, id="opening tags"),
        pytest.param("@" * 100_000, id="at signs"),
        pytest.param("#a" * 50_000, id="hashtags"),
        pytest.param("http://" * 14_000, id="schemes"),
        pytest.param(":a:" * 33_000, id="shortcodes"),
        pytest.param("a\n" * 50_000, id="lines"),
    ],
)
def test_row_32_a_hostile_text_is_refused_by_its_length(alice: Person, text: str) -> None:
    assert alice.api.post("/api/v1/statuses", {"status": text}).status_code == 422
    assert times_ordinary(alice, lambda: alice.api.post("/api/v1/statuses", {"status": text})) < DEAR
    assert not Status.objects.exists()


@pytest.mark.parametrize(
    ("field", "limit"),
    [("display_name", 40), ("note", 500), ("avatar_description", 150), ("header_description", 150)],
)
def test_row_33_the_length_of_each_text_of_a_profile_is_limited(alice: Person, field: str, limit: int) -> None:
    assert alice.api.patch(UPDATE, {field: "ü" * limit}).status_code == 200
    before = alice.read("accounts/verify_credentials")
    assert alice.api.patch(UPDATE, {field: "ü" * (limit + 1)}).status_code == 422
    assert alice.read("accounts/verify_credentials") == before


def test_row_33_the_table_of_a_profile_has_four_rows_of_255_characters(alice: Person) -> None:
    row = {"name": "n" * 255, "value": "v" * 255}
    assert alice.api.patch(UPDATE, {"fields_attributes": [row] * 4}).status_code == 200
    assert alice.api.patch(UPDATE, {"fields_attributes": [row] * 5}).status_code == 422
    longer = {"name": "n" * 300, "value": "v" * 300}
    answer = alice.api.patch(UPDATE, {"fields_attributes": [longer]})
    assert answer.status_code == 200
    assert [(len(item["name"]), len(item["value"])) for item in answer.json()["source"]["fields"]] == [(255, 255)]


def test_at_most_100_different_attribution_domains_are_accepted(alice: Person) -> None:
    domains = [f"d{number}.example" for number in range(100)]
    answer = alice.api.patch(UPDATE, {"attribution_domains": domains})
    assert (answer.status_code, answer.json()["source"]["attribution_domains"]) == (200, domains)
    answer = alice.api.patch(UPDATE, {"attribution_domains": [*domains, "one-more.example"]})
    assert (answer.status_code, answer.json()["details"]["attribution_domains"][0]["error"]) == (422, "ERR_TOO_LONG")
    answer = alice.api.patch(UPDATE, {"attribution_domains": ["a.example", "A.Example."] * 200})
    assert answer.json()["source"]["attribution_domains"] == ["a.example"]


@pytest.mark.parametrize(
    ("field", "limit"),
    [("username", 30), ("email", 320), ("password", 72), ("reason", 420)],
)
def test_row_33_the_length_of_each_text_of_a_sign_up_is_limited(field: str, limit: int) -> None:
    form = {"username": "dora", "email": "dora@example.com", "password": "correct horse", "agreement": True}
    long = "d" * (limit + 1) if field != "email" else "d" * limit + "@example.com"
    answer = Api(make_token(None)).post("/api/v1/accounts", form | {field: long})
    assert answer.status_code == 422
    assert "ERR_TOO_LONG" in {item["error"] for item in answer.json()["details"][field]}
    assert not Account.objects.filter(username="dora").exists()


@pytest.mark.parametrize(("length", "status"), [(500, 200), (501, 422)])
def test_row_33_the_length_of_a_post_is_limited(alice: Person, length: int, status: int) -> None:
    for sent in ({"status": "x" * length}, {"status": "x", "spoiler_text": "y" * (length - 1)}):
        assert alice.api.post("/api/v1/statuses", sent).status_code == status


JOINED = "a" + "\u200d" * 250_000
ADDRESSES = " ".join("https://e.example.org/?" + "&" * 1900 for _number in range(20))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"status": JOINED}, id="joiners in the text"),
        pytest.param({"status": "x", "spoiler_text": JOINED}, id="joiners in the warning"),
        pytest.param({"status": ADDRESSES}, id="addresses that count 23"),
        pytest.param({"status": "#" + "\ufdfa" * 400}, id="a hashtag whose letters unfold to eighteen"),
        pytest.param({"status": "#" + "\ufb03" * 450}, id="a hashtag of ligatures"),
    ],
)
def test_row_33_a_long_post_that_counts_as_short_causes_no_error(alice: Person, sent: dict[str, str]) -> None:
    """A grapheme cluster may have any number of joiners, and a link counts as 23 characters, so a post can contain more
    characters than are counted.
    """
    answer = alice.api.post("/api/v1/statuses", sent)
    assert answer.status_code in (200, 422)


def test_row_33_a_hashtag_is_stored_in_a_normalised_spelling_of_limited_length(alice: Person) -> None:
    written = "e\u0301" * 400
    assert alice.api.post("/api/v1/statuses", {"status": f"#{written}"}).json()["tags"][0]["name"] == "e" * 400
    assert alice.api.post("/api/v1/featured_tags", {"name": written}).json()["name"] == "e" * 400


def test_row_33_a_long_biography_that_counts_as_short_is_refused(alice: Person) -> None:
    for note in (JOINED, ADDRESSES):
        answer = alice.api.patch(UPDATE, {"note": note})
        assert answer.status_code == 422
        assert answer.json()["details"]["note"][0]["error"] == "ERR_TOO_LONG"
    assert alice.api.patch(UPDATE, {"note": "https://e.example.org/" + "x" * 1000}).status_code == 200


@pytest.mark.parametrize("code", ["x" * 3000, "german", "d", "qqq", "<b>", "../de"])
def test_row_33_the_languages_of_a_follow_must_be_language_codes(alice: Person, bob: Person, code: str) -> None:
    path = f"/api/v1/accounts/{bob.id}/follow"
    answer = alice.api.post(path, {"languages": ["de", code]})
    assert (answer.status_code, answer.json()) == (422, {"error": "Validation failed: Languages is invalid"})
    assert alice.read("accounts/relationships", **{"id[]": bob.id})[0]["following"] is False
    assert alice.api.post(path, {"languages": ["de"] * 3000}).json()["languages"] == ["de"]


@pytest.mark.parametrize(
    ("name", "limit"), [("username", 2048), ("display_name", 2048), ("note", 20_000), ("avatar_description", 2048)]
)
def test_row_33_the_database_holds_the_longest_names_of_other_servers_and_no_longer_ones(name: str, limit: int) -> None:
    make_remote(**{name: "x" * limit}) if name != "username" else make_remote("x" * 200)
    with pytest.raises(IntegrityError), transaction.atomic():
        Account.objects.filter(domain="remote.example").update(**{name: "x" * (limit + 1)})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"status":' + b"[" * 5000 + b"]" * 5000 + b"}", id="deep list"),
        pytest.param(b'{"status":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}", id="deep object"),
        pytest.param(b'{"media_ids":[' + b"1," * 50_000 + b"1]}", id="long list"),
        pytest.param(b"[" + b"1," * 50_000 + b"1]", id="no object"),
    ],
)
def test_row_34_bombs_are_refused_quickly(alice: Person, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {alice.api.token}"}

    def ask() -> None:
        answer = alice.api.client.generic("POST", "/api/v1/statuses", body, "application/json", headers=headers)
        assert 400 <= answer.status_code < 500

    assert times_ordinary(alice, ask) < DEAR
    assert not Status.objects.exists()


def test_row_34_deeply_nested_and_huge_documents_in_an_inbox_are_refused() -> None:
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b'{"id": "' + b"x" * 1_100_000 + b'"}'):
        answer = Api().client.generic("POST", "/inbox", body, "application/activity+json")
        assert 400 <= answer.status_code < 500


MENTIONS = "@a " * 300_000


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("PATCH", UPDATE, {"note": MENTIONS}),
        ("PATCH", UPDATE, {"note": MENTIONS[:20_000]}),
        ("PATCH", UPDATE, {"display_name": MENTIONS}),
        ("PATCH", UPDATE, {"avatar_description": MENTIONS}),
        ("PATCH", UPDATE, {"fields_attributes": [{"name": MENTIONS[:150_000], "value": "@b "}] * 5}),
        ("PATCH", UPDATE, {"fields_attributes": [{"name": "@a ", "value": "@b "}] * 20_000}),
        ("POST", "/api/v1/statuses", {"status": MENTIONS}),
        ("POST", "/api/v1/statuses", {"status": "x", "spoiler_text": MENTIONS}),
        ("POST", "/api/v1/statuses", {"status": "@a@b.example " * 70_000}),
    ],
    ids=[
        "biography",
        "biography that could be stored",
        "name",
        "description",
        "long fields",
        "many fields",
        "post",
        "warning",
        "post with domains",
    ],
)
def test_row_57_lengths_are_checked_before_anything_else(
    alice: Person, method: str, path: str, sent: dict[str, Any]
) -> None:
    def ask() -> None:
        answer = alice.api.patch(path, sent) if method == "PATCH" else alice.api.post(path, sent)
        assert answer.status_code in (400, 422)

    assert times_ordinary(alice, ask) < DEAR
    assert not Status.objects.exists()
