"""Tests of the script on pages for members: it is small, comes from this server only, and visitors do not load it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client

from tests.factories.accounts import make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
SCRIPT = Path(configured.BASE_DIR) / "social" / "static" / "member.js"


def policy_of(answer: Any) -> dict[str, str]:
    parts = (part.partition(" ") for part in answer["Content-Security-Policy"].split("; "))
    return {name: value for name, _space, value in parts}


def test_the_script_is_small() -> None:
    assert len(SCRIPT.read_bytes()) <= 15_000


def test_members_get_one_script_of_this_server_and_the_address_of_its_streams(settings: Any) -> None:
    settings.STREAMING_URL = f"ws://{settings.BASE_URL.partition('//')[2].partition(':')[0]}:4000"
    browser = signed_in(make_user("ada"))
    for path in ("/", "/write", "/settings", "/@ada"):
        answer = browser.get(path)
        text = answer.content.decode()
        (script,) = re.findall(r"<script.*?</script>", text, re.DOTALL)
        assert re.match(r'<script type="module" id="member-script" src="/static/member[.\w]*js" data-', script), path
        assert f'data-stream="{settings.STREAMING_URL}"' in script
        assert policy_of(answer)["script-src"] == "'self'"
        assert policy_of(answer)["connect-src"] == f"'self' {settings.STREAMING_URL}"
        assert not re.search(r"\son\w+=|javascript:|\sstyle=", text)


def test_streams_on_another_host_are_not_named(settings: Any) -> None:
    settings.STREAMING_URL = "wss://streams.elsewhere.example"
    answer = signed_in(make_user("ada")).get("/")
    assert 'data-stream=""' in answer.content.decode()
    assert policy_of(answer)["connect-src"] == "'self'"


def test_visitors_get_no_script() -> None:
    make_user("ada")
    for path in ("/", "/@ada", "/about"):
        answer = Client().get(path)
        assert "<script" not in answer.content.decode()
        assert "script-src" not in policy_of(answer)
