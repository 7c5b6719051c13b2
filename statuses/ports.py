"""The questions this app asks of an app above it."""

from __future__ import annotations

from accounts.ports import RemoteAccounts, remote_accounts

__all__ = ["RemoteAccounts", "remote_accounts"]
