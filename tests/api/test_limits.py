"""Tests of rate limits (contract, behaviours section 4; security row 25; clients.md, trap 13)."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from social.api import admission
from social.api import limits as table
from social.api.limits import Count, Rule, headers, tightest
from social.kernel import redis
from tests.api.conftest import Tokens
from tests.api.sample import TagsViewSet

pytestmark = pytest.mark.usefixtures("limits")
PUBLIC = "/api/v1/access/public"
NOON = datetime(2026, 3, 1, 12, 2, 30, tzinfo=UTC)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that tests can reach them."""
    monkeypatch.setattr(
        table,
        "GENERAL_RULES",
        (Rule("api/user", 6, 300, "user"), Rule("api/token", 4, 300, "token"), Rule("api/visitor", 3, 300, "visitor")),
    )
    monkeypatch.setattr(
        table, "PAGING", (Rule("paging/user", 2, 900, "user"), Rule("paging/visitor", 2, 900, "visitor"))
    )


def limit_to(monkeypatch: pytest.MonkeyPatch, action: str, rule: Rule) -> None:
    changed = replace(TagsViewSet.endpoints[action], throttles=(rule,))
    monkeypatch.setattr(TagsViewSet, "endpoints", {**TagsViewSet.endpoints, action: changed})


def remaining(response: Any) -> tuple[str, str]:
    return response.headers["X-RateLimit-Limit"], response.headers["X-RateLimit-Remaining"]


@time_machine.travel(NOON, tick=False)
def test_the_headers_show_the_tightest_counter_and_when_its_window_ends(callers: Tokens, get: Any) -> None:
    response = get("/api/v1/access/person", token=callers.user_token())
    assert remaining(response) == ("300", "299")
    assert response.headers["X-RateLimit-Reset"] == "2026-03-01T12:05:00.000000Z", "aligned to five minutes"
    assert remaining(get(PUBLIC)) == ("300", "299")


