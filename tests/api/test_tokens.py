"""Tests of cached tokens: how long they remain valid, and which of their data is cached (security row 48)."""

import socket
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from social.api import admission, identities
from social.api.admission import checksum_of, forget_tokens
from social.api.identities import Identity
from social.kernel import redis
from tests.api.conftest import Tokens
from tests.support.client import forget_identities
from tests.support.patience import watch_circuits

PERSON = "/api/v1/access/person"


@pytest.fixture(params=["limits on", "limits off"])
def either_way(request: pytest.FixtureRequest, settings: Any) -> None:
    """Run the test twice: with rate limits and without."""
    settings.RATE_LIMITS = request.param == "limits on"


@pytest.fixture
def no_redis(settings: Any, tmp_path: Any) -> Iterator[None]:
    """Set an address for the cache at which no server listens."""
    settings.REDIS_URLS = {**settings.REDIS_URLS, "cache": f"unix://{tmp_path}/nobody.sock"}
    yield
    redis.circuit("cache").close()


def another_process() -> None:
    """Clear the tokens that this process has cached, so that it behaves like a new process, which shares only Redis with the
    old one.
    """
    forget_identities()


def test_a_decoded_identity_equals_the_encoded_one() -> None:
    full = Identity(7, 8, frozenset({"read", "push"}), 9, 10, False, False, True, True, True, "de")
    for identity in (full, Identity(7, None, frozenset())):
        assert identities.decode(identities.encode(identity)) == identity


def test_a_token_is_looked_up_in_the_database_once_a_minute(callers: Tokens, get: Any, either_way: None) -> None:
    token = callers.user_token()
    for _ in range(3):
        assert get(PERSON, token=token).status_code == 200
        another_process()
    assert callers.asked == [token]


def test_a_cached_token_is_looked_up_and_counted_in_one_round_trip_to_redis(
    callers: Tokens, get: Any, limits: None
) -> None:
    token = callers.user_token()
    get(PERSON, token=token)
    client = redis.client("cache")
    before = client.info("commandstats")
    get(PERSON, token=token)
    after = client.info("commandstats")

    def calls(name: str) -> int:
        found = [int(stats.get(f"cmdstat_{name}", {}).get("calls", 0)) for stats in (before, after)]
        return found[1] - found[0]

    assert calls("evalsha") == 1
    assert [calls(name) for name in ("eval", "set", "expire")] == [0, 0, 0]
    assert calls("incr") == 2, "the counters of user and token are increased"


