"""Entry point for HTTP requests: what a WSGI server calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, cast

import django
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, reset_queries
from django.utils.log import log_response


class Handler(WSGIHandler):
    """As Django's, without what this server has no use for: a path that it is mounted at, an urlconf for each request, and
    what is cleared at the ends of a request for other kinds of settings (see `_keep_what_stays`).
    """

    def __call__(  # type: ignore[override]  # Django's is declared to give a response; of a file it gives a wrapper, as here
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request (PEP 3333)."""
        request_started.send(sender=Handler, environ=environ)
        response = self.get_response(WSGIRequest(environ))
        response._handler_class = Handler  # whom it names when it is closed
        headers = list(response.headers._store.values())
        headers += [("Set-Cookie", cookie.OutputString()) for cookie in response.cookies.values()]
        start_response(f"{response.status_code} {response.reason_phrase}", headers)
        file = getattr(response, "file_to_stream", None)
        wrap = environ.get("wsgi.file_wrapper")
        if file is None or wrap is None:
            return cast("Iterable[bytes]", response)
        # A server closes the wrapper, not the response.
        file.close = response.close
        return cast("Iterable[bytes]", wrap(file, response.block_size))

    def get_response(self, request: Any) -> Any:
        """The answer, having passed all middleware."""
        response: Any = self._middleware_chain(request)  # type: ignore[attr-defined]  # of Django, whose stubs lack it
        response._resource_closers.append(request.close)
        if response.status_code >= 400:
            log_response("%s: %s", response.reason_phrase, request.path, response=response, request=request)
        return response


def _give_connection_back(**_: object) -> None:
    connection.close_if_unusable_or_obsolete()


def _keep_what_stays() -> None:
    # Statements are collected with DEBUG only, a request gives its connection back at its end, and the clients of caches are
    # everybody's.
    request_started.disconnect(reset_queries)
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_caches)
    request_finished.disconnect(reset_urlconf)
    request_finished.disconnect(close_old_connections)
    request_finished.connect(_give_connection_back)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
django.setup(set_prefix=False)
_keep_what_stays()
application = Handler()
