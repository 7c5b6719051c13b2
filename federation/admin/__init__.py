"""Admin tables of federation: received and sent activities, deliveries, relays, and servers."""

from __future__ import annotations

from federation.admin.activities import DeliveryAdmin, InboundActivityAdmin, OutboundActivityAdmin
from federation.admin.relays import RelayAdmin
from federation.admin.servers import HostAdmin, ServerAdmin

__all__ = ["DeliveryAdmin", "HostAdmin", "InboundActivityAdmin", "OutboundActivityAdmin", "RelayAdmin", "ServerAdmin"]
