"""Identities of tokens, in a form small enough for Redis, and the port that finds them."""

from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from social.kernel.ports import Port

_CONFIRMED, _APPROVED, _DISABLED, _SUSPENDED, _MOVED = (1 << bit for bit in range(5))


@dataclass(frozen=True, slots=True)
class Identity:
    """Facts about a valid token. Without `user_id` the token is an application's own (client credentials).

    Every endpoint that reads the token refuses `suspended` users; endpoints that need a user also refuse `disabled`, `moved`,
    unconfirmed and unapproved users (contract, behaviours section 3). `locale` is the user's language for messages, or "".
    """

    token_id: int
    application_id: int | None
    scopes: frozenset[str]
    user_id: int | None = None
    account_id: int | None = None
    confirmed: bool = True
    approved: bool = True
    disabled: bool = False
    suspended: bool = False
    moved: bool = False
    locale: str = ""


class TokenSource(Protocol):
    """The port to the app that stores tokens."""

    def find_identity(self, token: str) -> Identity | None:
        """Return the identity of a token, from the database (one query); None for an unknown or revoked one. May raise
        `errors.Unauthorized` with a specific message ("The access token was revoked").
        """
        ...


source: Final[Port[TokenSource]] = Port("social.api.identities.source")


def find_in_database(token: str) -> Identity | None:
    """Return the identity of a token, from the plugged-in source; None if no source is plugged in."""
    found = source.find()
    return None if found is None else found.find_identity(token)


def encode(identity: Identity) -> bytes:
    """Encode an identity: `token:user:account:` for the script in `social.api.admission` (`user` and `account` may be empty),
    followed by JSON.
    """
    flags = (
        identity.confirmed * _CONFIRMED
        | identity.approved * _APPROVED
        | identity.disabled * _DISABLED
        | identity.suspended * _SUSPENDED
        | identity.moved * _MOVED
    )
    head = f"{identity.token_id}:{identity.user_id or ''}:{identity.account_id or ''}:"
    return head.encode() + orjson.dumps([identity.application_id, sorted(identity.scopes), flags, identity.locale])


def decode(blob: bytes) -> Identity:
    """Decode an identity encoded by `encode`. Raises ValueError for any other bytes."""
    token, user, account, rest = blob.split(b":", 3)
    application_id, scopes, flags, locale = orjson.loads(rest)
    return Identity(
        token_id=int(token),
        application_id=application_id,
        scopes=frozenset(scopes),
        user_id=int(user) if user else None,
        account_id=int(account) if account else None,
        confirmed=bool(flags & _CONFIRMED),
        approved=bool(flags & _APPROVED),
        disabled=bool(flags & _DISABLED),
        suspended=bool(flags & _SUSPENDED),
        moved=bool(flags & _MOVED),
        locale=locale,
    )
