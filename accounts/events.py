"""Events of accounts that other apps may subscribe to."""

from __future__ import annotations

from social.kernel.events import Event


class AccountCreated(Event, key="account:{account_id}"):
    """An account was signed up; it may still be unconfirmed or unapproved."""

    account_id: int


class AccountDeleted(Event, key="account:{account_id}"):
    """An account, of this server (`local`) or of another one, is at its end: nothing of it is shown any more."""

    account_id: int
    local: bool


class AccountSuspended(Event, key="account:{account_id}"):
    """Staff have suspended an account. `severance_type` and `cause` say under what the follows that end are kept."""

    account_id: int
    local: bool
    severance_type: str
    cause: str


class FollowsSevered(Event, key="severance:{cause}"):
    """An act has ended all follows that it ends; they are kept under the severance with this `cause`, if there were any."""

    cause: str


class AccountUnsuspended(Event, key="account:{account_id}"):
    """Staff have undone the suspension of an account."""

    account_id: int


class AccountMoved(Event, key="account:{account_id}"):
    """An account, of this server (`local`) or of another one, has moved to another one, which says that it is the same
    person's.
    """

    account_id: int
    target_id: int
    local: bool = True


class CarryOverDue(Event, key="account:{account_id}"):
    """The relations of people here to an account that has moved are to be carried over to the new one: `what`, from
    `after`.
    """

    account_id: int
    target_id: int
    what: str
    after: int = 0


class FollowsToRenew(Event, key="account:{account_id}"):
    """The keys of an account of another server have changed without an announcement: its server may have lost its followers.
    The Follows of people here, of accounts with an id above `after`, are to be sent again.
    """

    account_id: int
    after: int = 0


class AccountErasureDue(Event, key="account:{account_id}"):
    """The rest of a deleted account is to be removed, step by step."""

    account_id: int


class ConfirmationRequested(Event, key="user:{user_id}"):
    """A confirmation mail is due, whose link leads on to `return_to`, a path of ours."""

    user_id: int
    return_to: str = ""


class EmailChangeRequested(Event, key="user:{user_id}"):
    """A mail is due with a link that makes a new e-mail address the user's own."""

    user_id: int


class EmailChanged(Event, key="user:{user_id}"):
    """A user has another e-mail address now; the old one, which no row holds any more, is to get a mail about it."""

    user_id: int
    old_email: str
    address: str


class PasswordResetRequested(Event, key="user:{user_id}"):
    """A mail with a link to a new password is due."""

    user_id: int


class SecurityChanged(Event, key="user:{user_id}"):
    """An event that concerns the safety of a user's account has happened, from this network address."""

    user_id: int
    kind: str
    address: str


class UserApproved(Event, key="user:{user_id}"):
    """Staff have let in somebody who was waiting."""

    user_id: int


class UserWaiting(Event, key="user:{user_id}"):
    """A person has confirmed their address and waits for staff to let them in. Published once."""

    user_id: int


class UserActivated(Event, key="user:{user_id}"):
    """A person can use their account from now on: confirmed, and approved where that is asked. Published once."""

    user_id: int
    invited: bool = False


class AccountUnlocked(Event, key="account:{account_id}"):
    """An account has been unlocked, and more requests to follow it wait than are accepted in one step."""

    account_id: int


class ProfileUpdated(Event, key="account:{account_id}"):
    """An account's public face has changed."""

    account_id: int


class FeaturedTagChanged(Event, key="account:{account_id}"):
    """An account shows a hashtag on its profile from now on, or no more."""

    account_id: int
    tag_id: int
    local: bool


class ProfileLinksChanged(Event, key="account:{account_id}"):
    """A local account shows links now that are not verified."""

    account_id: int


class AccountRenamed(Event, key="account:{account_id}"):
    """An account's name or address has changed, which posts that mention it show."""

    account_id: int


