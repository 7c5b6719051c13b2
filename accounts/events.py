"""Events of accounts that other apps may subscribe to."""

from social.kernel.events import Event


class AccountCreated(Event, key="account:{account_id}"):
    """A person has signed up; their account may still be unconfirmed or unapproved."""

    account_id: int


class AccountDeleted(Event, key="account:{account_id}"):
    """A local (`local`) or remote account was deleted and is no longer shown."""

    account_id: int
    local: bool


class AccountSuspended(Event, key="account:{account_id}"):
    """Staff have suspended an account; the follows that end because of this are stored under `severance_type` and `cause`."""

    account_id: int
    local: bool
    severance_type: str
    cause: str


class FollowsSevered(Event, key="severance:{cause}"):
    """A block or suspension has ended all the follows that it had to end; these follows, if any, are stored under `cause`."""

    cause: str


class AccountUnsuspended(Event, key="account:{account_id}"):
    """Staff have undone the suspension of an account."""

    account_id: int


class AccountSanctioned(Event, key="account:{account_id}"):
    """Staff have limited an account, put it on hold or marked its media as sensitive, or have undone one of these actions.
    Suspensions publish ProfileUpdated instead.
    """

    account_id: int


class AccountMoved(Event, key="account:{account_id}"):
    """A local (`local`) or remote account has moved to another account, which names the old one as an alias."""

    account_id: int
    target_id: int
    local: bool = True


class CarryOverDue(Event, key="account:{account_id}"):
    """Local accounts' relations of the kind `what` to an account that has moved are to be transferred to its new account,
    starting after the row with the id `after`.
    """

    account_id: int
    target_id: int
    what: str
    after: int = 0


class FollowsToRenew(Event, key="account:{account_id}"):
    """A remote account has replaced all its keys, and no known key has signed the change; its server may therefore have lost
    its followers. The Follow activities of local accounts with an id above `after` are to be sent again.
    """

    account_id: int
    after: int = 0


class AccountErasureDue(Event, key="account:{account_id}"):
    """The remaining data of a deleted account is to be removed, step by step."""

    account_id: int


class ConfirmationRequested(Event, key="user:{user_id}"):
    """A confirmation mail must be sent; its link redirects to `return_to`, a local path."""

    user_id: int
    return_to: str = ""


class EmailChangeRequested(Event, key="user:{user_id}"):
    """A mail must be sent with the link that confirms a user's new e-mail address."""

    user_id: int


class EmailChanged(Event, key="user:{user_id}"):
    """A user's e-mail address has changed; a mail about this must be sent to the old address, which is stored only here."""

    user_id: int
    old_email: str
    address: str


class PasswordResetRequested(Event, key="user:{user_id}"):
    """A mail must be sent with a link for setting a new password."""

    user_id: int


class SecurityChanged(Event, key="user:{user_id}"):
    """A security event (`kind`) has happened to a user's account, caused by a request from the IP address `address`."""

    user_id: int
    kind: str
    address: str


class UserApproved(Event, key="user:{user_id}"):
    """Staff have approved a user."""

    user_id: int


class UserWaiting(Event, key="user:{user_id}"):
    """A user has confirmed their e-mail address and is waiting for approval. Published once per user."""

    user_id: int


class UserActivated(Event, key="user:{user_id}"):
    """A user can use their account from now on: they are confirmed and approved. Published once per user."""

    user_id: int
    invited: bool = False


class AccountUnlocked(Event, key="account:{account_id}"):
    """An account has been unlocked, and has more follow requests than can be accepted in one step."""

    account_id: int


class ProfileUpdated(Event, key="account:{account_id}"):
    """An account's public profile has changed."""

    account_id: int


class FeaturedTagChanged(Event, key="account:{account_id}"):
    """An account has begun or ceased to feature a hashtag on its profile."""

    account_id: int
    tag_id: int
    local: bool


class ProfileLinksChanged(Event, key="account:{account_id}"):
    """The profile of a local account has links that have not been verified yet."""

    account_id: int


class AccountRenamed(Event, key="account:{account_id}"):
    """The name or address of an account has changed. Posts that mention the account show its name and its address."""

    account_id: int


