"""Admin tables of federation: received and sent activities, deliveries, relays, and servers."""

from federation.admin import (  # noqa: F401 (each registers its pages)
    activities,
    relays,
    servers,
)
