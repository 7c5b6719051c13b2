"""The tree of OAuth scopes, and the scopes that are sufficient for an endpoint (contract, behaviours section 5)."""

from collections.abc import Iterable
from functools import cache

_THINGS = (
    "accounts", "blocks", "bookmarks", "collections", "favourites", "filters", "follows", "lists", "mutes",
    "notifications", "statuses",
)  # fmt: skip
_STAFF_THINGS = (
    "accounts", "reports", "domain_allows", "domain_blocks", "ip_blocks", "email_domain_blocks",
    "canonical_email_blocks",
)  # fmt: skip
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
"""The child scopes that each parent scope grants. `read` and `write` grant neither `admin:*` nor `crypto`."""

SCOPES: tuple[str, ...] = tuple(
    dict.fromkeys(scope for parent, children in CHILDREN.items() for scope in (parent, *children))
)
"""Scopes that this server supports, parents before their children."""

DEFAULT = "read"  # scopes of an application that requests none


@cache
def sufficient_scopes(scope: str) -> frozenset[str]:
    """Return the scopes that satisfy a requirement of `scope`: `scope` itself and its parents. A token needs one of them."""
    return frozenset({scope, *(parent for parent, children in CHILDREN.items() if scope in children)})


@cache
def sufficient_for_any(scopes: tuple[str, ...]) -> frozenset[str]:
    """Return the scopes that satisfy a requirement of any one of `scopes`: a token needs one of them.

    The old scope `follow` is sufficient only if it is among `scopes`: it does not allow reading relationships, for example.
    """
    return frozenset().union(*(sufficient_scopes(scope) for scope in scopes)) - ({"follow"} - set(scopes))


def parse(text: str) -> tuple[str, ...]:
    """Return the scopes in a text, separated by spaces or plus signs, in order and without repetitions (clients.md, trap 4)."""
    return tuple(dict.fromkeys(text.replace("+", " ").split()))


def unknown(scopes: Iterable[str]) -> list[str]:
    """Return the members of `scopes` that do not exist."""
    return [scope for scope in scopes if scope not in SCOPES]


def covers(granted: Iterable[str], wanted: Iterable[str]) -> bool:
    """Tell whether every wanted scope, or its parent, is among the `granted` scopes."""
    held = frozenset(granted)
    return all(sufficient_scopes(scope) & held for scope in wanted)
