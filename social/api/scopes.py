"""The tree of OAuth scopes: which scope of a token is sufficient where (contract, behaviours section 5)."""

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
"""Children of each parent, which it grants. `admin:*` and `crypto` are granted by nothing else."""

SCOPES: tuple[str, ...] = tuple(
    dict.fromkeys(scope for parent, children in CHILDREN.items() for scope in (parent, *children))
)
"""Scopes this server knows, parents before their children."""

DEFAULT = "read"
"""Scopes of an application that asks for none."""


@cache
def sufficient_scopes(scope: str) -> frozenset[str]:
    """The scopes of which a token needs one to pass where `scope` is asked: itself and its parents."""
    return frozenset({scope, *(parent for parent, children in CHILDREN.items() if scope in children)})


@cache
def sufficient_for_any(scopes: tuple[str, ...]) -> frozenset[str]:
    """The scopes of `sufficient_scopes` for an endpoint where any one of several scopes is enough.

    The old scope `follow` is enough only where it is named: not, for instance, to read relationships.
    """
    return frozenset().union(*(sufficient_scopes(scope) for scope in scopes)) - ({"follow"} - set(scopes))


def parse(text: str) -> tuple[str, ...]:
    """Scopes from a request: separated by spaces or plus signs, each once, in their order (clients.md, trap 4)."""
    return tuple(dict.fromkeys(text.replace("+", " ").split()))


def unknown(scopes: Iterable[str]) -> list[str]:
    """The scopes among `scopes` that do not exist here."""
    return [scope for scope in scopes if scope not in SCOPES]


def covers(granted: Iterable[str], wanted: Iterable[str]) -> bool:
    """Tell whether every wanted scope is granted, by itself or by a parent: what is authorised may be less, never more."""
    held = frozenset(granted)
    return all(sufficient_scopes(scope) & held for scope in wanted)
