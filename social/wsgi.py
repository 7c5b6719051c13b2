"""Entry point for HTTP requests: what a WSGI server calls."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")

application = get_wsgi_application()
