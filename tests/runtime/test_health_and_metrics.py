"""Tests of the endpoints for load balancers, orchestrators and Prometheus."""

import json
import subprocess
import textwrap
from pathlib import Path
from time import process_time

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import ResolverMatch

from social.kernel import heartbeats, redis
from social.runtime import health, metrics
from tests.runtime.processes import ROOT, clean_environment, python

pytestmark = pytest.mark.django_db


@pytest.fixture
def web() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture
def unmigrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", False)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'social' ")


def test_health_is_plain_ok(web: Client) -> None:
    answer = web.get("/health")
    assert (answer.status_code, answer.content) == (200, b"OK")
    assert answer["Content-Type"].startswith("text/plain")


def test_health_is_the_same_with_a_slash_and_is_not_redirected(web: Client) -> None:
    assert web.get("/health/").content == b"OK"


def test_health_needs_neither_database_nor_redis(web: Client, django_assert_num_queries: object) -> None:
    assert callable(django_assert_num_queries)
    with django_assert_num_queries(0):
        assert web.get("/health").status_code == 200


def test_ready_names_every_check(web: Client) -> None:
    answer = web.get("/health/ready")
    assert answer.status_code == 200
    body = json.loads(answer.content)
    assert body["status"] == "ok"
    assert set(body["checks"]) == {
        *("database", "migrations"),
        *("redis_cache", "redis_broker", "redis_streams", "redis_feeds"),
    }
    assert set(body["checks"].values()) == {"ok"}


def test_ready_is_503_while_a_migration_is_missing(web: Client, unmigrated: None) -> None:
    answer = web.get("/health/ready")
    assert answer.status_code == 503
    assert json.loads(answer.content)["checks"]["migrations"] == "failed"


def test_ready_is_503_without_redis_and_does_not_say_why(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = settings.REDIS_URLS | {"streams": "redis://:geheim@127.0.0.1:1/0"}
    monkeypatch.setattr("django.conf.settings.REDIS_URLS", urls)
    monkeypatch.setattr(redis.circuit("streams"), "failed", lambda: None)
    answer = web.get("/health/ready")
    assert answer.status_code == 503
    assert json.loads(answer.content)["checks"]["redis_streams"] == "failed"
    assert b"127.0.0.1" not in answer.content


@pytest.mark.parametrize("path", ["/health", "/health/ready", "/metrics"])
def test_health_and_metrics_refuse_post(web: Client, path: str) -> None:
    assert web.post(path).status_code == 405


def test_metrics_show_every_queue_even_without_rows(web: Client) -> None:
    text = web.get("/metrics").content.decode()
    for queue in ("default", "feeds", "deliveries"):
        assert f'social_outbox_depth{{queue="{queue}"}} 0.0' in text
        assert f'social_outbox_age_p99_seconds{{queue="{queue}"}} 0.0' in text
        assert f'social_outbox_dead_letters{{queue="{queue}"}} 0.0' in text


def test_metrics_show_depth_age_and_dead_letters(web: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error, dead_at) "
            "SELECT 'deliveries', '', 's', 'e', '{}', now() - interval '90 seconds', 0, '', dead FROM "
            "(VALUES (NULL::timestamptz), (NULL), (now())) AS d (dead)"
        )
    values = samples(web)
    assert values['social_outbox_depth{queue="deliveries"}'] == 2
    assert values['social_outbox_dead_letters{queue="deliveries"}'] == 1
    assert 89 < values['social_outbox_age_p99_seconds{queue="deliveries"}'] < 120
    assert 89 < values['social_outbox_oldest_seconds{queue="deliveries"}'] < 120


def test_metrics_show_when_worker_and_scheduler_were_last_seen(web: Client) -> None:
    heartbeats.beat("worker")
    assert samples(web)['social_process_last_seen_seconds{role="worker"}'] < 5


def samples(web: Client) -> dict[str, float]:
    lines = web.get("/metrics").content.decode().splitlines()
    return {name: float(value) for name, _, value in (x.rpartition(" ") for x in lines if not x.startswith("#"))}


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ({}, "203.0.113.9"),
        ({"X-Forwarded-For": "127.0.0.1"}, "203.0.113.9"),
        ({"X-Forwarded-For": "203.0.113.9"}, "127.0.0.1"),
        ({"X-Real-IP": "203.0.113.9"}, "127.0.0.1"),
        ({"Forwarded": "for=203.0.113.9"}, "127.0.0.1"),
    ],
)
def test_metrics_are_404_for_callers_from_other_machines(web: Client, headers: dict[str, str], address: str) -> None:
    assert web.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == 404


