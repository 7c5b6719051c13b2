"""Metrics: times of requests by route and method, state of the queues, heartbeats, refusals of remote content."""

import contextlib
import hmac
import ipaddress
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Final

from django.core.exceptions import DisallowedHost
from django.db import Error
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from social.api import addresses
from social.kernel import heartbeats, outbox, redis, refusals
from social.kernel.clock import now
from social.kernel.subscriptions import registry as subscriptions
from social.settings import env

#: Queues that are shown even when they have never had a row.
QUEUES: Final = ("default", "feeds", "deliveries")
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS: Final = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
# The file of a process's metrics grows with the number of series; up to this number it stays within `_RESERVED` bytes.
_SERIES_LIMIT: Final = 1000
_RESERVED: Final = 8 * 1024 * 1024
_FORWARDED: Final = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_X_FORWARDED_HOST")

_registry = CollectorRegistry()
_seconds = Histogram(
    "social_request_seconds",
    "Seconds from the first line of a request to its answer",
    ("route", "method"),
    buckets=_BUCKETS,
    registry=_registry,
)
_series: dict[tuple[str, str], Histogram] = {}
_lock = threading.Lock()
_ready_pid = 0
_usable = True


def _reserve() -> bool:
    """Allocate the file of this process's metrics before it is mapped, and tell whether that succeeded. With a full disk,
    writing to a mapped file without allocated blocks would end the process with SIGBUS.
    """
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder:
        return True
    try:
        with (Path(folder) / f"histogram_{os.getpid()}.db").open("ab") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, _RESERVED)
    except OSError:
        return False
    return True


def _find_series(route: str, method: str) -> Histogram | None:
    global _ready_pid, _usable
    with _lock:
        pid = os.getpid()
        if _ready_pid != pid:
            _usable, _ready_pid = _reserve(), pid
            _series.clear()
        if not _usable:
            return None
        if len(_series) >= _SERIES_LIMIT:
            route, method = "other", "OTHER"
        label = (route, method if method in _METHODS else "OTHER")
        return _series.setdefault(label, _seconds.labels(*label))


class MetricsMiddleware:
    """Measures the time of every request in a few microseconds.

    It is first in MIDDLEWARE, so that the time includes all other middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        label = (match.route if match is not None else "unmatched", request.method or "OTHER")
        series = _series.get(label) if _ready_pid else None
        if series is None:
            series = _find_series(*label)
        if series is not None:
            series.observe(perf_counter() - began)
        return response


def _forget_series() -> None:
    # A forked worker has its own file, which must be allocated before its first metric.
    global _ready_pid
    _ready_pid = 0
    _series.clear()


os.register_at_fork(after_in_child=_forget_series)


class _State:
    """Collector of the state of queues, heartbeats and refusals; leaves out values that the database or Redis does not
    return.
    """

    def collect(self) -> Iterator[Metric]:
        with contextlib.suppress(Error):
            yield from _outbox_metrics()
        ages = GaugeMetricFamily("social_process_last_seen_seconds", "Since the last sign of life", labels=["role"])
        with contextlib.suppress(redis.RedisError):
            for role in ("worker", "scheduler"):
                if seen := heartbeats.last(role):
                    ages.add_metric([role], max(0.0, (now() - seen).total_seconds()))
        yield ages
        numbers = GaugeMetricFamily("social_refused_today", "Things of others that were not taken", labels=["reason"])
        with contextlib.suppress(Error):
            for reason, number in refusals.load_today():
                numbers.add_metric([reason], number)
            yield numbers


def _outbox_metrics() -> Iterator[Metric]:
    figures = {found.queue: found for found in outbox.measure()}
    depth = GaugeMetricFamily("social_outbox_depth", "Rows that are due", labels=["queue"])
    dead = GaugeMetricFamily("social_outbox_dead_letters", "Rows that were given up", labels=["queue"])
    oldest = GaugeMetricFamily("social_outbox_oldest_seconds", "Age of the oldest due row", labels=["queue"])
    p99 = GaugeMetricFamily(
        "social_outbox_age_p99_seconds", "99th percentile of the ages of due rows", labels=["queue"]
    )
    for queue in sorted({*QUEUES, *subscriptions.queues(), *figures}):
        found = figures.get(queue) or outbox.QueueFigures(queue, 0, 0, 0.0, 0.0)
        depth.add_metric([queue], found.depth)
        dead.add_metric([queue], found.dead)
        oldest.add_metric([queue], found.oldest)
        p99.add_metric([queue], found.p99)
    yield from (depth, dead, oldest, p99)


def _may_read(request: HttpRequest) -> bool:
    """Tell whether the caller may read the metrics.

    If METRICS_TOKEN is set, the request must have that token; otherwise it must come from this machine, without a proxy, and to
    a host name of this server. A page of another site could use its own domain to make a browser on this machine read the
    metrics (DNS rebinding, security row 77).
    """
    if env.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {env.METRICS_TOKEN}".encode())
    if any(name in request.META for name in _FORWARDED):
        return False
    try:
        request.get_host()
        return ipaddress.ip_address(addresses.find(request.META)).is_loopback
    except (ValueError, DisallowedHost):
        return False


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """`GET /metrics`, in the text format of Prometheus; 404 for callers who may not read it."""
    if not _may_read(request):
        return HttpResponseNotFound("Not found\n", content_type="text/plain; charset=utf-8")
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it has no types
    else:
        registry.register(_seconds)
    registry.register(_State())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
