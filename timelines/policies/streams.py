"""Streams: their names, who may subscribe, and which posts are left out for a viewer (contract, behaviours section 16)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from accounts.policies.audience import PRESENT, UNHIDDEN
from accounts.policies.relations import Hidden
from statuses.policies.audience import HASHTAG_STREAM
from statuses.policies.filters import Filters
from timelines.stores import channels
from timelines.stores.messages import Facts, Withdrawn

STATUS_SCOPES: Final = frozenset({"read", "read:statuses"})
CRYPTO_SCOPES: Final = frozenset({"crypto"})
NOTIFICATION_SCOPES: Final = frozenset({"read", "read:notifications"})

NAME_LIMIT: Final = 32
"""Maximum number of characters of a stream's name; all existing names are shorter."""
TAG_LIMIT: Final = 500
"""Maximum number of characters of a hashtag as a client writes it (before normalisation), the same as for a post."""

MISSING_TOKEN: Final = "Missing access token"  # noqa: S105  # a sentence
INVALID_TOKEN: Final = "Invalid access token"  # noqa: S105  # a sentence
MISSING_SCOPES: Final = "Access token does not have the required scopes"
MISSING_TAG: Final = "Missing tag name parameter"
MISSING_LIST: Final = "Missing list name parameter"
FOREIGN_LIST: Final = "Not authorized to stream this list"
UNAVAILABLE: Final = "There was a temporary problem serving your request, please try again"
REFUSED: Final = "Forbidden"
MISSING_PATH: Final = "Not Found"
UNKNOWN_PATH: Final = "Unknown channel requested"
UNKNOWN_STREAM: Final = "Unknown stream type"
TOO_MANY_SOCKETS: Final = "Too many connections with this access token"
TOO_MANY_OF_ACCOUNT: Final = "Too many connections of this account"
TOO_MANY_FROM_ADDRESS: Final = "Too many connections from this address"
TOO_MANY_COMMANDS: Final = "Too many requests"

_PATHS: Final = {
    "user": "user",
    "user/notification": "user:notification",
    "direct": "direct",
    "public": "public",
    "public/local": "public:local",
    "public/remote": "public:remote",
    "hashtag": "hashtag",
    "hashtag/local": "hashtag:local",
    "list": "list",
}
_PUBLIC: Final = ("public", "public:local", "public:remote")


class StreamError(Exception):
    """Error for a subscription: `status` is 400, 401, 403, 404, 429 or 503, `text` is sent to the client."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream to which a connection subscribes. Every message contains the `label` (`["hashtag", "x"]`). Events of a
    `filtered` stream are the same for all listeners, and must be checked for each viewer.
    """

    label: tuple[str, ...]
    channels: tuple[str, ...]
    filtered: bool = False
    only_media: bool = False
    only_local: bool = False


@dataclass(frozen=True, slots=True)
class Viewer:
    """Facts about a viewer that the filters of public streams need."""

    account_id: int
    hidden: Hidden = field(default_factory=Hidden)
    chosen_languages: frozenset[str] = frozenset()
    filters: Filters = field(default_factory=Filters)


def stream_of_path(path: str, *, only_media: bool = False) -> str:
    """Return the name of the stream at `/api/v1/streaming/<path>`. Raises StreamError (400) for an unknown path."""
    name = _PATHS.get(path.strip("/"))
    if name is None:
        raise StreamError(400, UNKNOWN_PATH)
    return f"{name}:media" if only_media and name in _PUBLIC else name


def check_name(name: str, tag: str | None) -> None:
    """Raise StreamError (400) for a name or hashtag that is too long. Call it before normalising name and hashtag, because
    normalising may expand one character to eighteen, and a long text would block the process (security row 65).
    """
    if len(name) > NAME_LIMIT:
        raise StreamError(400, UNKNOWN_STREAM)
    if tag is not None and len(tag) > TAG_LIMIT:
        raise StreamError(400, MISSING_TAG)


