"""Events of accounts that other apps may subscribe to."""

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
class AccountDeleted(Event):
    """An account, of this server (`local`) or of another one, is at its end: nothing of it is shown any more."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int
    local: bool


@dataclass(frozen=True)
class AccountSuspended(Event):
    """Staff have suspended an account. `severance_type` and `cause` say under what the follows that end are kept."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int
    local: bool
    severance_type: str
    cause: str


@dataclass(frozen=True)
class AccountUnsuspended(Event):
    """Staff have undone the suspension of an account."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class AccountMoved(Event):
    """An account has moved to another one, which says that it is the same person's."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int
    target_id: int


@dataclass(frozen=True)
class CarryOverDue(Event):
    """What people here have to do with an account that has moved is to be carried over to the new one: `what`, from `after`."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int
    target_id: int
    what: str
    after: int = 0


@dataclass(frozen=True)
class AccountErasureDue(Event):
    """What is left of a deleted account is to be removed, step by step."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class ConfirmationRequested(Event):
    """A confirmation mail is due, whose link leads on to `return_to`, a path of ours."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int
    return_to: str = ""


@dataclass(frozen=True)
class EmailChangeRequested(Event):
    """A mail is due with a link that makes a new e-mail address the user's own."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class EmailChanged(Event):
    """A user has another e-mail address now; the old one, which no row holds any more, is to get a mail about it."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int
    old_email: str
    address: str


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
class UserWaiting(Event):
    """Somebody has confirmed their address and waits for staff to let them in. Published once."""

    key: ClassVar[str] = "user:{user_id}"
    user_id: int


@dataclass(frozen=True)
class UserActivated(Event):
    """Somebody can use their account from now on: confirmed, and approved where that is asked. Published once."""

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
    """The follow of `target_id` by `account_id` has other options now: boosts, languages, notifications of posts."""

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
    event carries what the other server must receive).
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
class TagFollowed(Event):
    """`account_id` follows a hashtag from now on."""

    key: ClassVar[str] = "account_tag:{account_id}:{tag_id}"
    account_id: int
    tag_id: int


@dataclass(frozen=True)
class TagUnfollowed(Event):
    """`account_id` follows a hashtag no more."""

    key: ClassVar[str] = "account_tag:{account_id}:{tag_id}"
    account_id: int
    tag_id: int


@dataclass(frozen=True)
class ImportDue(Event):
    """Lines of a file that somebody has brought along are to be worked off."""

    key: ClassVar[str] = "import:{import_id}"
    import_id: int


@dataclass(frozen=True)
class ArchiveDue(Event):
    """An archive that somebody has asked for is to be written, or written on."""

    key: ClassVar[str] = "archive:{archive_id}"
    archive_id: int


@dataclass(frozen=True)
class ArchiveReady(Event):
    """An archive can be fetched."""

    key: ClassVar[str] = "archive:{archive_id}"
    archive_id: int


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


@dataclass(frozen=True)
class RemoteCopyRequested(Event):
    """Somebody wants to see a file of another server. `row` names the server, and in which of its few rows the file waits."""

    key: ClassVar[str] = "file:{row}"
    copy_id: int
    row: str
