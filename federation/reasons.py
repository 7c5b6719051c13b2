"""Lists the reasons for which a document, or a part of it, is not accepted.

Each reason has a sentence, which is stored as the outcome of the activity; the source of the rule (a section of the contract, a
row of the security table, an RFC or FEP, or the behaviour of Mastodon); and software that is known to send such content. The
table in `docs/interop.md` is generated from this module.
"""

from social.kernel.reasons import Reason as KernelReason


class Reason(KernelReason):
    """Reasons to refuse a document from another server, or a part of it."""

    # JSON
    TOO_LARGE = "the document is too large", "contract 16: at most 1 MB, received or sent; security row 34"
    NO_JSON = "the document is not JSON", "contract 10: a body that is not JSON is refused", "HTML error pages"
    NO_JSON_OBJECT = "the document is not a JSON object", "contract 5: a document is an object"
    TOO_MANY_PARTS = "the document has too many parts", "security row 34: at most 1,000 items in a list"
    TOO_DEEP = "the document is nested too deeply", "security row 34: at most 32 levels"
    VALUE_TOO_LONG = "a value in it is too long", "security row 33: no column takes a longer value"

    REFUSED_BY_SERVICE = "a rule of this server refuses it", "the rules for local users also apply to remote ones"
    GIVEN_UP = "all attempts to process it have failed", "contract 11: 8 attempts"

    # Who acts
    OTHER_SIGNER = (
        "the actor is not the signer",
        "security row 8: a forwarded activity is only a hint to fetch the object from its origin",
        "relays, and servers that forward replies",
    )
    SIGNER_SUSPENDED = "the signer is suspended here", "contract 11: only Delete, Reject, Undo and Update are accepted"
    IGNORED_KIND = (
        "activities of this type are ignored",
        "contract 11: unknown types are answered with 202 and ignored, as in Mastodon",
        "View, Read, Listen (PeerTube, Funkwhale), EmojiReact (Pleroma family), Arrive (check-in services)",
    )
    OF_NOBODY_KNOWN = (
        "it is a Delete or Update by an actor that is unknown here",
        "contract 11, security row 44: no key is fetched for it",
        "every server that deletes accounts",
    )
    NO_ACTIVITY_ID = "the activity has no id on its actor's server", "security row 8: an id belongs to its origin"
    ABOUT_NOTHING = "the activity has no object", "contract 7: each activity has an object"
    ALREADY_UNDONE = "it was deleted", "contract 7: the id of an undone activity is remembered for 6 hours"
    ID_OF_SOMETHING_ELSE = "the id belongs to another object", "security row 8: an id names one object"
    CLOSED_TO_SERVER = (
        "this server does not federate with the document's server",
        "contract 11: blocked domains and, with limited federation, domains that are not allowed",
    )

    # Actors
    ACTOR_WITHOUT_ID = "the actor has no id", "ActivityPub section 3.1"
    NO_ACTOR = "the document is not an actor", "contract 4: Person, Group, Organization, Service, Application"
    ACTOR_WITHOUT_INBOX = (
        "the actor has no inbox on another server",
        "ActivityPub section 4.1: an actor has an inbox; security row 5: the inbox is not on this server",
    )
    ACTOR_WITHOUT_NAME = (
        "the actor has no username that can be typed here",
        "security row 62: usernames match the pattern of the client API, which is ASCII",
        "WordPress sites with Unicode author names",
    )
    ACTOR_OF_OURS = "the actor's id is on this server", "security row 5: only this server speaks for its accounts"
    ACTOR_WITHOUT_ADDRESS = "the actor has no address on another server", "security row 14: confirmed by WebFinger"
    OTHER_NAME_THAN_ADDRESS = (
        "the actor's username differs from that in its address",
        "security row 14: address and actor must name each other",
    )
    OTHER_ACTOR_AT_ADDRESS = (
        "the domain says that the address belongs to another actor",
        "security row 14: address and actor must name each other",
    )
    TAKEN_ID_OR_KEY = "the id, the address or the key belongs to another actor", "security rows 12 and 14"
    ACTOR_WITHOUT_KEY = "the actor has no key", "contract 10: signatures are required"
    KEY_WITHOUT_OWNER = "the key names no owner on its server", "security row 12: key and actor must name each other"
    KEY_NOT_LISTED = "the actor does not list the key", "security row 12: key and actor must name each other"
    LOOKED_AT_LATELY = "the account was fetched a moment ago", "contract 17: after a failure, one fetch a minute"
    OTHER_PROFILE = "an actor may update only its own profile", "security row 8"
    UNKNOWN_FORWARDED_PROFILE = "the forwarded profile is of an unknown account", "contract 11, security row 44"

    # WebFinger and software
    LEADS_TO_THIRD_DOMAIN = "WebFinger leads to a third address", "security row 14: at most one step"
    NO_SUBJECT = "the WebFinger document has no subject", "RFC 7033 section 4.4.1"
    SUBJECT_IS_NO_ADDRESS = "the subject of the WebFinger document is not an address", "RFC 7033, RFC 7565"
    ADDRESS_OF_OURS = "the address is on this server", "security row 5"
    ADDRESS_WITHOUT_ACTOR = (
        "the WebFinger document names no actor",
        "contract 14: a `self` link with an ActivityPub type",
    )
    OTHER_ADDRESS = "the account's server gives it another address", "security row 14"
    NO_PAGE_FOR_IT = "the server names no page to continue on", "contract 14: the template of `subscribe`"
    NO_SOFTWARE_DOCUMENT = "the server names no document about its software", "NodeInfo 2.0"
    NO_SOFTWARE_NAME = "the document names no software", "NodeInfo 2.0"
    SOFTWARE_REFUSED = "the server refuses to send the document about its software", "NodeInfo 2.0"

    # Fetched documents
    MISSING_DOCUMENT = "the document does not exist or may not be read", "contract 1: only status 200 is accepted"
    NO_DOCUMENT_ID = "the document has no id", "contract 1: a document's id equals its address"
    OTHER_ID = "the document's id differs from its address", "contract 1, security row 5"
    OTHER_SERVER_ANSWERED = (
        "the document belongs to another server than the one that answered",
        "security row 7: after redirects, the host that answered counts",
    )
    NO_OWN_COLLECTION = "the document is not a collection of the server that was asked", "security row 34"
    NO_ADDRESS = "the id is not a web address", "contract 5: ids are web addresses"
    TOO_MANY_REQUESTS = "fetching it takes too many requests", "security row 34: a limit for each fetched object"
    PAGE_OF_OTHER_SERVER = "a page of the collection is on another server", "security row 34: one host for all pages"
    TOO_MANY_PAGES = "the collection has too many pages", "contract 9: at most 10 pages"

    # Posts
    NOTE_WITHOUT_ID = "the post has no id", "contract 5: ids are web addresses"
    NO_NOTE = "the document is not a post", "contract 5: the types that are stored as posts"
    AUTHOR_OF_OTHER_SERVER = "the post and its author are on different servers", "security row 8"
    OTHER_AUTHOR = "the post is by another author", "security row 8"
    NOTE_OF_OTHER_SERVER = "the post is on another server than the actor", "security row 8"
    DELETED_NOTE = "the post was deleted", "contract 7: a deleted id is never used again"
    HELD_OR_DELETED_NOTE = "the post was deleted or is held for review", "held posts are not shown (docs/adr/0031)"
    SUSPENDED_AUTHOR = "the author is suspended", "contract 11, security row 13"
    CONCERNS_NOBODY = (
        "the post is not relevant to anybody here",
        "as in Mastodon: nobody here follows the author or is addressed, and it replies to no relevant post",
        "servers with many followers elsewhere, relays that are not subscribed to",
    )
    NO_SUCH_NOTE = "the post is unknown here", "contract 7: the activity must be about a known post"
    ONLY_OWN_UPDATED = "an actor may update only its own profile and posts", "security row 8"
    DELETE_BY_OTHER = "only the author may delete a private post", "security row 53"
    STILL_THERE = "another server says that the object was deleted, but its origin still has it", "security row 53"
    ANSWERS_NOTHING_KNOWN = "the post does not reply to a known post", "contract 13: a crawl begins at a known post"
    FORWARDED_ANSWERS_NOTHING = (
        "the forwarded post does not reply to a post that is relevant here",
        "contract 11: replies to local posts are forwarded",
    )
    TOO_MANY_AUTHORS = "the thread has too many authors", "contract 13: 400 actors for each crawl"
    UNDONE_BY_OTHER = "the undone activity is by another actor", "security row 8"
    THING_OF_OTHER_ACTOR = "the object belongs to another actor", "security row 8"

    # Polls
    NO_SUCH_POLL = "the poll is unknown here", "contract 7: a vote replies to a poll"
    NO_SUCH_OPTION = "the poll has no such option", "contract 7: votes are matched to options by name"
    VOTE_OF_OTHER = "the vote is by another actor", "security row 8"

    # Boosts and favourites
    CONCERNS_NOBODY_BOOST = (
        "the boost is not relevant to anybody here",
        "as in Mastodon: only boosts by followed accounts or of local posts are relevant",
    )
    BOOSTER_CANNOT_READ = "the booster may not read the post", "behaviours 7: boosts require read access"
    NOT_TO_BE_ANSWERED = "the author of the post does not allow this interaction", "docs/adr/0044 (GoToSocial)"
    PARENT_WAITS = "the parent post is itself a reply that awaits approval", "docs/adr/0044 (GoToSocial)"
    TOO_MANY_REQUESTS_WAIT = (
        "too many requests of its author are waiting for an answer",
        "docs/adr/0044 (GoToSocial): at most 50 to one account",
    )
    NOT_TO_BE_BOOSTED = "the post may not be boosted", "behaviours 7: not direct posts; private ones only by the author"
    PASSED_ON_IS_NO_NOTE = (
        "the boosted activity contains no post",
        "as in Mastodon: an Announce of an activity counts only if the activity has a post",
        "Lemmy, Mbin: Announce{Like}, Announce{Lock}",
    )
    TAKEN_ID_OF_LIKE = "the id of the favourite belongs to another favourite", "security row 8: an id names one object"
    TAKEN_ID_OF_BOOST = "the id of the boost belongs to another post", "security row 8: an id names one object"

    # Follows, blocks, moves
    NOT_OF_THIS_SERVER = "the account is not on this server", "contract 7: the activity must be about a local account"
    ANSWER_TO_NO_FOLLOW = (
        "the activity answers no Follow from this server",
        "security row 16: it must answer a sent Follow",
    )
    TAKEN_ID_OF_FOLLOW = "the id of the follow belongs to another follow", "security row 8: an id names one object"
    TAKEN_ID_OF_BLOCK = "the id of the block belongs to another block", "security row 8: an id names one object"
    MOVED_BY_OTHER = "an actor may move only itself", "contract 15, security row 8"
    MOVE_TO_NOWHERE = "the Move names no target", "contract 15: a Move names its target"
    MOVE_TO_ITSELF = "the target of the Move is the old account", "contract 15"
    MOVE_WITHOUT_CONSENT = "the new account's `alsoKnownAs` lacks the old one", "contract 15: both must name each other"

    # Reports
    REPORTS_NOT_TAKEN = "reports from its server are rejected", "contract 7: staff have chosen `reject_reports` for it"
    NOBODY_REPORTED = "the report names no local account or post", "contract 17: an account, a post or both"
    TOO_MANY_REPORTS = (
        "its server has sent too many reports in a day",
        "at most 400 a day, so that one server cannot bury the reports of others",
    )

    # Featured posts and collections of people
    NOT_THE_FEATURED = "the activity names no collection", "contract 7: Add and Remove"
    NO_ACCOUNT_IN_COLLECTION = "the object is not an item of the collection", "FEP-7aa9"
    COLLECTION_OF_OTHER_SERVER = "the collection is on another server", "security row 8"
    CONCERNS_NOBODY_COLLECTION = "the collection is not relevant to anybody here", "FEP-7aa9; as for posts"
    NO_SUCH_COLLECTION = "the actor has no such collection", "FEP-7aa9"
    COLLECTION_OF_OTHER = "the collection belongs to another account", "security row 8"
    COLLECTION_OF_NOBODY = "the collection belongs to no remote account", "security row 8"
    COLLECTION_WITHOUT_NAME = "the collection has no name", "FEP-7aa9, contract 16"
    NO_COLLECTION_OF_PEOPLE = "the document is not a collection of accounts", "FEP-7aa9"
    NO_COLLECTIONS_HERE = "no collections of this owner are stored here", "contract 11: suspended and local owners"
    TAKEN_ID_OF_COLLECTION = (
        "the id belongs to another collection, or the owner has too many collections",
        "contract 16: a limit for each owner",
    )
    NO_COLLECTION_OF_ACTOR = "the request names no collection of its actor", "FEP-7aa9"
    TAKEN_ID_OF_REQUEST = "the id of the request belongs to another request", "security row 8: an id names one object"
    ANSWER_OF_OTHER_ACCOUNT = "the answer is not by the featured account", "FEP-7aa9, security row 8"
    NO_AUTHORIZATION_NAMED = "the answer names no authorization on its actor's server", "FEP-044f, FEP-7aa9"
    NOBODY_AGREED = "the account has not agreed to be in the collection", "FEP-7aa9: accounts are shown after consent"
    AUTHORIZATION_ELSEWHERE = "the authorization is not on the featured account's server", "FEP-7aa9, security row 36"
    AUTHORIZATION_FOR_OTHER = "the authorization is for another collection or account", "FEP-7aa9, security row 36"

    # Quotes
    NOT_FOR_EVERYBODY = (
        "the post is local-only, or neither public nor unlisted",
        "contract 7: only public or unlisted posts qualify",
    )
    NO_POST_OF_ACTOR = "the request names no post of its actor", "FEP-044f, security row 36"
    NO_QUOTING_POST = "the request names no post of its actor that contains a quote", "FEP-044f, security row 36"
    NOT_AUTHORS_ANSWER = "the answer is not by the author of the post", "docs/adr/0044 (GoToSocial)"
    ANSWERS_OTHER = "the reply is by another actor, or to another post", "docs/adr/0044 (GoToSocial)"
    QUOTES_OTHER = "the post quotes another post", "FEP-044f, security row 36"
    ANSWER_OF_OTHER_AUTHOR = "the answer is not by the quoted author", "FEP-044f, security row 36"
    QUOTER_CANNOT_READ = "the quoting author may not read the quoted post", "behaviours 7: quotes require read access"
    QUOTE_AUTHORIZATION_ELSEWHERE = "the authorization is not on the server of the quoted author", "security row 36"
    QUOTE_AUTHORIZATION_FOR_OTHER = "the authorization is for another quote", "security row 36"

    # Followers synchronisation
    OTHER_DIGEST = "the list of followers does not match the digest", "FEP-8fcf: the list must have the digest"

    # Devices and encrypted messages
    NOT_TO_A_PERSON = "an encrypted message must be sent to the inbox of a person", "contract 7"
    FOR_SOMEBODY_ELSE = "the message is addressed to another account", "contract 7"
    MESSAGE_WITHOUT_DEVICES = "the message names no devices", "contract 7"
    MESSAGE_WITHOUT_TEXT = "the message has no type or no text", "contract 7"
    MESSAGE_WITHOUT_DIGEST = "the message has no digest of a supported kind", "contract 7"
    DEVICES_REFUSED = "the device's server refuses the request", "contract 7"

    # Signatures
    NOT_SIGNED = "Request not signed", "contract 10: required on inboxes, and on GETs in secure mode", "scanners"
    FOR_OTHER_SERVER = "the request is for another server", "security rows 11 and 54: Host and target must be ours"
    RECEIVED_BEFORE = "Request was received before", "security rows 11 and 59: a replay"
    KEY_ID_NO_ADDRESS = "the key's id is neither a web address nor an acct: address", "contract 10"
    KEY_OF_OURS = "the key's id is on this server", "security row 5"
    HEADER_TOO_LONG = "the signature header is too long", "security row 34"
    HEADER_UNREADABLE = "the signature header cannot be read", "RFC 7235: the grammar of parameters"
    NO_KEY_ID = "keyId and signature are required", "contract 10"
    OTHER_ALGORITHM = "only rsa-sha256 and hs2019 are accepted", "contract 10", "servers that sign with Ed25519 alone"
    TIME_UNSIGNED = "date or (created) must be signed", "contract 10, security row 11"
    TARGET_UNSIGNED = "host and (request-target) must be signed", "contract 10, security rows 11 and 54"
    BODY_UNSIGNED = "digest must be signed", "contract 10, security row 11"
    NOTHING_SIGNED = "digest or (request-target) must be signed", "contract 10"
    CREATED_MISSING = "(created) is signed but missing", "draft-cavage-http-signatures-12 section 2.3"
    CREATED_WITH_RSA = (
        "(created) and (expires) cannot be signed with rsa-sha256",
        "draft-cavage-http-signatures-12 section 2.3",
    )
    SIGNED_HEADER_MISSING = "a signed header is missing", "contract 10: each signed header must be present"
    TIME_UNREADABLE = "a time in the signature cannot be read", "contract 10"
    DATE_UNREADABLE = "the date cannot be read", "contract 10: dates in the format of RFC 9110 or RFC 3339"
    SIGNATURE_EXPIRED = (
        "the signature has expired",
        "contract 10: valid for 5 minutes, plus an hour of clock skew",
        "wrong clocks",
    )
    SIGNED_IN_THE_FUTURE = "the signature was made in the future", "contract 10: at most an hour", "wrong clocks"
    NO_SHA256_DIGEST = "the digest must use SHA-256", "contract 10"
    DIGEST_UNREADABLE = "the digest is not base64", "contract 10"
    OTHER_BODY = "the digest does not match the body", "contract 10, security row 11"
    SIGNATURE_UNREADABLE = "the signature is not base64", "contract 10"
    SIGNATURE_WRONG = "the signature does not match the key and the request", "contract 10"
    KEY_UNREADABLE = "the public key cannot be read", "contract 10: PEM"
    OTHER_KIND_OF_KEY = (
        "this server does not accept public keys of this kind",
        "contract 10: RSA",
        "servers that sign with Ed25519 alone",
    )
    CONTENT_DIGEST_UNREADABLE = "the content digest cannot be read", "contract 10: 400 for a malformed digest"
    HEADERS_TOO_LONG = "the signature headers are too long", "security row 34"
    HEADERS_UNREADABLE = "the signature headers cannot be read", "RFC 9421, RFC 8941"
    NO_KEY_ID_PARAMETER = "keyid is required", "contract 10"
    COMPONENTS_UNSIGNED = "@method and @target-uri must be signed", "contract 10"
    CONTENT_UNSIGNED = "content-digest must be signed", "contract 10"
    NO_SHA256_CONTENT = "the content digest must use SHA-256", "contract 10"
    OTHER_ALGORITHM_9421 = "only rsa-v1_5-sha256 is accepted", "contract 10"
    SERVER_PAUSED = "the signer's server did not answer a moment ago", "contract 10: a pause after a failed key fetch"

    # Parts of documents that are left out
    MENTION_WITHOUT_ADDRESS = "a mention names no account", "contract 5: mentions have the id of an account"
    TOO_MANY_MENTIONS = "the post has more mentions than are stored", "security row 33: a limit for each post"
    TAG_WITHOUT_NAME = "a hashtag has no name that can be typed here", "behaviours 8: the pattern of hashtags"
    TOO_MANY_TAGS = "the post has more hashtags than are stored", "security row 78: a limit for each post"
    ATTACHMENT_WITHOUT_ADDRESS = "a file has no web address", "contract 17: an object or an address, with a web URL"
    TOO_MANY_ATTACHMENTS = "the post has more files than are stored", "contract 5: a limit per post", "Pixelfed albums"
    TOO_MANY_OPTIONS = "the poll has more options than are stored", "contract 5: a limit for each poll"
    UNREADABLE_LANGUAGE = "a language is not a BCP 47 tag", "contract 17: the first known language counts"
    UNREADABLE_DATE = "a date cannot be read", "contract 17: the post is dated now, and counts as not edited"
    TOO_MANY_FIELDS = "the profile has more fields than are stored", "contract 16: at most 50"
    FIELD_WITHOUT_NAME = "a profile field has no name", "contract 4: PropertyValue with name and value"
    EMOJI_UNUSABLE = "a custom emoji has no usable name or picture", "contract 5: shortcode and icon"
    TOO_MANY_EMOJIS = "the document has more custom emojis than are stored", "security row 33: a limit per document"
    PLACE_UNUSABLE = (
        "an inbox or collection has no address on another server",
        "contract 17: any other server; security row 22: neither this server nor the public collection",
    )
    KEY_UNUSABLE = "a key is too long or belongs to another actor", "security row 12: key and actor name each other"
    TEXT_CUT = "a text is longer than the limit", "contract 16, security row 33"


class Refused(Exception):
    """Refusal of a document from another server for `reason`; `detail` may describe the case more precisely."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason.sentence)
        self.reason = reason


class Rejected(Refused):
    """Refusal to process data from another server, for the reason given; a retry would be refused as well."""