def test_row_77_pages_and_metrics_answer_by_the_names_of_this_server_and_health_by_any(web: Client) -> None:
    for host in ("social.localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert [web.get(path, HTTP_HOST=host).status_code for path in ("/metrics", "/about", "/health")] == [
            200,
            200,
            200,
        ]
    answers = [web.get(path, HTTP_HOST="evil.example") for path in ("/metrics", "/about", "/auth/sign_in", "/health")]
    assert [answer.status_code for answer in answers] == [404, 400, 400, 200]


def test_with_a_token_metrics_are_for_its_bearer_from_anywhere(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("social.settings.env.METRICS_TOKEN", "right")
    assert web.get("/metrics").status_code == 404
    for authorization, status in (("Bearer wrong", 404), ("Bearer right", 200), ("bearer rïght", 404)):
        headers = {"Authorization": authorization.encode().decode("latin-1")}
        assert web.get("/metrics", headers=headers, REMOTE_ADDR="203.0.113.9").status_code == status


def measured(route: str, method: str, times: int = 1) -> float:
    """Return the seconds that the middleware takes per request."""
    request: WSGIRequest = RequestFactory().generic(method, "/")
    request.resolver_match = ResolverMatch(lambda: None, (), {}, route=route)
    answer = HttpResponse()
    middleware = metrics.MetricsMiddleware(lambda _: answer)
    began = process_time()
    for _ in range(times):
        middleware(request)
    return (process_time() - began) / times


def test_requests_are_counted_by_route_and_method(web: Client) -> None:
    for _ in range(3):
        measured("a/route/of/this/test/<id>", "GET")
    measured("a/route/of/this/test/<id>", "BREW")
    values = samples(web)
    assert values['social_request_seconds_count{method="GET",route="a/route/of/this/test/<id>"}'] == 3
    assert values['social_request_seconds_count{method="OTHER",route="a/route/of/this/test/<id>"}'] == 1


def test_the_number_of_series_of_metrics_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_SERIES_LIMIT", len(metrics._series) + 5)
    for number in range(50):
        measured(f"route-{number}", "GET")
    assert len(metrics._series) <= metrics._SERIES_LIMIT + 1


SHARED = """
    import os, sys, threading
    import django
    from django.conf import settings
    settings.configure(INSTALLED_APPS=["social"])
    django.setup()
    from social.runtime import metrics
    from django.http import HttpResponse
    from django.test import RequestFactory
    from time import process_time
    request = RequestFactory().get("/")
    request.resolver_match = None
    answer = HttpResponse()
    middleware = metrics.MetricsMiddleware(lambda _: answer)
"""


def shared(folder: Path, code: str) -> str:
    """Run code with metrics shared between processes through `folder`."""
    environment = clean_environment(PROMETHEUS_MULTIPROC_DIR=str(folder), PYTHONPATH=str(ROOT), DATA_DIR=str(folder))
    done = python("-c", textwrap.dedent(SHARED) + textwrap.dedent(code), environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_figures_of_forked_workers_add_up(tmp_path: Path) -> None:
    code = """
        middleware(request)
        for _ in range(2):
            if os.fork() == 0:
                for _ in range(10):
                    middleware(request)
                os._exit(0)
        for _ in range(2):
            os.wait()
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
        print(generate_latest(registry).decode())
    """
    assert 'social_request_seconds_count{method="GET",route="unmatched"} 21.0' in shared(tmp_path, code)


def test_measuring_a_request_takes_less_time_than_handling_it(tmp_path: Path) -> None:
    """The middleware takes about 2.5 us and the rest of a request 9 us, measured on the same machine at the same time."""
    code = """
        def cost(work):
            began = process_time()
            for _ in range(2000):
                work()
            return process_time() - began
        factory = RequestFactory()
        print(min(cost(lambda: middleware(request)) / cost(lambda: factory.get("/")) for _ in range(5)))
    """
    assert float(shared(tmp_path, code)) < 1


def test_with_a_full_disk_metrics_are_lost_and_the_process_survives(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a small disk here")
    try:
        with (small / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(bytes(4096))
        assert shared(small, "print(middleware(request) is answer)") == "True\n"
    finally:
        subprocess.run(["umount", str(small)], check=True)