def test_the_reset_is_iso_with_microseconds(callers: Tokens, get: Any) -> None:
    value = get(PUBLIC).headers["X-RateLimit-Reset"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", value)


def test_the_limits_are_those_of_the_contract() -> None:
    def shape(rules: tuple[Rule, ...]) -> list[tuple[int, int, str]]:
        return [(rule.limit, rule.period, rule.per) for rule in rules]

    assert shape(table.GENERAL_RULES) == [(1500, 300, "user"), (300, 300, "token"), (300, 300, "visitor")]
    assert shape(table.PAGING) == [(300, 900, "user"), (300, 900, "visitor")]
    assert shape(table.limited("media")) == [(30, 1800, "user")]
    assert shape(table.limited("media_proxy")) == [(30, 600, "address")]
    assert shape(table.limited("deletions")) == [(30, 1800, "user")]
    assert shape(table.limited("sign_up")) == [(5, 1800, "address")]
    assert shape(table.limited("apps")) == [(5, 600, "address")]
    assert shape(table.limited("confirmations")) == [(25, 300, "address"), (5, 1800, "user")]
    assert shape(table.family("follows")) == [(400, 86400, "account")]
    assert shape(table.family("statuses")) == [(300, 10800, "account")]
    assert shape(table.family("reports")) == [(400, 86400, "account")]


@time_machine.travel(NOON, tick=False)
def test_a_request_above_the_limit_is_429_with_a_body_and_headers(callers: Tokens, get: Any, small: None) -> None:
    for left in ("2", "1", "0"):
        assert remaining(get(PUBLIC)) == ("3", left)
    response = get(PUBLIC)
    assert response.status_code == 429
    assert response.json() == {"error": "Too many requests"}
    assert remaining(response) == ("3", "0")
    assert response.headers["X-RateLimit-Reset"] == "2026-03-01T12:05:00.000000Z"
    assert "no-store" in response.headers["Cache-Control"]


def test_the_next_window_starts_at_zero(callers: Tokens, get: Any, small: None) -> None:
    with time_machine.travel(NOON, tick=False) as now:
        for _ in range(4):
            last = get(PUBLIC)
        assert last.status_code == 429
        now.shift(151)
        assert get(PUBLIC).status_code == 200


def test_each_token_has_its_counter_and_a_user_one_for_all_tokens(callers: Tokens, get: Any, small: None) -> None:
    first, second = callers.user_token(), callers.user_token()
    path = "/api/v1/access/person"
    assert [get(path, token=first).status_code for _ in range(5)] == [200] * 4 + [429]
    assert [get(path, token=second).status_code for _ in range(2)] == [200, 429], (
        "five of the six requests were sent with the first token"
    )


def test_requests_with_a_token_do_not_count_for_their_address(callers: Tokens, get: Any, small: None) -> None:
    token = callers.user_token()
    for _ in range(4):
        get(PUBLIC, token=token)
    assert remaining(get(PUBLIC)) == ("3", "2")


def test_an_applications_token_counts_for_the_address_too(callers: Tokens, get: Any, small: None) -> None:
    statuses = [get(PUBLIC, token=callers.app_token()).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_requests_with_wrong_tokens_are_limited_too(callers: Tokens, get: Any, small: None) -> None:
    statuses = [get("/api/v1/access/person", token=f"wrong-{number}").status_code for number in range(5)]
    assert statuses == [401, 401, 401, 429, 429]


@pytest.mark.parametrize("parameter", ["page", "min_id", "max_id", "since_id"])
def test_requests_for_further_pages_have_their_own_limit(
    callers: Tokens, get: Any, small: None, parameter: str
) -> None:
    token = callers.user_token()
    statuses = [get("/api/v1/access/person", token=token, **{parameter: "5"}).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert get("/api/v1/access/person", token=token).status_code == 200


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda _number: Client().get(f"{PUBLIC}/"), id="a slash"),
        pytest.param(lambda _number: Client().get(f"{PUBLIC}?x=1"), id="a query"),
        pytest.param(lambda _number: Client().get("/api/v1/%61ccess/public"), id="an escaped letter"),
        pytest.param(
            lambda number: Client().get(PUBLIC, headers={"X-Forwarded-For": f"203.0.113.{number}"}),
            id="forged addresses",
        ),
        pytest.param(
            lambda number: Client().get(PUBLIC, REMOTE_ADDR=f"2001:db8:1:2::{number + 1:x}"), id="addresses of one 64"
        ),
    ],
)
def test_other_spellings_of_a_path_or_an_address_count_for_the_same_limit(
    callers: Tokens, small: None, ask: Callable[[int], Any]
) -> None:
    assert [ask(number).status_code for number in range(4)] == [200, 200, 200, 429]
    assert Client().get(PUBLIC, REMOTE_ADDR="2001:db8:1:3::1").status_code == 200