def open_stream(
    name: str,
    *,
    account_id: int,
    token_id: int,
    scopes: frozenset[str],
    tag: str | None,
    normalised_tag: str,
    origins: tuple[bool, bool],
    named_list: str | None = None,
    own_list_id: int | None = None,
) -> Stream:
    """Return the stream of this name for the account.

    `tag` is the hashtag as the client wrote it, and `normalised_tag` its normalised form. `origins` tells whether local and
    remote public posts are shown to the account. `named_list` is the list as the client wrote it, and `own_list_id` the list's
    id if the account owns the list. Raises StreamError: 400 for an unknown stream, and for a missing tag or list; 401 for
    missing scopes, and for a list that the account does not own (SEED-140).
    """
    if name == "user:notification":
        _require(scopes, NOTIFICATION_SCOPES)
        return Stream((name,), (channels.notifications(account_id),))
    if name == "user":
        _require(scopes, STATUS_SCOPES)
        subscribed = [channels.home(account_id), channels.BROADCAST]
        if scopes & NOTIFICATION_SCOPES:
            subscribed.append(channels.notifications(account_id))
        if scopes & CRYPTO_SCOPES:
            subscribed.append(channels.device(token_id))
        return Stream((name,), tuple(subscribed))
    if name == "list":
        _require(scopes, STATUS_SCOPES)
        if not named_list:
            raise StreamError(400, MISSING_LIST)
        if own_list_id is None:
            raise StreamError(401, FOREIGN_LIST)
        return Stream((name, str(own_list_id)), (channels.of_list(own_list_id),))
    if name == "direct":
        _require(scopes, STATUS_SCOPES)
        return Stream((name,), (channels.direct(account_id),))
    if name in ("hashtag", "hashtag:local"):
        _require(scopes, STATUS_SCOPES)
        if not tag or not normalised_tag:
            raise StreamError(400, MISSING_TAG)
        shown_local, shown_remote = origins
        only_local = name.endswith(":local") or not shown_remote
        subscribed = [channels.hashtag(normalised_tag)] if shown_local or not only_local else []
        return Stream((name, tag), tuple(subscribed), filtered=True, only_local=only_local)
    base = name.removesuffix(":media")
    if base not in _PUBLIC:
        raise StreamError(400, UNKNOWN_STREAM)
    _require(scopes, STATUS_SCOPES)
    shown_local, shown_remote = origins
    subscribed = []
    if shown_local and base != "public:remote":
        subscribed.append(channels.PUBLIC_LOCAL)
    if shown_remote and base != "public:local":
        subscribed.append(channels.PUBLIC_REMOTE)
    return Stream((name,), tuple(subscribed), filtered=True, only_media=name != base)


def _require(scopes: frozenset[str], sufficient_scopes: frozenset[str]) -> None:
    if not scopes & sufficient_scopes:
        raise StreamError(401, MISSING_SCOPES)


def is_hidden_from_viewer(stream: Stream, facts: Facts, viewer: Viewer, moment: datetime) -> bool:
    """Tell whether a public post that other listeners get is hidden from the viewer. A post is hidden if the viewer blocks or
    mutes the author, a mentioned account or the quoted author; if the author or the quoted author blocks the viewer, or is on a
    domain that the viewer blocks; if the post is in none of the viewer's languages; or if the post does not belong to the
    stream. A viewer's own posts are hidden only by the quoted author's block.
    """
    if (stream.only_media and not facts.has_media) or (stream.only_local and not facts.local):
        return True
    if viewer.chosen_languages and facts.language and facts.language not in viewer.chosen_languages:
        return True
    if viewer.hidden.is_empty:
        return False
    domains = {**dict.fromkeys(facts.mentioned), facts.author_id: facts.domain}
    if facts.quoted_id is not None:
        domains[facts.quoted_id] = facts.quoted_domain
    relations = viewer.hidden.relations(viewer.account_id, domains, moment)
    if facts.quoted_id is not None:
        # The quoted author is also checked if the post is the viewer's own. The event, which is the same for all listeners,
        # contains the quoted post, and the quoted author may block the viewer.
        quoted = UNHIDDEN if facts.author_id != viewer.account_id else PRESENT
        if not quoted.shows(facts.quoted_id, relations):
            return True
    return not HASHTAG_STREAM.shows_author(facts.author_id, facts.mentioned, relations)


def has_shown(stream: Stream, withdrawn: Withdrawn) -> bool:
    """Tell whether any listener of a public stream can have seen a post that is now deleted."""
    return (withdrawn.local or not stream.only_local) and (withdrawn.had_files or not stream.only_media)