def test_a_revoked_token_is_refused_in_every_process_within_a_second(
    callers: Tokens, get: Any, either_way: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    monkeypatch.setattr(admission.time, "monotonic", lambda: began)
    token = callers.user_token()
    assert get(PERSON, token=token).status_code == 200
    here = dict(admission._local)
    callers.revoke(token)
    another_process()
    assert get(PERSON, token=token).status_code == 401
    admission._local.update(here)  # simulates a process that did not get the message and still has the token cached
    monkeypatch.setattr(admission.time, "monotonic", lambda: began + 1.05)
    assert get(PERSON, token=token).status_code == 401


def test_a_revoked_token_cannot_change_anything_in_any_process(callers: Tokens, either_way: None) -> None:
    token = callers.user_token()

    def act() -> int:
        return Client().post(PERSON, headers={"Authorization": f"Bearer {token}"}).status_code

    assert act() == 200
    here = dict(admission._local)
    callers.revoke(token)
    admission._local.update(here)  # simulates a process that did not get the message and still has the token cached
    assert act() == 401


def test_a_token_revoked_while_it_is_being_looked_up_does_not_stay_valid(
    callers: Tokens, get: Any, either_way: None
) -> None:
    """One process has read the row when another one revokes the token: the first must not cache what it has read."""
    token = callers.user_token()
    callers.meanwhile = lambda: callers.revoke(token)
    assert get(PERSON, token=token).status_code == 200, "this request was before the revocation"
    another_process()
    assert get(PERSON, token=token).status_code == 401


def test_a_change_of_the_users_state_is_seen_within_a_second(callers: Tokens, get: Any, either_way: None) -> None:
    token = callers.user_token(confirmed=False)
    assert get(PERSON, token=token).status_code == 403
    callers.change(token, confirmed=True)
    assert get(PERSON, token=token).status_code == 200


def test_requests_with_a_token_dropped_from_the_cache_are_still_counted(
    callers: Tokens, get: Any, limits: None
) -> None:
    token = callers.user_token()
    left = [get(PERSON, token=token).headers["X-RateLimit-Remaining"]]
    callers.change(token, locale="de")
    left.append(get(PERSON, token=token).headers["X-RateLimit-Remaining"])
    assert left == ["299", "298"]


def test_without_rate_limits_a_process_caches_a_token_for_at_most_a_second(
    callers: Tokens, get: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    monkeypatch.setattr(admission.time, "monotonic", lambda: began)
    token = callers.user_token()
    get(PERSON, token=token)
    redis.client("cache").flushdb()
    get(PERSON, token=token)
    assert callers.asked == [token], "the process has cached the token"
    monkeypatch.setattr(admission.time, "monotonic", lambda: began + 1.05)
    get(PERSON, token=token)
    assert callers.asked == [token, token]


def test_flushing_redis_signs_nobody_out(callers: Tokens, get: Any, either_way: None) -> None:
    token = callers.user_token()
    get(PERSON, token=token)
    redis.client("cache").flushall()
    another_process()
    assert get(PERSON, token=token).status_code == 200


def test_a_token_that_becomes_valid_is_accepted_within_a_second(
    callers: Tokens, get: Any, either_way: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    monkeypatch.setattr(admission.time, "monotonic", lambda: began)
    token = callers.user_token()
    identity = callers.identities.pop(token)
    assert get(PERSON, token=token).status_code == 401
    callers.identities[token] = identity
    monkeypatch.setattr(admission.time, "monotonic", lambda: began + 1.05)
    assert get(PERSON, token=token).status_code == 200


def test_without_redis_tokens_are_looked_up_in_the_database(
    callers: Tokens, get: Any, either_way: None, no_redis: None
) -> None:
    token = callers.user_token()
    for _ in range(20):
        assert get(PERSON, token=token).status_code == 200
        assert get(PERSON, token="wrong").status_code == 401
    assert callers.asked.count(token) < 10, "the process caches the token for a second"


def test_a_redis_that_accepts_but_never_answers_delays_one_request_a_second(
    callers: Tokens, get: Any, either_way: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{tempfile.mkdtemp(dir='/tmp')}/silent.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen(64)
        settings.REDIS_URLS = {**settings.REDIS_URLS, "cache": f"unix://{path}"}
        failed = watch_circuits(monkeypatch)
        for _ in range(10):
            assert get(PERSON, token="wrong").status_code == 401
        assert failed == [redis.circuit("cache")]


def test_forgetting_returns_false_when_redis_is_away(callers: Tokens, no_redis: None) -> None:
    assert forget_tokens([checksum_of("x")]) is False


def test_forgetting_returns_true_when_redis_has_dropped_the_token(callers: Tokens) -> None:
    assert forget_tokens([checksum_of("x")]) is True


def test_no_token_is_stored_in_plain_text(callers: Tokens, get: Any, limits: None) -> None:
    token = callers.user_token()
    get(PERSON, token=token)
    get(PERSON, token="a-wrong-token")
    client = redis.client("cache")
    for key in client.scan_iter():
        kept = key + (client.get(key) or b"")
        assert token.encode() not in kept
        assert b"a-wrong-token" not in kept
    assert all(token not in checksum for checksum in admission._local)


def test_a_cached_token_in_another_format_is_ignored(callers: Tokens, get: Any, either_way: None) -> None:
    token = callers.user_token()
    redis.client("cache").set(redis.key("cache", "token", checksum_of(token)), b"something else", ex=60)
    assert get(PERSON, token=token).status_code == 200
