"""Operators look at what comes in and goes out, and have deliveries tried again."""

from __future__ import annotations

from federation.admin.activities import InboundActivityAdmin, OutboundActivityAdmin
from federation.admin.deliveries import DeliveryAdmin
from federation.admin.hosts import HostAdmin

__all__ = ["DeliveryAdmin", "HostAdmin", "InboundActivityAdmin", "OutboundActivityAdmin"]