class AccountFollowed(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has begun to follow `target_id`."""

    account_id: int
    target_id: int
    follow_id: int


class FollowChanged(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has changed which posts of `target_id` it follows (boosts, languages), or whether it is notified of them."""

    account_id: int
    target_id: int
    follow_id: int


class FollowRequested(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has asked to follow `target_id`."""

    account_id: int
    target_id: int
    request_id: int


class AccountUnfollowed(Event, key="pair:{account_id}:{target_id}"):
    """The account `ended_by_id` has ended a follow or a follow request, whose ActivityPub id was `uri` (None: no id)."""

    account_id: int
    target_id: int
    follow_id: int
    uri: str | None = None
    ended_by_id: int | None = None


class AccountBlocked(Event, key="pair:{account_id}:{target_id}"):
    """`account_id` has blocked `target_id`; follows in both directions have ended.

    `uri` is the id of the Block activity. `uri` is None between local accounts, and for a block stored by an earlier release,
    which built the id from `block_id`.
    """

    account_id: int
    target_id: int
    block_id: int
    uri: str | None = None


class AccountUnblocked(Event, key="pair:{account_id}:{target_id}"):
    """The block of `target_id` by `account_id` has ended; the fields are those of AccountBlocked."""

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
    """`account_id` has blocked a server; follows in both directions end in the background."""

    account_id: int
    domain: str
    block_id: int


class DomainUnblocked(Event, key="account_domain:{account_id}:{domain}"):
    """The block of a server by `account_id` has ended; the follows that it ended do not return."""

    account_id: int
    domain: str


class TagFollowed(Event, key="account_tag:{account_id}:{tag_id}"):
    """`account_id` has begun to follow a hashtag."""

    account_id: int
    tag_id: int


class TagUnfollowed(Event, key="account_tag:{account_id}:{tag_id}"):
    """`account_id` has unfollowed a hashtag."""

    account_id: int
    tag_id: int


class CollectionItemAdded(Event, key="collection:{collection_id}"):
    """An account, which may still have to consent, was added to a collection. `at_creation`: the collection was created with
    this account in it.
    """

    collection_id: int
    item_id: int
    at_creation: bool = False


class CollectionItemRemoved(Event, key="collection:{collection_id}"):
    """`account_id` was removed from a collection, or has left the collection (`left`). `item_id` is 0 in events from earlier
    releases.
    """

    collection_id: int
    account_id: int
    item_id: int = 0
    left: bool = False


class CollectionChanged(Event, key="collection:{collection_id}"):
    """A collection has changed; `renamed`: its name or its description has changed."""

    collection_id: int
    renamed: bool = True


class CollectionListed(Event, key="collection:{collection_id}"):
    """A collection was added to, or removed from, the list that `account_id` shows to everybody."""

    collection_id: int
    account_id: int


class ImportDue(Event, key="import:{import_id}"):
    """Lines of an imported file are to be processed."""

    import_id: int


class PastImportDue(Event, key="past:{import_id}"):
    """The next step of importing a person's own posts from an archive, or of undoing the import, is due."""

    import_id: int


class ArchiveDue(Event, key="archive:{archive_id}"):
    """A requested archive is to be written, or continued."""

    archive_id: int


class ArchiveReady(Event, key="archive:{archive_id}"):
    """An archive is ready to be downloaded."""

    archive_id: int


class TokenRevoked(Event, key="token:{token_id}"):
    """An access token is no longer valid. Caches identify the token by its checksum."""

    token_id: int
    token_checksum: str


class UserStateChanged(Event, key="user:{user_id}"):
    """A user was disabled, enabled, approved, confirmed or given another role."""

    user_id: int


class EncryptedMessageStored(Event, key="encrypted_message:{message_id}"):
    """An encrypted message is waiting for a device of a local account."""

    message_id: int


class RemoteCopyRequested(Event):
    """Copies of remote files were requested. The event wakes the worker that fetches the files."""


class RemoteCopyStored(Event):
    """An attachment of another server was copied and measured, or cannot be shown."""

    copy_id: int


class SpamRuleMet(Event, key="account:{account_id}"):
    """An account's post (`status_id`) or sign-up has matched a rule. Either the rule has limited the account
    (`limited`), or a report is to be created.
    """

    rule_id: int
    account_id: int
    limited: bool
    status_id: int | None = None


class FileReleased(Event):
    """Staff have released a file from quarantine, and every other file with the same digest."""

    file_id: int