class AccountFollowed(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` follows `target_id` from now on."""

    account_id: int
    target_id: int
    follow_id: int


class FollowChanged(Event, key="pair:{account_id}:{target_id}"):
    """The follow of `target_id` by `account_id` has other options now: boosts, languages, notifications of posts."""

    account_id: int
    target_id: int
    follow_id: int


class FollowRequested(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has asked to follow `target_id`."""

    account_id: int
    target_id: int
    request_id: int


class AccountUnfollowed(Event, key="pair:{account_id}:{target_id}"):
    """The follow of `target_id` by `account_id`, or its request, has ended.

    `uri` is its ActivityPub id, as far as it had one; `ended_by_id` which of the two ended it (the row is gone, so the
    event carries what the other server must receive).
    """

    account_id: int
    target_id: int
    follow_id: int
    uri: str | None = None
    ended_by_id: int | None = None


class AccountBlocked(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has blocked `target_id`; follows both ways are gone already. `uri` is the id of the Block: None between
    accounts of this server, and for one that was sent before ids were kept, which has `block_id` in its id.
    """

    account_id: int
    target_id: int
    block_id: int
    uri: str | None = None


class AccountUnblocked(Event, key="pair:{account_id}:{target_id}"):
    """The block of `target_id` by `account_id` has ended; its members are those of AccountBlocked."""

    account_id: int
    target_id: int
    block_id: int
    uri: str | None = None


class AccountMuted(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has muted `target_id`."""

    account_id: int
    target_id: int


class AccountUnmuted(Event, key="pair:{account_id}:{target_id}"):
    """The mute of `target_id` by `account_id` has ended."""

    account_id: int
    target_id: int


class DomainBlocked(Event, key="account_domain:{account_id}:{domain}"):
    """`account_id` has blocked the people of a server; their follows both ways end in the background."""

    account_id: int
    domain: str
    block_id: int


class DomainUnblocked(Event, key="account_domain:{account_id}:{domain}"):
    """The block of a server by `account_id` has ended; what it ended stays so."""

    account_id: int
    domain: str


class TagFollowed(Event, key="account_tag:{account_id}:{tag_id}"):
    """`account_id` follows a hashtag from now on."""

    account_id: int
    tag_id: int


class TagUnfollowed(Event, key="account_tag:{account_id}:{tag_id}"):
    """`account_id` follows a hashtag no more."""

    account_id: int
    tag_id: int


class CollectionItemAdded(Event, key="collection:{collection_id}"):
    """An account was put into a collection; it may still have to agree. `at_creation`: the collection was made with it."""

    collection_id: int
    item_id: int
    at_creation: bool = False


class CollectionItemRemoved(Event, key="collection:{collection_id}"):
    """`account_id` is in a collection no more: its owner has taken it out, or it has `left`. `item_id` is 0 in rows of
    earlier releases.
    """

    collection_id: int
    account_id: int
    item_id: int = 0
    left: bool = False


class CollectionChanged(Event, key="collection:{collection_id}"):
    """A collection says something else; `renamed`: its name or its description."""

    collection_id: int
    renamed: bool = True


class CollectionListed(Event, key="collection:{collection_id}"):
    """A collection stands in the list that `account_id` shows to everybody from now on, or no more."""

    collection_id: int
    account_id: int


class ImportDue(Event, key="import:{import_id}"):
    """Lines of a file that somebody has brought along are to be worked off."""

    import_id: int


class ArchiveDue(Event, key="archive:{archive_id}"):
    """An archive that somebody has asked for is to be written, or written on."""

    archive_id: int


class ArchiveReady(Event, key="archive:{archive_id}"):
    """An archive can be fetched."""

    archive_id: int


class TokenRevoked(Event, key="token:{token_id}"):
    """An access token is no longer valid. Its checksum is what caches know it by."""

    token_id: int
    token_checksum: str


class UserStateChanged(Event, key="user:{user_id}"):
    """A user was disabled, enabled, approved, confirmed or given another role."""

    user_id: int


class EncryptedMessageStored(Event, key="encrypted_message:{message_id}"):
    """An encrypted message waits for a device of this server."""

    message_id: int


class RemoteCopyRequested(Event):
    """Wake-up for the copying of other servers' files; several of them do no more than one."""


class RemoteCopyStored(Event):
    """An attachment of another server was copied, and measured; or it was found that it cannot be shown."""

    copy_id: int


class SpamRuleMet(Event, key="account:{account_id}"):
    """A post (`status_id`) or sign-up of an account met a rule against spam, which has limited the account (`limited`) or
    has it reported.
    """

    rule_id: int
    account_id: int
    limited: bool
    status_id: int | None = None


class FileReleased(Event):
    """Staff have released a file that was in quarantine, and every other one with its digest."""

    file_id: int
