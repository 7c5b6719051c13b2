"""Entry point for HTTP requests: the WSGI application."""

import os

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries


def _disconnect_useless_handlers() -> None:
    """Disconnect Django's signal handlers that are useless with our settings but take time in each request."""
    # Useless, because each request returns its connection when it ends.
    request_started.disconnect(close_old_connections)
    # Useless, because the connections of caches stay open between requests.
    request_finished.disconnect(close_caches)
    # Useless, because every request sets its own URLconf.
    request_finished.disconnect(reset_urlconf)
    if not settings.DEBUG:
        # Useless, because Django records SQL statements only with DEBUG.
        request_started.disconnect(reset_queries)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
django.setup(set_prefix=False)
_disconnect_useless_handlers()
application = WSGIHandler()
