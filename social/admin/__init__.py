"""Operators look at the outbox and deal with its dead letters."""

from __future__ import annotations

from social.admin.outbox import OutboxRowAdmin

__all__ = ["OutboxRowAdmin"]
