"""Tests of pagination (contract, behaviours section 2; clients.md, traps 9-12; security row 42)."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client

from accounts.models import Tag
from tests.api.conftest import Tokens
from tests.api.sample import FeedViewSet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("callers")]


@pytest.fixture
def ids() -> list[int]:
    """The ids of fifty tags, newest first."""
    made = [Tag.objects.create(name=f"tag{number}", display_name=f"tag{number}").id for number in range(50)]
    return sorted(made, reverse=True)


def page(path: str, token: str | None = None) -> tuple[list[int], Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = Client().get(path, headers=headers)
    assert response.status_code == 200, response.content
    return [int(item["id"]) for item in response.json()], response


def links(response: Any) -> dict[str, str]:
    return {rel: url for url, rel in re.findall(r'<([^>]+)>; rel="([a-z]+)"', response.headers.get("Link", ""))}


def local(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_the_first_page_has_the_newest_and_the_default_size(ids: list[int]) -> None:
    assert page("/api/v1/tags")[0] == ids[:20]


@pytest.mark.parametrize(
    ("limit", "size"),
    [("5", 5), ("-5", 5), ("40", 40), ("1000000000", 40), ("", 20), ("1", 1), ("5x", 5)],
)
def test_a_negative_limit_is_made_positive_and_every_limit_capped(ids: list[int], limit: str, size: int) -> None:
    assert page(f"/api/v1/tags?limit={limit}")[0] == ids[:size]


@pytest.mark.parametrize("limit", ["0", "abc"])
def test_a_limit_of_0_is_an_empty_page_without_links(ids: list[int], limit: str) -> None:
    found, response = page(f"/api/v1/tags?limit={limit}")
    assert found == []
    assert "Link" not in response.headers


def test_limit_0_returns_all_items_without_links_where_declared(ids: list[int], callers: Tokens) -> None:
    found, response = page("/api/v1/tags/index?limit=0", callers.user_token())
    assert found == ids
    assert "Link" not in response.headers


def test_max_id_is_exclusive_and_goes_back_in_time(ids: list[int]) -> None:
    assert page(f"/api/v1/tags?limit=3&max_id={ids[9]}")[0] == ids[10:13]


def test_since_id_returns_the_newest_items_and_min_id_the_next_newer_ones(ids: list[int]) -> None:
    """clients.md, trap 12."""
    assert page(f"/api/v1/tags?limit=3&since_id={ids[20]}")[0] == ids[:3]
    assert page(f"/api/v1/tags?limit=3&min_id={ids[20]}")[0] == ids[17:20]


def test_min_id_wins_over_since_id_and_max_id_may_be_combined(ids: list[int]) -> None:
    assert page(f"/api/v1/tags?limit=3&since_id={ids[2]}&min_id={ids[20]}")[0] == ids[17:20]
    assert page(f"/api/v1/tags?limit=3&max_id={ids[5]}&since_id={ids[20]}")[0] == ids[6:9]
    assert page(f"/api/v1/tags?limit=30&max_id={ids[5]}&min_id={ids[20]}")[0] == ids[6:20]


def test_a_cursor_that_is_no_number_is_0_and_an_empty_one_absent(ids: list[int]) -> None:
    assert page("/api/v1/tags?max_id=undefined")[0] == []
    assert page("/api/v1/tags?max_id=")[0] == ids[:20]
    assert page("/api/v1/tags?since_id=null")[0] == ids[:20]
    assert page(f"/api/v1/tags?max_id={'9' * 30}")[0] == ids[:20]
    assert page("/api/v1/tags?min_id[]=5")[0] == ids[:20]


def test_links_are_absolute_and_escaped_and_next_comes_first(ids: list[int], settings: Any) -> None:
    settings.BASE_URL = "https://social.example"
    _found, response = page("/api/v1/tags?limit=3")
    assert response.headers["Link"] == (
        f'<https://social.example/api/v1/tags?limit=3&max_id={ids[2]}>; rel="next", '
        f'<https://social.example/api/v1/tags?limit=3&min_id={ids[0]}>; rel="prev"'
    )


def test_links_repeat_only_declared_parameters_and_replace_the_position(ids: list[int], callers: Tokens) -> None:
    token = callers.user_token()
    query = f"words[]=a&words%5B%5D=b&name=x+y%26z&max_id=9223372036854775807&kind=&limit=2&access_token={token}"
    _found, response = page(f"/api/v1/tags?{query}&utm_source=elsewhere&_=1700000000&other[]=1")
    kept = [("words[]", "a"), ("words[]", "b"), ("name", "x y&z"), ("kind", ""), ("limit", "2")]
    for rel, position in (("next", ("max_id", str(ids[1]))), ("prev", ("min_id", str(ids[0])))):
        assert parse_qsl(urlsplit(links(response)[rel]).query, keep_blank_values=True) == [*kept, position]


def test_links_leave_out_single_values_of_list_parameters(ids: list[int]) -> None:
    _found, response = page("/api/v1/tags?words=one&tag_ids=1&name=x&limit=2")
    kept = [("tag_ids", "1"), ("name", "x"), ("limit", "2")]
    assert parse_qsl(urlsplit(links(response)["next"]).query) == [*kept, ("max_id", str(ids[1]))]


def test_a_link_from_a_path_with_a_slash_is_the_plain_path(ids: list[int]) -> None:
    assert urlsplit(links(page("/api/v1/tags/?limit=2")[1])["next"]).path == "/api/v1/tags"


def test_timelines_link_to_the_next_page_from_every_page_that_is_not_empty(ids: list[int]) -> None:
    found, response = page(f"/api/v1/tags?max_id={ids[47]}")
    assert len(found) == 2
    assert list(links(response)) == ["next", "prev"]
    found, response = page(local(links(response)["next"]))
    assert found == []
    assert "Link" not in response.headers


def test_other_lists_link_to_the_next_page_only_from_a_full_page(ids: list[int], callers: Tokens) -> None:
    token = callers.user_token()
    full = page("/api/v1/tags/index?limit=25", token)[1]
    assert list(links(full)) == ["next", "prev"]
    last = page(f"/api/v1/tags/index?limit=25&max_id={ids[30]}", token)[1]
    assert list(links(last)) == ["prev"]


def test_lists_of_accounts_link_back_by_since_id_and_ignore_min_id(ids: list[int], callers: Tokens) -> None:
    found, response = page(f"/api/v1/tags/index?limit=3&min_id={ids[20]}", callers.user_token())
    assert found == ids[:3]
    assert dict(parse_qsl(urlsplit(links(response)["prev"]).query)) == {"limit": "3", "since_id": str(ids[0])}


def test_prev_never_repeats_an_item(ids: list[int]) -> None:
    """clients.md, trap 10."""
    _found, response = page(f"/api/v1/tags?limit=5&max_id={ids[9]}")
    assert page(local(links(response)["prev"]))[0] == ids[5:10]


def test_a_page_takes_one_query(ids: list[int], django_assert_num_queries: Any) -> None:
    for query in ("", f"?max_id={ids[3]}", f"?min_id={ids[30]}", f"?since_id={ids[3]}&max_id={ids[1]}"):
        with django_assert_num_queries(1):
            page(f"/api/v1/tags{query}")


def test_feeds_are_paged_by_the_same_rules() -> None:
    def feed(query: str = "") -> list[int]:
        return [int(number) for number in Client().get(f"/api/v1/feed{query}").json()]

    assert feed("?limit=3") == [100, 99, 98]
    assert feed("?limit=3&max_id=50") == [49, 48, 47]
    assert feed("?limit=3&since_id=50") == [100, 99, 98]
    assert feed("?limit=3&min_id=50") == [53, 52, 51]
    assert feed("?limit=0") == []
    asked = FeedViewSet.asked[-1]
    assert (asked.limit, asked.after, asked.ascending) == (3, 50, True), "limit=0 sends no query"
    response = Client().get("/api/v1/feed?limit=3&max_id=3")
    assert response.json() == ["2", "1"]
    assert "max_id=1>" in response.headers["Link"]


def test_pages_by_offset_need_no_cursor(ids: list[int]) -> None:
    assert page("/api/v1/tags/offsets?offset=5&limit=3")[0] == ids[5:8]
    assert page("/api/v1/tags/offsets?offset=-5&limit=3")[0] == ids[:3]
    assert page("/api/v1/tags/offsets?offset=500")[0] == []


def test_offset_links_lead_to_the_next_and_previous_page(ids: list[int]) -> None:
    def rels(query: str) -> dict[str, dict[str, str]]:
        found = links(page(f"/api/v1/tags/offsets?{query}")[1])
        return {rel: dict(parse_qsl(urlsplit(url).query)) for rel, url in found.items()}

    assert rels("limit=10") == {"next": {"limit": "10", "offset": "10"}}
    assert rels("limit=10&offset=10") == {"next": {"limit": "10", "offset": "20"}}, "the second page has no prev link"
    assert rels("limit=10&offset=20") == {
        "next": {"limit": "10", "offset": "30"},
        "prev": {"limit": "10", "offset": "10"},
    }
    assert rels("limit=20&offset=45") == {"prev": {"limit": "20", "offset": "25"}}
    assert rels("offset=500") == {"prev": {"offset": "480"}}, "an empty page has a prev link too"
