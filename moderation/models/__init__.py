"""Lists the tables of the house's rules and what staff do."""

from moderation.models.house_rule import HouseRule

__all__ = ["HouseRule"]
