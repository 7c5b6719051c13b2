"""The tree of OAuth scopes, and the scopes that are sufficient for an endpoint (contract, behaviours section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

_THINGS = (
    "accounts",
    "blocks",
    "bookmarks",
    "collections",
    "favourites",
    "filters",
    "follows",
    "lists",
    "mutes",
    "notifications",
    "statuses",
)
_STAFF_THINGS = (
    "accounts",
    "reports",
    "domain_allows",
    "domain_blocks",
    "ip_blocks",
    "email_domain_blocks",
    "canonical_email_blocks",
)
_FOLLOW = frozenset(f"{verb}:{thing}" for verb in ("read", "write") for thing in ("blocks", "follows", "mutes"))

CHILDREN: dict[str, tuple[str, ...]] = {
    "read": tuple(sorted([*(f"read:{thing}" for thing in _THINGS), "read:search"])),
    "write": tuple(
        sorted([*(f"write:{thing}" for thing in _THINGS), "write:conversations", "write:media", "write:reports"])
    ),
    "follow": tuple(sorted(_FOLLOW)),
    "push": (),
    "profile": (),
    "crypto": (),
    "admin:read": tuple(f"admin:read:{thing}" for thing in _STAFF_THINGS),
    "admin:write": tuple(f"admin:write:{thing}" for thing in _STAFF_THINGS),
}
"""Children of each parent, which the parent grants. `admin:*` and `crypto` are granted by no other scope."""

SCOPES: tuple[str, ...] = tuple(
    dict.fromkeys(scope for parent, children in CHILDREN.items() for scope in (parent, *children))
)
"""Scopes this server knows, parents before their children."""

DEFAULT = "read"
"""Scopes of an application that asks for none."""


@cache
def sufficient_scopes(scope: str) -> frozenset[str]:
    """The scopes of which a token needs one where `scope` is required: itself and its parents."""
    return frozenset({scope, *(parent for parent, children in CHILDREN.items() if scope in children)})


@cache
def sufficient_for_any(scopes: tuple[str, ...]) -> frozenset[str]:
    """The scopes of which a token needs one where any one of `scopes` is enough.

    The old scope `follow` is sufficient only where it is among `scopes`: not, for instance, to read relationships.
    """
    return frozenset().union(*(sufficient_scopes(scope) for scope in scopes)) - ({"follow"} - set(scopes))


def parse(text: str) -> tuple[str, ...]:
    """Scopes from a request: separated by spaces or plus signs, each once, in their order (clients.md, trap 4)."""
    return tuple(dict.fromkeys(text.replace("+", " ").split()))


def unknown(scopes: Iterable[str]) -> list[str]:
    """The members of `scopes` that do not exist."""
    return [scope for scope in scopes if scope not in SCOPES]


def covers(granted: Iterable[str], wanted: Iterable[str]) -> bool:
    """Tell whether every wanted scope is granted, itself or by a parent: never more than was authorised."""
    held = frozenset(granted)
    return all(sufficient_scopes(scope) & held for scope in wanted)
