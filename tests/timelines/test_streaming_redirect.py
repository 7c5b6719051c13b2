"""Tests of the redirect from the web server to the streaming server (SEED-127)."""

from typing import Any

import pytest

from tests.support.client import Api

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["", "/user", "/user/notification", "/public/local", "/health", "/a/b/c", "/a/b/c/d/"])
def test_another_host_or_port_gets_a_permanent_redirect_with_path_and_query(settings: Any, path: str) -> None:
    settings.BASE_URL = "https://social.example"
    settings.STREAMING_URL = "wss://stream.other"
    answer = Api().get(f"/api/v1/streaming{path}", {"stream": "public", "access_token": "x"})
    assert answer.status_code == 301
    assert answer["Location"] == f"https://stream.other/api/v1/streaming{path}?stream=public&access_token=x"
    settings.BASE_URL, settings.STREAMING_URL = "http://localhost:8000", "ws://localhost:4000"
    answer = Api().get(f"/api/v1/streaming{path}")
    assert (answer.status_code, answer["Location"]) == (301, f"http://localhost:4000/api/v1/streaming{path}")


@pytest.mark.parametrize("url", ["wss://social.example", "wss://social.example:443", "https://SOCIAL.example"])
def test_without_a_separate_address_the_path_is_not_found(settings: Any, url: str) -> None:
    settings.BASE_URL, settings.STREAMING_URL = "https://social.example", url
    for path in ("", "/user"):
        answer = Api().get(f"/api/v1/streaming{path}")
        assert answer.status_code == 404
        assert "error" in answer.json()
