"""Tests that reports to Sentry and traces to a collector, if configured, contain neither secrets nor users' addresses."""

import gzip
from pathlib import Path

import pytest

from social.runtime import observing
from social.runtime.failures import OperatorError
from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import clean_environment, python
from tests.support.receiver import Receiver

_PROGRAM = """
import io, logging
from social.runtime.observing import observe
observe("web")
from social.wsgi import application
environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/health", "QUERY_STRING": "access_token=sesame-in-query",
           "SERVER_NAME": "localhost", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost",
           "REMOTE_ADDR": "192.0.2.77", "HTTP_USER_AGENT": "Browser-of-somebody", "HTTP_COOKIE": "sessionid=sesame-in-cookie",
           "HTTP_TRACEPARENT": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01",
           "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "wsgi.errors": io.StringIO()}
answer = application(environ, lambda status, headers, *rest: None)
assert b"".join(answer) == b"OK"
answer.close()
try:
    raise ValueError("refused access_token=sesame-in-error")
except ValueError:
    logging.getLogger("social.runtime").exception("Something failed: password=sesame-in-line")
import sentry_sdk
from opentelemetry import trace
trace.get_tracer_provider().shutdown()
sentry_sdk.flush(10)
"""
_WORKER = """
import io, sys
from social.runtime.observing import observe
observe("worker")
import django
django.setup()
from social.celery import app
from social.kernel.http import client
port = sys.argv[1]

@app.task(name="look_around")
def look_around(word):
    address = f"http://127.0.0.1:{port}/scan?token=sesame-in-query"
    client.ask_service(address, file=io.BytesIO(b"x"), headers={}, max_bytes=100, deadline=10, loopback=True)

assert look_around.apply(args=["sesame-in-argument"]).successful()
from opentelemetry import trace
trace.get_tracer_provider().shutdown()
"""


def _opened(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def test_errors_and_traces_are_reported_without_secrets(tmp_path: Path) -> None:
    generate_secrets(tmp_path)
    with Receiver().running() as receiver:
        environment = clean_environment(
            DATA_DIR=str(tmp_path),
            DJANGO_SETTINGS_MODULE="social.settings.base",
            SENTRY_DSN=f"http://key@127.0.0.1:{receiver.port}/1",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{receiver.port}",
            DATABASE_URL="postgres://social@127.0.0.1:1/social",
            REDIS_URL="redis://127.0.0.1:1/0",
        )
        done = python("-c", _PROGRAM, environment=environment)
        assert done.returncode == 0, done.stderr
        came = {request.path: _opened(request.body) for request in receiver.came}
    assert set(came) == {"/v1/traces", "/api/1/envelope/"}
    assert b"GET" in came["/v1/traces"]
    assert b"http.route" in came["/v1/traces"]
    assert b"Something failed" in came["/api/1/envelope/"]
    assert b"ValueError" in came["/api/1/envelope/"]
    for body in came.values():
        for secret in (b"sesame", b"192.0.2.77", b"Browser-of-somebody", b"\xab" * 16):
            assert secret not in body, (secret, body)


def test_tasks_and_their_requests_to_other_servers_are_traced_without_secrets(tmp_path: Path) -> None:
    generate_secrets(tmp_path)
    with Receiver().running() as receiver:
        environment = clean_environment(
            DATA_DIR=str(tmp_path),
            DJANGO_SETTINGS_MODULE="social.settings.base",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{receiver.port}",
            DATABASE_URL="postgres://social@127.0.0.1:1/social",
            REDIS_URL="redis://127.0.0.1:1/0",
        )
        done = python("-c", _WORKER, str(receiver.port), environment=environment)
        assert done.returncode == 0, done.stderr
        came = {request.path: _opened(request.body) for request in receiver.came}
    assert set(came) == {"/v1/traces", "/scan?token=sesame-in-query"}
    traces = came["/v1/traces"]
    assert b"run/look_around" in traces
    assert b"POST" in traces
    assert b"http.request.method" in traces or b"http.method" in traces
    for secret in (b"sesame", b"/scan", b"127.0.0.1"):
        assert secret not in traces, (secret, traces)


@pytest.mark.parametrize("setting", ["SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_a_missing_library_is_refused_with_its_remedy(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setattr(observing.env, setting, "https://key@collector.example/1")
    monkeypatch.setitem(observing._NEEDED, setting, ("no_such_library.inside",))
    with pytest.raises(OperatorError, match=rf"{setting} is set.*requirements/observability\.txt"):
        observing.check_observing()
    monkeypatch.setattr(observing.env, setting, "")
    observing.check_observing()
