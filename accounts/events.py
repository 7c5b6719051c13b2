"""Knows what happens to accounts that other apps subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class AccountCreated(Event):
    """Somebody has signed up; the account may still be unconfirmed or unapproved."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class ConfirmationRequested(Event):
    """A confirmation mail is due."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class PasswordResetRequested(Event):
    """A mail with a link to a new password is due."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class SecurityChanged(Event):
    """Something that concerns the safety of a user's account has happened, from this network address."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int
    kind: str
    address: str


@dataclass(frozen=True)
class UserApproved(Event):
    """Staff have let in somebody who was waiting."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class UserActivated(Event):
    """Somebody can use their account from now on: confirmed, and approved where that is asked. Announced once."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int
    invited: bool = False


@dataclass(frozen=True)
class AccountUnlocked(Event):
    """An account has been unlocked, and more requests to follow it wait than are accepted in one step."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class ProfileUpdated(Event):
    """An account's public face has changed."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class ProfileLinksChanged(Event):
    """A local account shows links now that are not verified."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class AccountRenamed(Event):
    """An account's name or address has changed, which posts that mention it show."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class AccountFollowed(Event):
    """`account_id` follows `target_id` from now on."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    follow_id: int


@dataclass(frozen=True)
class FollowChanged(Event):
    """The follow of `target_id` by `account_id` has other options now: boosts, languages, being told of posts."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    follow_id: int


@dataclass(frozen=True)
class FollowRequested(Event):
    """`account_id` has asked to follow `target_id`."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    request_id: int


@dataclass(frozen=True)
class AccountUnfollowed(Event):
    """The follow of `target_id` by `account_id`, or its request, has ended.

    `uri` is its ActivityPub id, as far as it had one; `ended_by_id` which of the two ended it (the row is gone, so the
    event carries what the other server must be told).
    """

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    follow_id: int
    uri: str | None = None
    ended_by_id: int | None = None


@dataclass(frozen=True)
class AccountBlocked(Event):
    """`account_id` has blocked `target_id`; follows both ways are gone already."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    block_id: int


@dataclass(frozen=True)
class AccountUnblocked(Event):
    """The block of `target_id` by `account_id` has ended."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int
    block_id: int


@dataclass(frozen=True)
class AccountMuted(Event):
    """`account_id` has muted `target_id`."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int


@dataclass(frozen=True)
class AccountUnmuted(Event):
    """The mute of `target_id` by `account_id` has ended."""

    key: ClassVar[str] = "pair:{account_id}:{target_id}"
    account_id: int
    target_id: int


@dataclass(frozen=True)
class DomainBlocked(Event):
    """`account_id` has blocked the people of a server; their follows both ways end in the background."""

    key: ClassVar[str] = "account_domain:{account_id}:{domain}"
    account_id: int
    domain: str
    block_id: int


@dataclass(frozen=True)
class DomainUnblocked(Event):
    """The block of a server by `account_id` has ended; what it ended stays so."""

    key: ClassVar[str] = "account_domain:{account_id}:{domain}"
    account_id: int
    domain: str


@dataclass(frozen=True)
class TokenRevoked(Event):
    """An access token is no longer valid. Its checksum is what caches know it by."""

    key: ClassVar[str] = "token:{token_id}"
    token_id: int
    token_checksum: str


@dataclass(frozen=True)
class UserStateChanged(Event):
    """A user was disabled, enabled, approved, confirmed or given another role."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class EncryptedMessageStored(Event):
    """An encrypted message waits for a device of this server."""

    key: ClassVar[str] = "encrypted_message:{message_id}"
    message_id: int
