from __future__ import annotations

from collections.abc import Sequence

from federation.events import ActivityReceived
from federation.inbound.processing import process


def process_received(events: Sequence[ActivityReceived]) -> None:
    """Act upon stored activities, in order; queue "ingress"."""
    for event in events:
        process(event.activity_id)
