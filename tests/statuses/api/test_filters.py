"""Tests of filters over HTTP: managing them, and their effect on posts."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from statuses.models import Filter
from tests.conformance.people import Person
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_reblog, make_remote_status, make_status
from tests.statuses.conftest import api_of
from tests.support.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
V1, V2 = "/api/v1/filters", "/api/v2/filters"
EVERYWHERE = ["home", "notifications", "public", "thread", "account"]


def _make(api: Api, *keywords: str, title: str = "Weather", whole_word: bool = True, **more: Any) -> dict[str, Any]:
    attributes = [{"keyword": keyword, "whole_word": whole_word} for keyword in keywords]
    answer = api.post(V2, {"title": title, "context": ["home"], "keywords_attributes": attributes, **more})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def _filtered(api: Api, status: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/api/v1/statuses/{status.id}").json()["filtered"]
    return found


def test_a_filter_is_made_with_keywords_from_json_and_from_a_form(alice: Account) -> None:
    made = _make(api_of(alice), "rain", "storm", filter_action="hide", expires_in=3600, context=EVERYWHERE)
    assert (made["context"], made["filter_action"], made["statuses"]) == (EVERYWHERE, "hide", [])
    assert [(item["keyword"], item["whole_word"]) for item in made["keywords"]] == [("rain", True), ("storm", True)]
    assert made["expires_at"] is not None
    form = api_of(alice).post(
        V2,
        form="title=Form&context[]=public&filter_action=blur&expires_in="
        "&keywords_attributes[0][keyword]=formed&keywords_attributes[0][whole_word]=false",
    )
    assert (form.status_code, form.json()["expires_at"]) == (200, None)
    assert [(item["keyword"], item["whole_word"]) for item in form.json()["keywords"]] == [("formed", False)]
    assert [item["title"] for item in api_of(alice).get(V2).json()] == ["Weather", "Form"]


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "Title can't be blank, Context can't be blank, Context None or invalid context supplied"),
        ({"title": "T", "context": []}, "Context can't be blank, Context None or invalid context supplied"),
        ({"title": "T", "context": "home"}, "Context can't be blank, Context None or invalid context supplied"),
        ({"title": "T", "context": ["nonsense"]}, "Context None or invalid context supplied"),
        ({"title": "t" * 257, "context": ["home"]}, "Title is too long (maximum is 256 characters)"),
        ({"title": "T", "context": ["home"], "filter_action": "x"}, "Action is not included in the list"),
        ({"title": "T", "context": ["home"], "expires_in": 10**12}, "Expires in is invalid"),
        (
            {"title": "T", "context": ["home"], "keywords_attributes": [{"keyword": "k" * 513}]},
            "Keywords keyword is too long (maximum is 512 characters)",
        ),
    ],
)
def test_an_invalid_filter_is_refused_and_nothing_is_stored(
    alice: Account, sent: dict[str, Any], sentence: str
) -> None:
    answer = api_of(alice).post(V2, sent)
    assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {sentence}"})
    assert not Filter.objects.exists()


def test_keywords_are_changed_removed_and_added_with_the_filter(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    made = _make(api, "rain", "storm")
    first, second = made["keywords"]
    attributes = [
        {"id": first["id"], "keyword": "rains", "whole_word": False},
        {"id": second["id"], "_destroy": True},
        {"keyword": "third"},
        {"keyword": " "},
    ]
    changed = api.put(f"{V2}/{made['id']}", {"keywords_attributes": attributes}).json()
    assert [(item["keyword"], item["whole_word"]) for item in changed["keywords"]] == [
        ("rains", False),
        ("third", True),
    ]
    assert changed["keywords"][0]["id"] == first["id"]
    foreign = _make(api_of(bob), "other")["keywords"][0]["id"]
    for number in (foreign, "1", second["id"]):
        answer = api.put(f"{V2}/{made['id']}", {"title": "X", "keywords_attributes": [{"id": number, "keyword": "x"}]})
        assert answer.status_code == 404
    assert api.get(f"{V2}/{made['id']}").json() == changed


def test_filters_of_other_accounts_are_404(alice: Account, bob: Account) -> None:
    made = _make(api_of(alice), "rain")
    post = make_status(alice)
    marked = api_of(alice).post(f"{V2}/{made['id']}/statuses", {"status_id": str(post.id)}).json()
    keyword = made["keywords"][0]["id"]
    paths = [
        *((method, f"{V2}/{made['id']}") for method in ("GET", "PUT", "DELETE")),
        *((method, f"{V2}/keywords/{keyword}") for method in ("GET", "PUT", "DELETE")),
        *((method, f"{V1}/{keyword}") for method in ("GET", "PUT", "DELETE")),
        *((method, f"{V2}/statuses/{marked['id']}") for method in ("GET", "DELETE")),
        *((method, f"{V2}/{made['id']}/{name}") for method in ("GET", "POST") for name in ("keywords", "statuses")),
    ]
    for method, path in paths:
        assert api_of(bob).request(method, path, {}).status_code == 404, f"{method} {path}"
    assert api_of(alice).get(V2).json()[0]["keywords"] == made["keywords"]


def test_a_filter_refuses_posts_that_are_missing_unreadable_or_already_in_it(alice: Account, bob: Account) -> None:
    path = f"{V2}/{_make(api_of(alice))['id']}/statuses"
    post, secret = make_status(bob), make_status(bob, visibility="private")
    made = api_of(alice).post(path, {"status_id": str(post.id)})
    assert (made.status_code, made.json()["status_id"]) == (200, str(post.id))
    for sent, reason in (
        ({"status_id": str(post.id)}, "Status has already been taken"),
        ({"status_id": str(secret.id)}, "Status is invalid"),
        ({"status_id": "1"}, "Status must exist"),
        ({"status_id": ["x"]}, "Status must exist"),
        ({}, "Status must exist"),
    ):
        answer = api_of(alice).post(path, sent)
        assert (answer.status_code, answer.json()) == (422, {"error": f"Validation failed: {reason}"})
    assert _filtered(api_of(alice), post)[0]["status_matches"] == [str(post.id)]
    assert api_of(alice).delete(f"{V2}/statuses/{made.json()['id']}").json() == {}
    assert _filtered(api_of(alice), post) == []


def test_trap_20_a_post_lists_matching_filters_with_the_matched_text(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    made = _make(api, "rain", "storm")
    _make(api, "secret", title="Secrets", filter_action="hide")
    found = _filtered(api, make_status(bob, "A Secret: RAIN and storm"))
    shown = {key: made[key] for key in ("id", "title", "context", "expires_at", "filter_action")}
    assert found[0] == {"filter": shown, "keyword_matches": ["RAIN"], "status_matches": None}
    assert [item["filter"]["filter_action"] for item in found] == ["warn", "hide"]
    assert _filtered(api, make_status(bob, "The train is late")) == []
    assert _filtered(api_of(bob), make_status(bob, "rain")) == []
    assert "filtered" not in Api().get(f"/api/v1/statuses/{make_status(bob, 'rain').id}").json()


def test_filters_search_every_text_of_a_post(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    _make(api, "rain")
    for status in (
        make_status(bob, "hello", spoiler_text="Rain ahead"),
        make_status(bob, "hello", media=[make_media(bob, description="rain on a roof")]),
        make_status(bob, "#rain"),
        make_status(alice, "my own rain"),
    ):
        assert [item["keyword_matches"] for item in _filtered(api, status)] != [], status.text
    # Keywords are not searched for in the address of a link.
    assert _filtered(api, make_status(bob, "hello there https://example.com/a")) == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('<p>via<span class="invisible">zzz</span>gra</p>', ["viagra"]),
        ("<p>" + "\u200b" * 5001 + "viagra</p>", ["viagra"]),
        (f'<p><span class="invisible">{"zzz " * 2000}</span>viagra</p>', ["viagra"]),
        (
            '<a href="https://www.example.com/a/b"><span class="invisible">https://www.</span>'
            '<span class="ellipsis">example.com/a</span><span class="invisible">/b</span></a>',
            ["https://www.example.com/a/b"],
        ),
        ("<p>via zzz gra</p>", None),
    ],
)
def test_row_74_invisible_text_hides_no_keyword_and_whole_links_are_found(
    alice: Account, content: str, found: list[str] | None
) -> None:
    _make(api_of(alice), "viagra", "https://www.example.com/a/b")
    post = make_remote_status(make_remote("eve"), content=content)
    results = _filtered(api_of(alice), post)
    assert [one["keyword_matches"] for one in results] == ([found] if found else [])


def test_a_boost_is_filtered_by_the_boosted_post(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    made = _make(api, "rain")
    post = make_status(bob, "rain")
    api.post(f"{V2}/{made['id']}/statuses", {"status_id": str(post.id)})
    boost = api.get(f"/api/v1/statuses/{make_reblog(bob, post).id}").json()
    assert boost["filtered"] == boost["reblog"]["filtered"]
    assert boost["filtered"][0]["status_matches"] == [str(post.id)]


def test_an_expired_filter_is_listed_and_matches_nothing(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    made = _make(api, "rain", expires_in=-1)
    post = make_status(bob, "rain")
    assert _filtered(api, post) == []
    assert [item["id"] for item in api.get(V2).json()] == [made["id"]]
    api.put(f"{V2}/{made['id']}", {"expires_in": ""})
    assert len(_filtered(api, post)) == 1


@pytest.mark.parametrize("sent", [[3600], {"0": 3600}])
def test_an_expiry_that_is_not_a_single_value_is_ignored(
    alice: Account, sent: Any
) -> None:  # contract, parameters section 0, arrays
    assert _make(api_of(alice), "rain", expires_in=sent)["expires_at"] is None
    made = _make(api_of(alice), "storm", expires_in=3600)
    kept = api_of(alice).put(f"{V2}/{made['id']}", {"title": "Storm", "expires_in": sent}).json()
    assert kept["expires_at"] == made["expires_at"]


def test_an_edited_filter_takes_effect_immediately(alice: Account, bob: Account) -> None:
    api = api_of(alice)
    made = _make(api, "rain")
    post = make_status(bob, "rain and storm")
    assert _filtered(api, post)[0]["keyword_matches"] == ["rain"]
    api.put(f"{V2}/keywords/{made['keywords'][0]['id']}", {"keyword": "storm"})
    assert _filtered(api, post)[0]["keyword_matches"] == ["storm"]
    api.delete(f"{V2}/{made['id']}")
    assert _filtered(api, post) == []


def test_filters_cost_a_page_no_statement(alice: Account, bob: Account) -> None:
    post = make_status(bob, "rain")
    api = api_of(alice)
    with CaptureQueriesContext(connection) as before:
        api.get(f"/api/v1/statuses/{post.id}")
    for number in range(5):
        _make(api, *(f"word{number}{index}" for index in range(5)), "rain")
    with CaptureQueriesContext(connection) as after:
        assert len(_filtered(api, post)) == 5
    assert len(after) <= len(before)


def test_the_older_api_shows_each_keyword_as_a_filter(alice: Account) -> None:
    api = api_of(alice)
    made = api.post(V1, {"phrase": "two", "context": ["home"], "irreversible": True, "expires_in": 1800})
    assert made["Deprecation"] == "@1668384000"
    body = made.json()
    assert (body["phrase"], body["whole_word"], body["irreversible"]) == ("two", True, True)
    changed = api.put(f"{V1}/{body['id']}", {"phrase": "three", "expires_in": "", "irreversible": False}).json()
    assert (changed["id"], changed["phrase"], changed["expires_at"], changed["irreversible"]) == (
        body["id"],
        "three",
        None,
        False,
    )
    assert [(item["title"], item["keywords"][0]["keyword"]) for item in api.get(V2).json()] == [("three", "three")]
    for sent, reason in (
        ({}, "Title can't be blank, Context can't be blank, Context None or invalid context supplied"),
        ({"phrase": "p" * 257, "context": ["home"]}, "Title is too long (maximum is 256 characters)"),
        ({"phrase": "p" * 600, "context": ["home"]}, "Title is too long (maximum is 256 characters)"),
    ):
        refused = api.post(V1, sent)
        assert (refused.status_code, refused.json()) == (422, {"error": f"Validation failed: {reason}"})
        assert refused["Deprecation"] == "@1668384000"
    blank = api.put(f"{V1}/{body['id']}", {"phrase": ""})
    assert blank.json() == {"error": "Validation failed: Keyword can't be blank"}


def test_changing_one_of_several_keywords_cannot_change_the_shared_filter(alice: Account) -> None:
    api = api_of(alice)
    made = _make(api, "first", "second", title="Many")
    path = f"{V1}/{made['keywords'][0]['id']}"
    for sent in ({"phrase": "changed"}, {"context": ["public"]}, {"irreversible": True}, {"expires_in": 60}):
        refused = api.put(path, sent)
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("These parameters cannot be changed from this application")
    assert api.put(path, {"phrase": "first", "whole_word": False}).json()["whole_word"] is False
    assert api.delete(path).json() == {}
    left = api.get(f"{V2}/{made['id']}").json()
    assert (left["title"], [item["keyword"] for item in left["keywords"]]) == ("Many", ["second"])


def test_the_numbers_of_filters_and_keywords_are_limited(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statuses.services.filters.FILTERS_LIMIT", 2)
    monkeypatch.setattr("statuses.services.filters.KEYWORDS_LIMIT", 3)
    api = api_of(alice)
    made = _make(api, "a", "b")
    refused = api.post(V2, {"title": "T", "context": ["home"], "keywords_attributes": [{"keyword": "c"}] * 2})
    assert refused.json() == {"error": "Validation failed: You have reached the maximum number of filter keywords"}
    assert api.post(f"{V2}/{made['id']}/keywords", {"keyword": "c"}).status_code == 200
    assert api.post(f"{V2}/{made['id']}/keywords", {"keyword": "d"}).status_code == 422
    monkeypatch.setattr("statuses.services.filters.CHARACTERS_LIMIT", 3)
    keyword = f"{V2}/keywords/{made['keywords'][0]['id']}"
    assert api.put(keyword, {"keyword": "aa"}).status_code == 422
    assert api.get(keyword).json()["keyword"] == "a"
    _make(api)
    refused = api.post(V2, {"title": "T", "context": ["home"]})
    assert refused.json() == {"error": "Validation failed: You have reached the maximum number of filters"}


def test_the_number_of_posts_in_filters_is_limited(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("statuses.services.filters.STATUSES_LIMIT", 1)
    api = api_of(alice)
    path = f"{V2}/{_make(api)['id']}/statuses"
    assert api.post(path, {"status_id": str(make_status(alice).id)}).status_code == 200
    refused = api.post(path, {"status_id": str(make_status(alice).id)})
    assert refused.json() == {"error": "Validation failed: You have reached the maximum number of filtered posts"}
    assert len(api.get(path).json()) == 1


def test_seed_029_and_084_a_phrase_filters_posts_that_contain_it(alice: Account, bob: Account) -> None:
    reader, author = Person("reader"), Person("author")
    reader.do("filters", {"phrase": "two words", "context": ["home"]})
    match, other = author.post("these are Two Words here"), author.post("two other words")
    found = reader.read(f"statuses/{match['id']}")["filtered"]
    assert [item["keyword_matches"] for item in found] == [["Two Words"]]
    assert reader.read(f"statuses/{other['id']}")["filtered"] == []
