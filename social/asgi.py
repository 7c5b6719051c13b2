"""The door for streams: what an ASGI server calls. Everything else is served by `social.wsgi`.

The server must send a WebSocket ping every 30 s (contract, behaviours section 16): the ASGI protocol has no message for
it. Uvicorn does, and closes what does not answer; Granian cannot.
"""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
django.setup(set_prefix=False)

from timelines.consumers.routing import StreamingApplication  # noqa: E402  (models need the apps to be ready)

application = StreamingApplication()
