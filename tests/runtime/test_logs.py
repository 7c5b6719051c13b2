"""Tests that secrets are removed from log messages (security row 48)."""

import json
import logging
import subprocess
import sys

import psycopg
import pytest
import redis
from django.db import OperationalError

from social.kernel import logs
from social.kernel.logs import redact
from tests.kernel.text.support import takes_at_most
from tests.runtime.processes import ROOT

TOKEN = "qLw3uT8-xyz_0123456789abcdefghijKLMNOPQRST"


@pytest.mark.parametrize(
    "text",
    [
        f"GET /api/v1/streaming?access_token={TOKEN}&stream=user HTTP/1.1",
        f"GET /api/v1/streaming?stream=user&access_token={TOKEN}",
        f"/api/v1/accounts?bearer_token={TOKEN}",
        f"Authorization: Bearer {TOKEN}",
        f"authorization: bearer {TOKEN}",
        f"{{'Authorization': 'Bearer {TOKEN}'}}",
        f'{{"headers": {{"authorization": "Bearer {TOKEN}"}}}}',
        f'"{{\\"Authorization\\": \\"Bearer {TOKEN}\\"}}"',
        f"(b'authorization', b'Bearer {TOKEN}')",
        f"Sec-WebSocket-Protocol: {TOKEN}",
        f"[b'sec-websocket-protocol', b'{TOKEN}']",
        f"{{'HTTP_COOKIE': 'sessionid={TOKEN}; csrftoken={TOKEN}'}}",
        f"Set-Cookie: sessionid={TOKEN}; Path=/",
        f"password={TOKEN}",
        f"fetch_password={TOKEN}",
        f"'password': '{TOKEN}'",
        f'"password1": "{TOKEN}", "email": "a@b.example"',
        f"connection failed: postgres://social:{TOKEN}@db.example/social",
        f"redis://:{TOKEN}@10.0.0.1:6379/0",
        f"client_secret={TOKEN}&grant_type=authorization_code",
        f"/oauth/callback?code={TOKEN}&state=1",
        f"the app sent Bearer {TOKEN} twice: Bearer {TOKEN}",
        f"refresh_token: {TOKEN}",
    ],
)
def test_secrets_are_redacted(text: str) -> None:
    assert TOKEN not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/v1/timelines/home?limit=40&max_id=113 200",
        "Forgotten passwords, cookies and tokens are told by mail",
        "postgres://social@%2Ftmp%2Fsocial/social",
        "worker ended with code 1; it starts again in 0.5 s.",
        "the token was revoked; status code: 200",
        "Listening at: http://127.0.0.1:8000",
    ],
)
def test_texts_without_secrets_are_not_redacted(text: str) -> None:
    assert redact(text) == text


def test_only_the_value_of_a_secret_is_redacted() -> None:
    text = f"GET /x?access_token={TOKEN}&stream=user 101"
    assert redact(text) == "GET /x?access_token=[redacted]&stream=user 101"


def test_redacting_a_hostile_line_is_fast() -> None:
    for line in ("access_token" * 20_000, "://" * 50_000, "password= " * 20_000, "a" * 200_000, "bearer " * 30_000):
        assert takes_at_most(500, lambda line=line: redact(line))


PROGRAM = f"""
import logging, structlog
from social.kernel.logs import configure, request_context
configure({{"format": FORMAT, "level": "info"}})
log = logging.getLogger("social.test")
with request_context("req-1"):
    log.info("GET %s", "/x?access_token={TOKEN}", extra={{"password": "{TOKEN}", "fetch_password": "{TOKEN}", "path": "/x"}})
    structlog.get_logger("social.other").warning("sent", headers={{"Authorization": "Bearer {TOKEN}"}}, user=7)
log.debug("not this one")
try:
    raise ValueError("bad password={TOKEN}")
except ValueError:
    log.exception("failed")
"""


def lines(style: str) -> list[str]:
    code = PROGRAM.replace("FORMAT", repr(style))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_json_lines_have_level_time_logger_and_request_id_and_no_secret() -> None:
    found = [json.loads(line) for line in lines("json")]
    assert TOKEN not in json.dumps(found)
    first, second, third = found
    assert first["event"] == "GET /x?access_token=[redacted]"
    assert (first["level"], first["logger"], first["request_id"]) == ("info", "social.test", "req-1")
    assert (first["password"], first["fetch_password"], first["path"]) == ("[redacted]", "[redacted]", "/x")
    assert first["at"].endswith("Z")
    assert (second["headers"], second["user"], second["request_id"]) == ({"Authorization": "[redacted]"}, 7, "req-1")
    assert "request_id" not in third
    assert "ValueError: bad password=[redacted]" in third["exception"]


def test_console_lines_are_readable_and_have_no_secret() -> None:
    text = "\n".join(lines("console"))
    assert TOKEN not in text
    assert "GET /x?access_token=[redacted]" in text
    assert "request_id=req-1" in text
    assert "Traceback" in text


def test_row_48_codes_of_applications_are_written_at_no_level() -> None:
    code = f"""
import logging
from social.kernel.logs import configure
configure({{"format": "json", "level": "debug"}})
logging.getLogger("oauthlib.oauth2.rfc6749.grant_types.authorization_code").debug("%r", {{"code": "{TOKEN}"}})
logging.getLogger("social.test").debug("this one")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert TOKEN not in done.stderr
    assert "this one" in done.stderr


def outage(error: Exception) -> Exception:
    """Return Django's error for an error of psycopg."""
    try:
        raise OperationalError(str(error)) from error
    except OperationalError as found:
        return found


def test_an_outage_is_logged_as_one_line_at_intervals_and_all_other_lines_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("social.kernel.logs.time.monotonic", lambda: now)
    written: list[str] = []
    handler = logging.Handler()
    handler.addFilter(logs.Outages())
    handler.setFormatter(logging.Formatter("%(message)s%(data)s", defaults={"data": ""}))
    monkeypatch.setattr(handler, "emit", lambda record: written.append(handler.format(record)))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    away = outage(psycopg.OperationalError("connection failed:\nIs it running?"))
    for moment in range(200):
        now = 1000.0 + moment / 10
        logger.error("the database did not answer: %s", away, extra={"data": {"traceback": "Traceback"}})
        logger.error("a task failed", exc_info=away)
        logger.warning("no redis: %s", redis.exceptions.ConnectionError("refused"))
    logger.error("a value", exc_info=outage(psycopg.errors.DeadlockDetected("deadlock")))
    logger.error("something else: %s", ValueError("x"))
    outages, rest = written[:2], written[2:]
    assert outages == [
        "the database did not answer: connection failed: Is it running?",
        "the database did not answer: connection failed: Is it running? [299 lines like it were left out]",
    ]
    assert "Traceback" in rest[0]
    assert rest[1] == "something else: x"
