"""Promises about cached pieces of answers."""

from __future__ import annotations

from typing import cast

import pytest

from social.kernel import fragments, redis
from social.kernel.fragments import Wanted


@pytest.fixture(autouse=True)
def _empty() -> None:
    redis.client("cache").flushdb()
    fragments.nearby.forget()


ONE, TWO = Wanted("thing:1:1", "colours"), Wanted("thing:2:1", "colours")


def _kept(*wanted: Wanted) -> dict[str, bytes]:
    return fragments.load(wanted).pieces


def _kept_as() -> bytes:
    """The name of the only piece in Redis."""
    (key,) = cast(list[bytes], redis.client("cache").keys("*thing*"))
    return key


def test_what_was_kept_is_found_again() -> None:
    found = fragments.load([ONE, TWO])
    assert found.pieces == {}
    fragments.save({ONE: b'{"a":"\n"}'}, found.stamps)
    assert _kept(ONE, TWO) == {ONE.key: b'{"a":"\n"}'}


def test_another_version_is_another_piece() -> None:
    fragments.save({ONE: b"1"}, {})
    assert _kept(Wanted("thing:1:2", "colours")) == {}


def test_a_renewed_generation_makes_its_pieces_absent_and_no_others() -> None:
    other = Wanted("thing:3:1", "shapes")
    fragments.save({ONE: b"1", other: b"3"}, fragments.load([ONE, other]).stamps)
    fragments.renew("colours")
    assert _kept(ONE, other) == {other.key: b"3"}
    fragments.save({ONE: b"1"}, fragments.load([ONE]).stamps)
    assert _kept(ONE) == {ONE.key: b"1"}


def test_a_piece_made_while_its_generation_was_renewed_is_not_believed() -> None:
    found = fragments.load([ONE])
    fragments.renew("colours")
    fragments.save({ONE: b"old"}, found.stamps)
    assert _kept(ONE) == {}


def test_a_lost_generation_does_not_bring_older_pieces_back() -> None:
    fragments.renew("colours")
    fragments.save({ONE: b"1"}, fragments.load([ONE]).stamps)
    redis.client("cache").delete(redis.key("cache", "generation", "colours"))
    assert _kept(ONE) == {}
    fragments.renew("colours")
    assert _kept(ONE) == {}


def test_pieces_live_ten_minutes() -> None:
    fragments.save({ONE: b"1"}, {})
    assert 590 < cast(int, redis.client("cache").ttl(_kept_as())) <= 600


def test_without_redis_everything_is_absent_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_arguments: object, **_options: object) -> None:
        raise redis.RedisError("down")

    monkeypatch.setattr(redis, "client", down)
    found = fragments.load([ONE])
    assert (found.pieces, found.stamps) == ({}, {"colours": b""})
    fragments.save({ONE: b"1"}, found.stamps)
    fragments.renew("colours")
    assert _kept(ONE) == {}


def _unkept_elsewhere() -> None:
    redis.client("cache").delete(_kept_as())


def test_what_was_asked_for_lately_is_at_hand_until_its_generation_is_renewed() -> None:
    fragments.save({ONE: b"1"}, {})
    _unkept_elsewhere()
    assert _kept(ONE) == {ONE.key: b"1"}
    fragments.renew("colours")
    assert _kept(ONE) == {}


def test_what_another_process_made_anew_replaces_what_is_at_hand() -> None:
    fragments.save({ONE: b"old"}, {})
    fragments.renew("colours")
    fragments.save({ONE: b"new"}, fragments.load([ONE]).stamps)
    fragments.nearby.forget()
    assert _kept(ONE) == {ONE.key: b"new"}
    _unkept_elsewhere()
    assert _kept(ONE) == {ONE.key: b"new"}


def test_what_is_at_hand_goes_after_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(fragments.time, "monotonic", lambda: now)
    fragments.nearby.forget()
    fragments.save({ONE: b"1"}, {})
    _unkept_elsewhere()
    for now, there in ((59.0, True), (61.0, True), (120.0, True), (122.0, False)):
        assert (ONE.key in _kept(ONE)) is there, now


def test_what_is_at_hand_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "NEARBY_BYTES", 1000)
    fragments.save({ONE: b"1"}, {})
    _unkept_elsewhere()
    for number in range(100):
        other = Wanted(f"other:{number}", "colours")
        fragments.save({other: b"x" * 100}, fragments.load([other]).stamps)
    assert _kept(ONE) == {}


def test_one_round_trip_reads_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = redis.client

    class Counting:
        def mget(self, names: list[str]) -> object:
            calls.append(len(names))
            return real("cache").mget(names)

    monkeypatch.setattr(redis, "client", lambda _role: Counting())
    fragments.load([Wanted(f"thing:{number}:1", "colours") for number in range(40)])
    assert calls == [41]
