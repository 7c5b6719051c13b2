"""Entry point for streams: what an ASGI server calls, and the server that does. Everything else is served by `social.wsgi`."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
django.setup(set_prefix=False)

from social.kernel import descriptors  # noqa: E402  (the apps first)
from social.settings import env  # noqa: E402  (the apps first)
from timelines.consumers.routing import StreamingApplication  # noqa: E402  (models need the apps to be ready)

#: Seconds between the pings of a WebSocket, and until an unanswered one ends it (contract, behaviours section 16).
PING_SECONDS = 30
#: Bytes of the longest message a client may send: subscriptions are short.
MAX_MESSAGE = 64 * 1024
#: Seconds open streams have to end when the process is asked to stop.
GRACE_SECONDS = 3

application = StreamingApplication()


def serve() -> None:
    """Serve streams on STREAMING_PORT until SIGTERM or SIGINT: one process, one event loop.

    With Uvicorn, because it sends the pings that the contract asks for: ASGI has no message for them, so no application
    can, and Granian does not. Its log of requests stays off: their queries hold tokens (security row 48).
    """
    import uvicorn

    from timelines.consumers.transports import DirectWebSocket, SingleRequest

    descriptors.allow_many()
    uvicorn.run(
        application,
        host=env.BIND,
        port=env.STREAMING_PORT,
        loop="uvloop",
        http=SingleRequest,
        ws=DirectWebSocket,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_max_size=MAX_MESSAGE,
        # Events are a few kilobytes: compressing each for each client would cost more than all the rest.
        ws_per_message_deflate=False,
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


if __name__ == "__main__":
    serve()
