"""Optional reports to an operator's own services: errors to Sentry, traces to an OpenTelemetry collector.

Requests to web processes, tasks of workers and their requests to other servers are traced. The libraries
(requirements/observability.txt) are loaded only if a setting needs them. Reports contain no secrets, bodies, addresses of
people or values of variables: errors are redacted like the log, and only the attributes in `_ATTRIBUTES` are sent with a
trace.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from social import __version__
from social.kernel.logs import redact, redact_value
from social.runtime.failures import OperatorError
from social.settings import env

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

#: The modules that a setting needs.
_NEEDED: Final = {
    "SENTRY_DSN": ("sentry_sdk",),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "opentelemetry.sdk",
        "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry.instrumentation.django",
        "opentelemetry.instrumentation.celery",
        "opentelemetry.instrumentation.aiohttp_client",
    ),
}
#: Attributes of traces that are sent: methods, routes, tasks and results. URLs are not, since they may hold tokens and reveal
#: whom people read; nor are user agents and IP addresses, which are personal data.
_ATTRIBUTES: Final = frozenset(
    {
        "celery.action",
        "celery.state",
        "celery.task_name",
        "error.type",
        "http.method",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "http.status_code",
    }
)
#: Members of a Sentry event that can hold texts of this server, which are redacted.
_TEXTS: Final = ("exception", "extra", "logentry", "message", "threads", "transaction")


def check_observing() -> None:
    """Raise OperatorError if a setting needs a library that is not installed."""
    for setting, modules in _NEEDED.items():
        if getattr(env, setting) and not all(map(_is_installed, modules)):
            raise OperatorError(
                f"{setting} is set, and its library is not installed. Install it, or take the setting away: "
                "python -m pip install --only-binary :all: --require-hashes -r requirements/observability.txt"
            )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def observe(role: str) -> None:
    """Start the reports of this process, a `web`, `streaming`, `worker` or `scheduler`, according to the settings. Call it
    before the application is loaded: requests are traced by a middleware that is added to `settings.MIDDLEWARE`.
    """
    if env.SENTRY_DSN:
        _report_errors(role)
    if env.OTEL_EXPORTER_OTLP_ENDPOINT and role in ("web", "worker"):
        _trace(role)


def _report_errors(role: str) -> None:
    import sentry_sdk
    from sentry_sdk.integrations.atexit import AtexitIntegration
    from sentry_sdk.integrations.dedupe import DedupeIntegration
    from sentry_sdk.integrations.excepthook import ExcepthookIntegration
    from sentry_sdk.integrations.logging import LoggingIntegration
    from sentry_sdk.integrations.threading import ThreadingIntegration

    sentry_sdk.init(
        dsn=env.SENTRY_DSN,
        release=__version__,
        server_name=env.WEB_DOMAIN,
        default_integrations=False,
        auto_enabling_integrations=False,
        # Only errors in the log are reported: every error is logged where it occurs.
        integrations=[
            AtexitIntegration(callback=lambda pending, timeout: None),
            DedupeIntegration(),
            ExcepthookIntegration(),
            LoggingIntegration(),
            ThreadingIntegration(),
        ],
        send_default_pii=False,
        include_local_variables=False,
        max_breadcrumbs=0,
        before_send=redact_event,
    )
    sentry_sdk.set_tag("process", role)


def redact_event(event: Any, hint: Any) -> Any:
    """Redact a Sentry event like a line of the log, and remove its request, user and breadcrumbs."""
    kept = {key: value for key, value in event.items() if key not in ("request", "user", "breadcrumbs")}
    return kept | {key: redact_value(kept[key]) for key in _TEXTS if key in kept}


def _trace(role: str) -> None:
    from opentelemetry import propagate, trace
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.aiohttp_client import AioHttpClientInstrumentor
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.propagators.composite import CompositePropagator
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class NoPropagator(CompositePropagator):
        """Propagator that ignores trace ids of requests, so that clients do not decide what is traced, and sends none."""

        def extract(self, carrier: Any, context: Context | None = None, getter: Any = None) -> Context:
            return Context() if context is None else context

    class ScrubbingExporter(OTLPSpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> Any:
            return super().export([_scrubbed(span) for span in spans])

    about = {"service.name": "social", "service.version": __version__, "host.name": env.WEB_DOMAIN}
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(ScrubbingExporter()))
    trace.set_tracer_provider(provider)
    propagate.set_global_textmap(NoPropagator([]))
    instrumentor = DjangoInstrumentor() if role == "web" else CeleryInstrumentor()  # type: ignore[no-untyped-call]  # its __init__ has no types
    instrumentor.instrument(tracer_provider=provider)
    AioHttpClientInstrumentor().instrument(tracer_provider=provider)


def _scrubbed(span: ReadableSpan) -> ReadableSpan:
    """Return a copy of a span with only the attributes in `_ATTRIBUTES` and without events."""
    from opentelemetry.sdk.trace import ReadableSpan

    return ReadableSpan(
        name=redact(span.name),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={key: value for key, value in (span.attributes or {}).items() if key in _ATTRIBUTES},
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        start_time=span.start_time,
        end_time=span.end_time,
    )
