"""Lists the tables of the server's rules and what staff do."""

from moderation.models.house_rule import InstanceRule

__all__ = ["InstanceRule"]