def test_behind_a_trusted_proxy_each_client_is_counted(callers: Tokens, small: None, settings: Any) -> None:
    settings.TRUSTED_PROXIES = (ipaddress.ip_network("127.0.0.0/8"),)
    for number in range(4):
        headers = {"X-Forwarded-For": f"198.51.100.7, 203.0.113.{number}"}
        assert Client().get(PUBLIC, headers=headers).status_code == 200
    headers = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}
    statuses = [Client().get(PUBLIC, headers=headers).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


@pytest.mark.django_db
def test_the_headers_show_the_counter_of_a_family_when_it_has_fewer_requests_left(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule("statuses", 2, 10800, "account", family=True)
    limit_to(monkeypatch, "create", rule)
    headers = {"Authorization": f"Bearer {callers.user_token()}"}

    def create(name: str) -> Any:
        return Client().post("/api/v1/tags", {"name": name}, headers=headers)

    assert remaining(create("one")) == ("2", "1")
    assert create("taken").status_code == 422
    assert create("").status_code == 400
    assert remaining(create("two")) == ("2", "0"), "refused requests are not counted"
    refused = create("three")
    assert refused.status_code == 429
    assert refused.json() == {"error": "Too many requests"}
    assert remaining(refused) == ("2", "0")
    assert Client().get("/api/v1/tags", headers=headers).status_code == 200, "only the limit on creating is exceeded"


@pytest.mark.django_db
def test_an_exceeded_family_limit_does_not_hide_that_access_is_refused(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule("statuses", 0, 10800, "account", family=True)
    limit_to(monkeypatch, "create", rule)
    headers = {"Authorization": f"Bearer {callers.user_token('read')}"}
    assert Client().post("/api/v1/tags", {"name": "x"}, headers=headers).status_code == 403


@pytest.mark.django_db
def test_the_limit_of_an_action_counts_refused_requests_too(callers: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_to(monkeypatch, "destroy", Rule("deletions", 2, 1800, "user"))
    headers = {"Authorization": f"Bearer {callers.user_token()}"}
    statuses = [Client().delete("/api/v1/tags/1", headers=headers).status_code for _ in range(3)]
    assert statuses == [404, 404, 429]


def test_without_rate_limits_nothing_is_counted_and_no_header_is_sent(
    callers: Tokens, get: Any, small: None, settings: Any
) -> None:
    settings.RATE_LIMITS = False
    for _ in range(5):
        response = get(PUBLIC)
        assert response.status_code == 200
        assert "X-RateLimit-Limit" not in response.headers
    assert not list(redis.client("cache").scan_iter("cache:limit:*"))


def test_without_redis_requests_are_not_counted(
    callers: Tokens, get: Any, small: None, settings: Any, tmp_path: Any
) -> None:
    settings.REDIS_URLS = {**settings.REDIS_URLS, "cache": f"unix://{tmp_path}/nobody.sock"}
    assert [get(PUBLIC).status_code for _ in range(5)] == [200] * 5


def test_counters_end_with_their_window(callers: Tokens, get: Any) -> None:
    get("/api/v1/access/person", token=callers.user_token())
    client = redis.client("cache")
    keys = list(client.scan_iter("cache:limit:*"))
    assert keys
    assert all(0 < client.ttl(key) <= 300 for key in keys)


def test_limits_of_pages_count_each_login_name_without_storing_it(callers: Tokens) -> None:
    rule = Rule("sign_in/email", 2, 3600, "account")
    counts = [admission.count(rule, subject="Somebody@example.com") for _ in range(3)]
    assert [count.exceeded for count in counts if count] == [False, False, True]
    other = admission.count(rule, subject="other@example.com")
    assert other is not None
    assert not other.exceeded
    assert not any(b"example.com" in key for key in redis.client("cache").scan_iter())


@time_machine.travel(NOON, tick=False)
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/nothing"), ("PATCH", PUBLIC)])
def test_requests_to_unknown_api_paths_are_counted(callers: Tokens, small: None, method: str, path: str) -> None:
    answers = [Client().generic(method, path, b"{broken", "application/json") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
    assert [remaining(answer) for answer in answers] == [("3", "2"), ("3", "1"), ("3", "0"), ("3", "0")]
    assert {answer.headers["Vary"] for answer in answers} == {"Authorization, origin"}
    known = Client().generic(method, path, headers={"Authorization": f"Bearer {callers.user_token()}"})
    assert (known.status_code, remaining(known)) == (404, ("4", "3"))


def test_the_tightest_counter_is_the_one_with_the_fewest_requests_left() -> None:
    wide, narrow = Count(Rule("a", 100, 60, "user"), 50, 0), Count(Rule("b", 10, 60, "user"), 9, 0)
    assert tightest([wide, narrow]) is narrow
    assert tightest([]) is None
    assert headers(Count(Rule("a", 5, 60, "user"), 9, 1_700_000_000)) == {
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "2023-11-14T22:13:20.000000Z",
    }
