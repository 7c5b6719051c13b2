"""Lists the reasons for which a document, or a part of it, is not accepted.

Each reason has a sentence, which is stored as the outcome of the activity; the source of the rule (a section of the contract, a
row of the security table, an RFC or FEP, or the behaviour of Mastodon); and software that is known to send such content. The
table in `docs/interop.md` is generated from this module.
"""

from social.kernel.reasons import Reason as KernelReason


class Reason(KernelReason):
    """Reasons to refuse a document of another server, or a part of it."""

    # JSON
    TOO_LARGE = "the document is too large", "contract 16: 1 MB in and out; security row 34"
    NO_JSON = "the document is no JSON", "contract 10: a body that is no JSON is refused", "pages of errors, as HTML"
    NO_JSON_OBJECT = "the document is no JSON object", "contract 5: documents are objects"
    TOO_MANY_PARTS = "the document has too many parts", "security row 34: at most 1,000 items in a list"
    TOO_DEEP = "the document is nested too deeply", "security row 34: at most 32 levels"
    VALUE_TOO_LONG = "a part of it is too long", "security row 33: no column takes a longer value"

    REFUSED_BY_SERVICE = "a rule of this server refuses it", "the rules for people here hold for others as well"
    GIVEN_UP = "it could not be acted upon in all attempts", "contract 11: 8 attempts"

    # Who acts
    OTHER_SIGNER = (
        "the actor is not the signer",
        "security row 8: what others pass on is a hint, which is fetched at its origin",
        "relays, and servers that forward answers",
    )
    SIGNER_SUSPENDED = (
        "the signer is suspended here",
        "contract 11: of suspended senders Delete, Reject, Undo and Update are taken",
    )
    IGNORED_KIND = (
        "activities of this kind are ignored",
        "contract 11: unknown types are answered 202 and ignored, as Mastodon does",
        "View, Read, Listen (PeerTube, Funkwhale), EmojiReact (Pleroma family), Arrive (servers for checking in at places)",
    )
    OF_NOBODY_KNOWN = (
        "it is a Delete or Update by somebody unknown here",
        "contract 11, security row 44: no key is fetched for it",
        "every server whose accounts are deleted",
    )
    NO_ACTIVITY_ID = "the activity has no id on its actor's server", "security row 8: an id belongs to its origin"
    ABOUT_NOTHING = "the activity is about nothing", "contract 7: each has an object"
    ALREADY_UNDONE = "it was deleted", "contract 7: an unknown id that was undone is remembered for 6 hours"
    ID_OF_SOMETHING_ELSE = "the id is that of something else", "security row 8: an id names one thing"
    CLOSED_TO_SERVER = (
        "this server is closed to the document's server",
        "contract 11: blocked domains, and unlisted ones in limited federation",
    )

    # Actors
    ACTOR_WITHOUT_ID = "the actor has no id", "ActivityPub section 3.1"
    NO_ACTOR = "the document is no actor", "contract 4: Person, Group, Organization, Service, Application"
    ACTOR_WITHOUT_INBOX = (
        "the actor has no inbox on another server",
        "ActivityPub section 4.1: an actor has an inbox; security row 5: none of ours",
    )
    ACTOR_WITHOUT_NAME = (
        "the actor has no name that people here could write",
        "security row 62: the interface's pattern of usernames, which is ASCII",
        "WordPress sites with Unicode author names",
    )
    ACTOR_OF_OURS = "the actor would be one of ours", "security row 5: nobody else speaks for accounts of this server"
    ACTOR_WITHOUT_ADDRESS = (
        "the actor has no address on another server",
        "security row 14: WebFinger confirms addresses",
    )
    OTHER_NAME_THAN_ADDRESS = "the address has another name than the actor", "security row 14: consent both ways"
    OTHER_ACTOR_AT_ADDRESS = "the domain says that the address is another actor's", "security row 14: consent both ways"
    TAKEN_ID_OR_KEY = "the id, the address or the key is another actor's", "security rows 12 and 14"
    ACTOR_WITHOUT_KEY = "the actor has no key", "contract 10: signatures are required"
    KEY_WITHOUT_OWNER = "the key has no owner on its server", "security row 12: key and actor name each other"
    KEY_NOT_LISTED = "the actor does not list the key", "security row 12: key and actor name each other"
    LOOKED_AT_LATELY = "the account was looked at a moment ago", "contract 17: one look a minute after a failure"
    OTHER_PROFILE = "only the actor's own profile is updated", "security row 8"
    UNKNOWN_FORWARDED_PROFILE = "the forwarded profile is nobody's known here", "contract 11, security row 44"

    # WebFinger and software
    LEADS_TO_THIRD_DOMAIN = "the address leads to a third domain", "security row 14: one step at most"
    NO_SUBJECT = "the address has no subject", "RFC 7033 section 4.4.1"
    SUBJECT_IS_NO_ADDRESS = "the subject is no address", "RFC 7033, RFC 7565"
    ADDRESS_OF_OURS = "the address is not of another server", "security row 5"
    ADDRESS_WITHOUT_ACTOR = "the address has no actor", "contract 14: a link `self` with a type of ActivityPub"
    OTHER_ADDRESS = "its server has another address for the account", "security row 14"
    NO_PAGE_FOR_IT = "the server names no page for it", "contract 14: the template of `subscribe`"
    NO_SOFTWARE_DOCUMENT = "the server names no document about its software", "NodeInfo 2.0"
    NO_SOFTWARE_NAME = "the document names no software", "NodeInfo 2.0"
    SOFTWARE_REFUSED = "the server does not give the document about its software", "NodeInfo 2.0"

    # Fetched documents
    MISSING_DOCUMENT = "the document is not there", "contract 1: accepted with status 200"
    NO_DOCUMENT_ID = "the document has no id", "contract 1: its id equals the address"
    OTHER_ID = "the document has another id than its address", "contract 1, security row 5"
    OTHER_SERVER_ANSWERED = (
        "the document is of another server than the one that answered",
        "security row 7: the host that answered after redirects counts",
    )
    NO_OWN_COLLECTION = "the document is no collection of the server that was asked", "security row 34"
    NO_ADDRESS = "the id is no address", "contract 5: ids are addresses on the web"
    TOO_MANY_REQUESTS = "it takes too many requests", "security row 34: a budget for each thing that is fetched"
    PAGE_OF_OTHER_SERVER = "a page of the collection is on another server", "security row 34: pages of the host asked"
    TOO_MANY_PAGES = "the collection has too many pages", "contract 9: 10 pages"

    # Posts
    NOTE_WITHOUT_ID = "the post has no id", "contract 5: ids are addresses on the web"
    NO_NOTE = "the document is no post", "contract 5: the types that become posts"
    AUTHOR_OF_OTHER_SERVER = "the post and its author are of two servers", "security row 8"
    OTHER_AUTHOR = "the post is another author's", "security row 8"
    NOTE_OF_OTHER_SERVER = "the post is of another server", "security row 8"
    DELETED_NOTE = "the post was deleted", "contract 7: a deleted id does not come back"
    HELD_OR_DELETED_NOTE = "the post was deleted, or is held for review", "held posts are not shown (docs/adr/0031)"
    SUSPENDED_AUTHOR = "the author is suspended", "contract 11, security row 13"
    CONCERNS_NOBODY = (
        "nobody here has to do with the post",
        "Mastodon does so: neither followed nor addressed nor answered",
        "servers with many followers elsewhere, relays that are not followed",
    )
    NO_SUCH_NOTE = "there is no such post here", "contract 7: it is about a post that is known"
    ONLY_OWN_UPDATED = "only the actor's own profile and posts are updated", "security row 8"
    DELETE_BY_OTHER = "only its author deletes a post that is not for everybody", "security row 53"
    STILL_THERE = "its origin still has what was deleted, as another server says", "security row 53"
    ANSWERS_NOTHING_KNOWN = "the post answers nothing that is known here", "contract 13: threads are walked from a post"
    FORWARDED_ANSWERS_NOTHING = (
        "the forwarded post answers nothing that concerns anybody here",
        "contract 11: forwarded are answers to posts of people here",
    )
    TOO_MANY_AUTHORS = "the thread has too many authors", "contract 13: 400 actors for each request"
    UNDONE_BY_OTHER = "the undone activity is another actor's", "security row 8"
    THING_OF_OTHER_ACTOR = "it is another actor's", "security row 8"

    # Polls
    NO_SUCH_POLL = "there is no such poll here", "contract 7: a vote answers a poll"
    NO_SUCH_OPTION = "the poll has no such option", "contract 7: votes are matched by name"
    VOTE_OF_OTHER = "the vote is another's", "security row 8"

    # Boosts and favourites
    CONCERNS_NOBODY_BOOST = "nobody here has to do with the boost", "Mastodon does so: of followed or known ones only"
    BOOSTER_CANNOT_READ = "the booster cannot read the post", "behaviours 7: who can read a post may boost it"
    NOT_TO_BE_ANSWERED = (
        "the author of the answered post does not allow it",
        "GoToSocial's interactionPolicy (docs/adr/0044)",
    )
    PARENT_WAITS = "the answered reply waits for approval itself", "GoToSocial's interactionPolicy (docs/adr/0044)"
    TOO_MANY_REQUESTS_WAIT = (
        "too many requests of its author wait for an answer",
        "GoToSocial's interactionPolicy (docs/adr/0044): 50 to one account",
    )
    NOT_TO_BE_BOOSTED = "the post may not be boosted", "behaviours 7: direct posts never, private ones by their author"
    PASSED_ON_IS_NO_NOTE = (
        "the activity that is passed on is no post",
        "Mastodon does so: of Announce{activity} those with a post count",
        "Lemmy, Mbin: Announce{Like}, Announce{Lock}",
    )
    TAKEN_ID_OF_LIKE = "the id of the favourite is another one's", "security row 8: an id names one thing"
    TAKEN_ID_OF_BOOST = "the id of the boost is another post's", "security row 8: an id names one thing"

    # Follows, blocks, moves
    NOT_OF_THIS_SERVER = "the account is not of this server", "contract 7: it is about somebody here"
    ANSWER_TO_NO_FOLLOW = "the answer is about no follow of ours", "security row 16: Accept only of what was asked"
    TAKEN_ID_OF_FOLLOW = "the id of the follow is another one's", "security row 8: an id names one thing"
    TAKEN_ID_OF_BLOCK = "the id of the block is another one's", "security row 8: an id names one thing"
    MOVED_BY_OTHER = "only the actor itself moves", "contract 15, security row 8"
    MOVE_TO_NOWHERE = "the move leads nowhere", "contract 15: it names its target"
    MOVE_TO_ITSELF = "the new account is the old one", "contract 15"
    MOVE_WITHOUT_CONSENT = (
        "the new account does not say that it is the same person's",
        "contract 15: the target lists the old one in alsoKnownAs",
    )

    # Reports
    REPORTS_NOT_TAKEN = "reports of this server are not taken", "contract 7: reject_reports, a choice of staff"
    NOBODY_REPORTED = "nobody of this server is reported", "contract 17: account, post or both"
    TOO_MANY_REPORTS = (
        "too many reports of one server in a day",
        "400 a day: one server cannot bury the others' reports",
    )

    # Featured posts and collections of people
    NOT_THE_FEATURED = "the collection is not that of what the actor features", "contract 7: Add and Remove"
    NO_ACCOUNT_IN_COLLECTION = "the object is no account in the collection", "FEP-7aa9"
    COLLECTION_OF_OTHER_SERVER = "the collection is of another server", "security row 8"
    CONCERNS_NOBODY_COLLECTION = "nobody here has to do with the collection", "FEP-7aa9; as for posts"
    NO_SUCH_COLLECTION = "the actor has no such collection", "FEP-7aa9"
    COLLECTION_OF_OTHER = "the collection is another account's", "security row 8"
    COLLECTION_OF_NOBODY = "the collection is nobody's elsewhere", "security row 8"
    COLLECTION_WITHOUT_NAME = "the collection has no name", "FEP-7aa9, contract 16"
    NO_COLLECTION_OF_PEOPLE = "the document is no collection of people", "FEP-7aa9"
    NO_COLLECTIONS_HERE = "the owner has no collections here", "contract 11: suspended owners, and ours"
    TAKEN_ID_OF_COLLECTION = (
        "the id is another collection's, or there are too many",
        "contract 16: a bound for each owner",
    )
    NO_COLLECTION_OF_ACTOR = "the request names no collection of its actor", "FEP-7aa9"
    TAKEN_ID_OF_REQUEST = "the id of the request is another one's", "security row 8: an id names one thing"
    ANSWER_OF_OTHER_ACCOUNT = "the answer is not the featured account's", "FEP-7aa9, security row 8"
    NO_AUTHORIZATION_NAMED = "the answer names no authorization of its actor's server", "FEP-044f, FEP-7aa9"
    NOBODY_AGREED = "nobody like that has agreed", "FEP-7aa9: people are shown after their consent"
    AUTHORIZATION_ELSEWHERE = (
        "the authorization is not on the server of who is in the collection",
        "FEP-7aa9, security row 36",
    )
    AUTHORIZATION_FOR_OTHER = "the authorization is for another collection or account", "FEP-7aa9, security row 36"

    # Quotes
    NOT_FOR_EVERYBODY = "the post is not for everybody", "contract 7: public and unlisted posts are quoted by request"
    NO_POST_OF_ACTOR = "the request names no post of its actor", "FEP-044f, security row 36"
    NO_QUOTING_POST = "the request names no post of its actor that quotes", "FEP-044f, security row 36"
    NOT_AUTHORS_ANSWER = "the answer is not by the author of the post", "GoToSocial's interactionPolicy (docs/adr/0044)"
    ANSWERS_OTHER = (
        "the reply is another actor's, or answers another post",
        "GoToSocial's interactionPolicy (docs/adr/0044)",
    )
    QUOTES_OTHER = "the post quotes another one", "FEP-044f, security row 36"
    ANSWER_OF_OTHER_AUTHOR = "the answer is not the quoted author's", "FEP-044f, security row 36"
    QUOTER_CANNOT_READ = "its author may not read the quoted post", "behaviours 7: quotes need read access"
    QUOTE_AUTHORIZATION_ELSEWHERE = "the authorization is not on the server of the quoted author", "security row 36"
    QUOTE_AUTHORIZATION_FOR_OTHER = "the authorization is for another quote", "security row 36"

    # Followers synchronisation
    OTHER_DIGEST = "the followers are others than the digest says", "FEP-8fcf: the list must have the digest"

    # Devices and encrypted messages
    NOT_TO_A_PERSON = "an encrypted message comes to the inbox of a person", "contract 7"
    FOR_SOMEBODY_ELSE = "the message is for somebody else", "contract 7"
    MESSAGE_WITHOUT_DEVICES = "the message names no devices", "contract 7"
    MESSAGE_WITHOUT_TEXT = "the message has no type or no text", "contract 7"
    MESSAGE_WITHOUT_DIGEST = "the message has no digest of the kind that is understood", "contract 7"
    DEVICES_REFUSED = "the server of the device does not give what was asked for", "contract 7"

    # Signatures
    NOT_SIGNED = "Request not signed", "contract 10: required on inboxes, and on GETs in secure mode", "scanners"
    FOR_OTHER_SERVER = "the request is for another server", "security rows 11 and 54: Host and target are ours"
    RECEIVED_BEFORE = "Request was received before", "security rows 11 and 59: a replay"
    KEY_ID_NO_ADDRESS = "the key's id is no address", "contract 10: a keyId is an address, or acct:"
    KEY_OF_OURS = "the key would be one of ours", "security row 5"
    HEADER_TOO_LONG = "the signature header is too long", "security row 34"
    HEADER_UNREADABLE = "the signature header cannot be read", "RFC 7235: the grammar of parameters"
    NO_KEY_ID = "keyId and signature are required", "contract 10"
    OTHER_ALGORITHM = "only rsa-sha256 and hs2019 are accepted", "contract 10", "servers that sign with Ed25519 alone"
    TIME_UNSIGNED = "date or (created) must be signed", "contract 10, security row 11"
    TARGET_UNSIGNED = "host and (request-target) must be signed", "contract 10, security rows 11 and 54"
    BODY_UNSIGNED = "digest must be signed", "contract 10, security row 11"
    NOTHING_SIGNED = "digest or (request-target) must be signed", "contract 10"
    CREATED_MISSING = "(created) is signed and not given", "draft-cavage-http-signatures-12 section 2.3"
    CREATED_WITH_RSA = (
        "(created) and (expires) cannot be signed with rsa-sha256",
        "draft-cavage-http-signatures-12 section 2.3",
    )
    SIGNED_HEADER_MISSING = "a header that is signed is missing", "contract 10: what is signed must be there"
    TIME_UNREADABLE = "a time of the signature cannot be read", "contract 10"
    DATE_UNREADABLE = "the date cannot be read", "contract 10: dates of RFC 9110 and RFC 3339"
    SIGNATURE_EXPIRED = (
        "the signature has expired",
        "contract 10: valid for 5 minutes, and an hour of skew",
        "wrong clocks",
    )
    SIGNED_IN_THE_FUTURE = "the signature was made in the future", "contract 10: an hour at most", "wrong clocks"
    NO_SHA256_DIGEST = "the digest must be a SHA-256 one", "contract 10"
    DIGEST_UNREADABLE = "the digest is not base64", "contract 10"
    OTHER_BODY = "the digest does not match the body", "contract 10, security row 11"
    SIGNATURE_UNREADABLE = "the signature is not base64", "contract 10"
    SIGNATURE_WRONG = "the signature does not fit the key and the request", "contract 10"
    KEY_UNREADABLE = "the public key cannot be read", "contract 10: PEM"
    OTHER_KIND_OF_KEY = (
        "the public key is of a kind this server does not accept",
        "contract 10: RSA",
        "servers that sign with Ed25519 alone",
    )
    CONTENT_DIGEST_UNREADABLE = "the content digest cannot be read", "contract 10: 400 for a malformed one"
    HEADERS_TOO_LONG = "the signature headers are too long", "security row 34"
    HEADERS_UNREADABLE = "the signature headers cannot be read", "RFC 9421, RFC 8941"
    NO_KEY_ID_PARAMETER = "keyid is required", "contract 10"
    COMPONENTS_UNSIGNED = "@method and @target-uri must be signed", "contract 10"
    CONTENT_UNSIGNED = "content-digest must be signed", "contract 10"
    NO_SHA256_CONTENT = "the content digest must be a SHA-256 one", "contract 10"
    OTHER_ALGORITHM_9421 = "only rsa-v1_5-sha256 is accepted", "contract 10"
    SERVER_PAUSED = "its server did not answer a moment ago", "contract 10: a pause after a failed look-up of a key"

    # Parts of documents that are left out
    MENTION_WITHOUT_ADDRESS = "a mention names nobody", "contract 5: mentions have the id of an account"
    TOO_MANY_MENTIONS = "more mentions than are kept", "security row 33: a bound for each post"
    TAG_WITHOUT_NAME = "a hashtag has no name that people here could write", "behaviours 8: the pattern of hashtags"
    TOO_MANY_TAGS = "more hashtags than are kept", "security row 78: a bound for each post"
    ATTACHMENT_WITHOUT_ADDRESS = "a file has no address on the web", "contract 17: any object or address with a web URL"
    TOO_MANY_ATTACHMENTS = "more files than are kept", "contract 5: a bound for each post", "Pixelfed albums"
    TOO_MANY_OPTIONS = "more options of a poll than are kept", "contract 5: a bound for each poll"
    UNREADABLE_LANGUAGE = "a language that is no tag of BCP 47", "contract 17: the first part that is known"
    UNREADABLE_DATE = "a date that cannot be read", "contract 17: now, and no edit"
    TOO_MANY_FIELDS = "more fields of a profile than are kept", "contract 16: 50"
    FIELD_WITHOUT_NAME = "a field of a profile has no name", "contract 4: PropertyValue with name and value"
    EMOJI_UNUSABLE = "a custom emoji has no name or picture that can be used", "contract 5: shortcode and icon"
    TOO_MANY_EMOJIS = "more custom emojis than are kept", "security row 33: a bound for each document"
    PLACE_UNUSABLE = (
        "an inbox or collection has no address of another server",
        "contract 17: wherever its server put it; security row 22: none of ours, and not everybody",
    )
    KEY_UNUSABLE = "a key is too long or is another actor's", "security row 12: key and actor name each other"
    TEXT_CUT = "a text is longer than is kept", "contract 16, security row 33"


class Refused(Exception):
    """Refusal of a document of another server for `reason`; `detail` may describe the case more precisely."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason.sentence)
        self.reason = reason


class Rejected(Refused):
    """Refusal to process data from another server, for the reason given; a retry would be refused as well."""
