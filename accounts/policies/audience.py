"""Rule that decides which accounts a surface (a timeline, a list, a page) shows to a viewer, as a predicate and as SQL.

The options of `People` are the conditions of a surface (contract, behaviours sections 7, 11, 14 to 16 and 18).
`statuses.policies.audience` declares the surfaces of posts.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.db.models import Q

from accounts.policies.relations import (
    BLOCKED_BY_VIEWER,
    BLOCKERS_OF_VIEWER,
    DOMAINS_BLOCKED_BY_VIEWER,
    FOLLOWED,
    MUTED_BY_VIEWER,
    Relations,
)

VIEWER_SETS: Final = f"""
  hidden (id) AS MATERIALIZED ({BLOCKED_BY_VIEWER} UNION {MUTED_BY_VIEWER}),
  blockers (id) AS MATERIALIZED ({BLOCKERS_OF_VIEWER}),
  blocked_domains (domain) AS MATERIALIZED ({DOMAINS_BLOCKED_BY_VIEWER})
"""
"""Common table expressions that `People.sql` reads for a local viewer; they come first in the WITH clause."""


class Limited(Enum):
    """Viewers to whom a surface shows limited ("silenced") accounts."""

    ANYBODY = 1
    FOLLOWERS = 2
    NOBODY = 3


@dataclass(frozen=True, slots=True)
class People:
    """Rule for a surface's accounts. Suspended accounts, and accounts that block the viewer or the viewer's server, are never
    shown.

    `hidden` leaves out accounts that the viewer blocks or mutes, `servers` leaves out accounts of servers that the viewer
    blocks. `limited` says which viewers see limited accounts. Viewers always see themselves, unless suspended.
    """

    hidden: bool = False
    servers: bool = False
    limited: Limited = Limited.ANYBODY

    def shows(
        self, account_id: int, relations: Relations, is_suspended: bool = False, is_limited: bool = False
    ) -> bool:
        """Tell whether the account is shown to the viewer of `relations`, which must contain the account."""
        if is_suspended or (is_limited and self.limited is Limited.NOBODY):
            return False
        if account_id == relations.viewer_id:
            return True
        # The code of `is_blocked_by`, inlined because this runs four times for each post on a page.
        if account_id in relations.blocked_by or account_id in relations.domain_blocked_by:
            return False
        if self.hidden and (account_id in relations.blocking or account_id in relations.muting):
            return False
        if self.servers and account_id in relations.domain_blocking:
            return False
        return not is_limited or self.limited is Limited.ANYBODY or account_id in relations.following

    def sql(self, author: str, *, has_viewer: bool = True, joined: str | None = None) -> str:
        """Return `shows` as an SQL condition; with a viewer the statement needs VIEWER_SETS.

        `author` is an expression for the account's id. `joined` is the alias of the account's row if the statement joins
        accounts_account. Otherwise a scalar subquery reads the row, because a join would make the planner sort all posts.
        """
        row = joined or "a"
        of_row = [f"{row}.suspended_at IS NULL"]
        of_id = []
        if self.limited is Limited.NOBODY or (self.limited is Limited.FOLLOWERS and not has_viewer):
            of_row.append(f"{row}.limited_at IS NULL")
        elif self.limited is Limited.FOLLOWERS:
            followed = FOLLOWED.format(author=f"{row}.id")
            of_row.append(f"({row}.limited_at IS NULL OR {row}.id = %(viewer)s OR {followed})")
        if has_viewer:
            of_id.append(f"{author} NOT IN (SELECT id FROM blockers)")  # noqa: S608 (constants)
            if self.hidden:
                of_id.append(f"{author} NOT IN (SELECT id FROM hidden)")  # noqa: S608 (constants)
            if self.servers:
                elsewhere = f"{row}.domain NOT IN (SELECT domain FROM blocked_domains)"  # noqa: S608 (constants)
                of_row.append(f"({row}.domain IS NULL OR {elsewhere})")
        of_rows = " AND ".join(of_row)
        if joined is None:
            of_rows = f"(SELECT {of_rows} FROM accounts_account {row} WHERE {row}.id = {author})"  # noqa: S608 (constants)
        return " AND ".join([*of_id, of_rows])


PRESENT: Final = People()
"""Accounts whose posts may be read at all: not suspended, and not blocking the viewer."""

UNHIDDEN: Final = People(hidden=True, servers=True)
"""Accounts of PRESENT that the viewer neither blocks nor mutes, and whose server the viewer does not block."""


def is_present(path: str = "") -> Q:
    """Return a condition that is true for accounts that are not suspended; `path` is the lookup that leads to the account."""
    return Q(**{f"{path}__suspended_at" if path else "suspended_at": None})
