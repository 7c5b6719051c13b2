"""Admin tables of federation: received and sent activities, deliveries, relays, and servers."""

from __future__ import annotations

from federation.admin import (  # noqa: F401 (each registers its pages)
    activities,
    relays,
    servers,
)
