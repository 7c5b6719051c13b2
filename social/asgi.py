"""Entry point for streams: the ASGI application and its server. All other requests are served by `social.wsgi`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
django.setup(set_prefix=False)

from social.kernel import descriptors  # noqa: E402  (the apps first)
from social.settings import env  # noqa: E402  (the apps first)
from timelines.consumers.routing import StreamingApplication  # noqa: E402  (models need the apps to be ready)

#: Seconds between two pings of a WebSocket, and until an unanswered ping closes the connection (contract, behaviours section
#: 16).
PING_SECONDS = 30
#: The maximum size, in bytes, of a client's message; clients send only short subscriptions.
MAX_MESSAGE = 64 * 1024
#: Seconds within which open streams must end when the process is stopped.
GRACE_SECONDS = 3

application = StreamingApplication()


def serve() -> None:
    """Serve streams on STREAMING_PORT until SIGTERM or SIGINT: one process, one event loop.

    Uvicorn is used because it sends the pings that the contract requires: ASGI has no message for pings, so applications cannot
    send them, and Granian does not. Uvicorn's access log is off, because query strings contain tokens (security row 48).
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
        # Compression is off, because events are only a few kilobytes long, and compressing each event for each client would
        # cost more than all other work.
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
