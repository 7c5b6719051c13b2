"""Tests of cached fragments of responses."""

from pathlib import Path

import pytest

from social.kernel import fragments, redis


@pytest.fixture(autouse=True)
def _empty() -> None:
    redis.client("cache").flushdb()


def test_a_fragment_is_loaded_only_with_its_version() -> None:
    assert fragments.load(["thing:1:1", "thing:2:1"]) == {}
    fragments.save({"thing:1:1": {"a": "\n"}})
    assert fragments.load(["thing:1:1", "thing:2:1", "thing:1:1"]) == {"thing:1:1": {"a": "\n"}}
    assert fragments.load(["thing:1:2"]) == {}


@pytest.mark.parametrize("number", [1, 3])
def test_fragments_expire(number: int) -> None:
    fragments.save({f"thing:{n}:1": 1 for n in range(number)})
    names = redis.client("cache").keys("*thing*")
    assert len(names) == number
    for name in names:
        assert 0 < redis.client("cache").ttl(name) <= fragments.RETENTION_SECONDS


def test_fragments_of_an_older_release_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fragments.save({"thing:1:1": 1})
    monkeypatch.setattr(fragments, "FORMAT", "next")
    assert fragments.load(["thing:1:1"]) == {}


@pytest.mark.parametrize("path", ["{}/inner/post.py", "feature/{}.py", "feature/{}/post.py"])
@pytest.mark.parametrize("part", ["serializers", "policies"])
def test_fragments_from_another_version_of_the_code_are_not_read(tmp_path: Path, part: str, path: str) -> None:
    code = tmp_path / "app" / path.format(part)
    code.parent.mkdir(parents=True)
    formats = [fragments.FORMAT, fragments.format_of(tmp_path)]
    for text in ("one", "two"):
        code.write_text(text)
        formats.append(fragments.format_of(tmp_path))
    assert len(set(formats)) == 4


def test_without_fragments_no_redis_command_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "client", lambda _role: pytest.fail("Redis was asked"))
    monkeypatch.setattr(redis, "ask", lambda *_command: pytest.fail("Redis was asked"))
    assert fragments.load([]) == {}
    fragments.save({})


def test_without_redis_no_fragment_is_found_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_arguments: object) -> None:
        raise redis.RedisError("down")

    monkeypatch.setattr(redis, "client", down)
    monkeypatch.setattr(redis, "ask", down)
    fragments.save({"thing:1:1": 1})
    fragments.save({"thing:1:1": 1, "thing:2:1": 2})
    assert fragments.load(["thing:1:1"]) == {}
