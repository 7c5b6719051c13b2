"""Who may like and boost what they can read (contract, behaviours section 7)."""

from __future__ import annotations

from typing import Protocol

from accounts.models import Account
from accounts.policies.relations import Relations
from statuses.policies.visibility import FOR_ANYBODY, is_for_followers_only


class Post(Protocol):
    """What these rules look at: a `Status`, or a `Row`."""

    @property
    def id(self) -> int:
        """Its id."""
        ...

    @property
    def account_id(self) -> int:
        """The author."""
        ...

    @property
    def local(self) -> bool:
        """Whether it was written here."""
        ...

    @property
    def visibility(self) -> str:
        """One of `Visibility`."""
        ...

    @property
    def original(self) -> Post | None:
        """The boosted post."""
        ...


def may_favourite(status: Post, relations: Relations) -> bool:
    """Whether a reader may like the post: not one who blocks its author."""
    return status.account_id not in relations.blocking


def may_reblog(account: Account, status: Post, relations: Relations) -> bool:
    """Whether a reader may boost the post: a private one only its author, others whoever does not block the author."""
    if is_for_followers_only(status.visibility):
        return status.account_id == account.id
    return status.visibility in FOR_ANYBODY and status.account_id not in relations.blocking
