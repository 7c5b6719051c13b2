"""Staff look at people and act on them; every action is a service of this app."""

from __future__ import annotations

from accounts.admin.users import RoleAdmin, UserAdmin

__all__ = ["RoleAdmin", "UserAdmin"]
