"""Logging: JSON or readable lines, each with its request's id, and none with a secret."""

import contextlib
import logging
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any

REDACTED = "[redacted]"
# These loggers write three lines for every task, even for a task without work.
_VERBOSE_LOGGERS = ("celery.beat", "celery.worker.strategy", "celery.app.trace")

_request_id: ContextVar[str] = ContextVar("request_id", default="")

_SECRET_KEYS = frozenset([
    "password", "passwd", "password1", "password2", "new_password", "current_password", "fetch_password",
    "passphrase", "secret", "secret_key", "client_secret", "token", "access_token", "refresh_token", "bearer_token",
    "id_token", "registration_token", "auth_token", "authorization", "proxy_authorization", "cookie", "set_cookie",
    "sec_websocket_protocol", "private_key", "vapid_private_key", "field_encryption_keys", "code_verifier", "otp",
    "csrfmiddlewaretoken", "sessionid",
])  # fmt: skip

# Text between a name and its value: `=`, `:` (with or without quotes, which may be escaped) or, in the repr of a pair, a comma
# between quotes.
_JOINT = r"""(?:\\?["']?\s*[=:]\s*b?\\?["']?|\\?["']\s*,\s*b?\\?["'])"""
_PATTERNS = re.compile(
    rf"""
    (?P<whole>(?:\b|_)(?:authorization|sec[-_]websocket[-_]protocol|cookie))(?P<whole_joint>{_JOINT})[^"'\r\n\\]+
    | (?P<name>(?:access|bearer|refresh|id|registration|auth)_token|client_secret|secret_key|private_key|code_verifier
        |passw(?:or)?d\d?|csrfmiddlewaretoken|sessionid|(?<=[?&])(?:code|token))(?P<joint>{_JOINT})[^\s&"',;)}}\]\\]+
    | (?P<bearer>\bbearer\s+)[\w.~+/=-]{{12,}}
    | (?P<login>://[^\s/:@]*:)[^\s/@]+(?=@)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def _replace(match: re.Match[str]) -> str:
    kept = (match["whole"], match["whole_joint"], match["name"], match["joint"], match["bearer"], match["login"])
    return "".join(part for part in kept if part) + REDACTED


def redact(text: str) -> str:
    """Return the text without tokens, passwords, authorization headers, cookies and passwords in URLs (security, row 48)."""
    return _PATTERNS.sub(_replace, text)


def _is_secret(key: object) -> bool:
    return isinstance(key, str | bytes) and _plain(key).lower().replace("-", "_") in _SECRET_KEYS


def _plain(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def redact_value(value: object) -> object:
    """Redact a value, and all values within mappings and sequences, as `redact` does. A value under the name of a secret is
    always redacted.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | bytes):
        return redact(_plain(value))
    if isinstance(value, Mapping):
        return {
            str(redact_value(key)): REDACTED if _is_secret(key) and item else redact_value(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        if isinstance(value, tuple) and len(value) == 2 and _is_secret(value[0]):  # a header: name and value
            return [redact_value(value[0]), REDACTED]
        return [redact_value(item) for item in value]
    return redact(repr(value))


def request_id() -> str:
    """Return the id of the request or task that is being processed; empty outside of both."""
    return _request_id.get()


@contextlib.contextmanager
def request_context(identifier: str) -> Iterator[None]:
    """Add `identifier` as `request_id` to every line logged inside, in this thread or asyncio task."""
    token = _request_id.set(identifier)
    try:
        yield
    finally:
        _request_id.reset(token)


def _add_request_id(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if identifier := _request_id.get():
        event.setdefault("request_id", identifier)
    return event


def _redact_event(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    # The two members that structlog adds are not redacted, because the formatter removes them.
    return {
        key: value if key in ("_record", "_from_structlog") else REDACTED if _is_secret(key) else redact_value(value)
        for key, value in event.items()
    }


def _is_unlogged(record: logging.LogRecord) -> bool:
    # Unhandled errors of an API action, and a database that does not answer (503), were already logged with their details.
    return bool(record.exc_info) and getattr(record, "status_code", 500) != 503


#: Driver errors for a server that cannot be reached, listed by class and module, so that the drivers need not be imported.
_AWAY = frozenset({"OperationalError", "InterfaceError", "ConnectionError", "TimeoutError", "BusyLoadingError"})
_DRIVERS = ("django.db", "psycopg", "redis", "kombu", "amqp")
#: SQLSTATEs that are the fault of the server, not of a statement: connection errors, too many connections, a shutdown.
_AWAY_STATES = ("08", "53300", "57P")
OUTAGE_SECONDS = 10.0


def _is_outage(error: object) -> bool:
    while isinstance(error, BaseException):
        kind = type(error)
        if any(base.__name__ in _AWAY and base.__module__.startswith(_DRIVERS) for base in kind.__mro__):
            states = [getattr(found, "sqlstate", None) for found in (error, error.__cause__)]
            if not any(states) or any(state and state.startswith(_AWAY_STATES) for state in states):
                return True
        error = error.__cause__ or error.__context__
    return False


class Outages(logging.Filter):
    """Filter for outages of the database or Redis.

    During an outage every request and task would log an error, and these lines would hide all others. One line is let through
    every OUTAGE_SECONDS, without a traceback; it states how many lines were left out before it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._since = float("-inf")
        self._left_out = 0
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        shown = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        given = record.args if isinstance(record.args, tuple) else ()
        if not any(_is_outage(error) for error in (shown, *given)):
            return True
        with self._lock:
            now = time.monotonic()
            if now - self._since < OUTAGE_SECONDS:
                self._left_out += 1
                return False
            self._since, left_out, self._left_out = now, self._left_out, 0
        text = record.getMessage()
        if shown is not None:
            text = f"{text} ({type(shown).__name__}: {shown})"
        record.msg = " ".join(text.split()) + (f" [{left_out} lines like it were left out]" if left_out else "")
        record.args, record.exc_info, record.exc_text = (), None, None
        # Celery also puts the traceback of a task here.
        vars(record).pop("data", None)
        return True


def configure(config: Mapping[str, Any]) -> None:
    """Set up the standard library's logging and structlog, for `settings.LOGGING_CONFIG`.

    `config` has `format` ("json": one object per line, "console": for people) and `level` ("DEBUG" to "ERROR"). Lines go to
    standard error, so that the output of a command stays clean.
    """
    import orjson
    import structlog

    as_json = config.get("format", "json") == "json"
    level = str(config.get("level", "INFO")).upper()
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.stdlib.ExtraAdder(),
        _add_request_id,
        structlog.processors.format_exc_info,
        _redact_event,
    ]
    if as_json:
        renderer: Any = structlog.processors.JSONRenderer(
            serializer=lambda event, **_: orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
        )
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(Outages())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    # This logger writes a warning for every 404, which any stranger can cause; refusals are in the metrics.
    logging.getLogger("django.request").setLevel(logging.ERROR)
    logging.getLogger("django.request").addFilter(_is_unlogged)
    # Strangers can send made-up host names, and each would be logged with a traceback.
    logging.getLogger("django.security.DisallowedHost").setLevel(logging.CRITICAL)
    # At the level DEBUG, this logger writes authorization codes in a form that `redact` does not recognise.
    logging.getLogger("oauthlib").setLevel(logging.INFO)
    if level == "INFO":
        for name in _VERBOSE_LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
