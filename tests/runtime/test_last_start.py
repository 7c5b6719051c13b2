"""Tests that every command uses the installation last started in its data directory, but first refuses wrong settings."""

import json
import os
from pathlib import Path

import pytest

from social.runtime.options import load_domain, load_start, store_start
from tests.runtime.processes import manage, refusal


def test_the_options_of_the_last_start_are_stored_and_the_environment_takes_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    for name in ("WEB_DOMAIN", "STREAMING_PORT", "LOCAL_DOMAIN", "BIND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PORT", "8700")
    store_start(tmp_path, "localhost:8700")
    monkeypatch.setenv("PORT", "9999")
    load_start(tmp_path)
    assert os.environ["LOCAL_DOMAIN"] == "localhost:8700"
    assert os.environ["PORT"] == "9999"
    monkeypatch.delenv("LOCAL_DOMAIN")


@pytest.mark.parametrize(
    ("stored", "port", "web_domain"),
    [
        ("localhost:8000", "8080", "localhost:8080"),
        ("localhost:8000", None, "localhost:8000"),
        ("social.example", "8080", None),
        ("social.example:8443", "8080", None),
    ],
)
def test_the_domain_of_the_first_start_stays_whatever_the_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str, port: str | None, web_domain: str | None
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "last.json").write_text(json.dumps({"LOCAL_DOMAIN": stored}))
    for name in ("WEB_DOMAIN", "LOCAL_DOMAIN", "PORT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    if port is not None:
        monkeypatch.setenv("PORT", port)
    load_domain(tmp_path)
    assert (os.environ["LOCAL_DOMAIN"], os.environ.get("WEB_DOMAIN")) == (stored, web_domain)


def test_a_given_domain_is_not_replaced_by_the_stored_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "last.json").write_text(json.dumps({"LOCAL_DOMAIN": "localhost:8000"}))
    monkeypatch.setenv("LOCAL_DOMAIN", "social.example")
    load_domain(tmp_path)
    assert os.environ["LOCAL_DOMAIN"] == "social.example"


@pytest.mark.parametrize("content", ["", "[]", "nonsense", json.dumps({"PORT": 7})])
def test_a_damaged_file_of_the_last_start_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "last.json").write_text(content)
    monkeypatch.delenv("PORT", raising=False)
    load_start(tmp_path)
    assert "PORT" not in os.environ


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "99999"),
        ("PORT", "0"),
        ("PORT", "many"),
        ("WEB_WORKERS", "0"),
        ("LOCAL_DOMAIN", "a b"),
        ("LOCAL_DOMAIN", "https://social.example"),
        ("LOCAL_DOMAIN", "social.example/path"),
        ("REGISTRATIONS", "maybe"),
    ],
)
def test_a_bad_setting_is_refused_in_one_line_before_anything_is_made(tmp_path: Path, name: str, value: str) -> None:
    own = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "LOCAL_DOMAIN")
    environment = {key: text for key, text in os.environ.items() if key not in own}
    environment |= {"DATA_DIR": str(tmp_path / "data"), name: value}
    assert name in refusal(manage("run", environment=environment))
    assert not (tmp_path / "data" / "postgres").exists()
