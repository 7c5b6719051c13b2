"""Reads the data that `timelines.policies.feeds` needs, for many posts and readers at once, and data about open streams."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.identity.queries.sign_in import all_live_sessions
from accounts.models import AccessToken
from accounts.policies.audience import UNHIDDEN, is_present
from accounts.policies.relations import FollowOptions, Relations
from accounts.queries.relations import load_hidden, load_relations_of
from social.kernel import clock
from social.kernel.statements import rows_of
from statuses.models import Mention
from statuses.policies.posts import Post
from statuses.queries.filters import load_active_filters
from timelines.policies.streams import Viewer
from timelines.stores.feed import absent_before

_READERS: Final = """
SELECT f.target_id, f.account_id, f.show_reblogs, f.notify, f.languages, f.direct_since
  FROM accounts_follow f WHERE f.target_id = ANY(%(authors)s) AND f.follower_state = 'active'
UNION ALL
SELECT u.account_id, u.account_id, NULL, NULL, NULL, NULL
  FROM accounts_user u WHERE u.account_id = ANY(%(authors)s)
"""

# Followers of hashtags are read separately; the follow of a hashtag applies only to posts with a higher id than the follow.
_HASHTAG_FOLLOWERS: Final = """
SELECT DISTINCT t.status_id, f.account_id
  FROM statuses_statustag t
  JOIN accounts_tagfollow f ON f.tag_id = t.tag_id AND NOT f.absent AND f.id < t.status_id
  JOIN accounts_user u ON u.account_id = f.account_id
 WHERE t.status_id = ANY((SELECT %(posts)s)::bigint[]) AND COALESCE(u.active_at, u.created_at) > %(since)s
"""

_LISTS: Final = """
SELECT l.id, l.account_id, l.replies_policy, l.exclusive, m.account_id
  FROM timelines_listmember m
  JOIN timelines_list l ON l.id = m.list_id
  JOIN accounts_user u ON u.account_id = l.account_id
 WHERE m.account_id = ANY((SELECT %(people)s)::bigint[]) AND NOT m.absent AND COALESCE(u.active_at, u.created_at) > %(since)s
"""

_DEFAULT_OPTIONS: Final = FollowOptions()
_NO_ACCOUNTS: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadList:
    """A list to which posts are delivered; `members` are the requested accounts that are its members."""

    id: int
    owner_id: int
    replies_policy: str
    exclusive: bool
    members: set[int]


@dataclass(frozen=True, slots=True)
class Readers:
    """Accounts that may get some posts: active local followers of authors and hashtags, authors, and owners of lists."""

    # Readers of each author, with the options of their follow. The author is one of the readers, with None as options.
    by_author: Mapping[int, Mapping[int, FollowOptions | None]]
    stored: Mapping[int, Relations]
    # Followers of the hashtags of each post.
    by_hashtag: Mapping[int, Collection[int]] = field(default_factory=dict)
    # Lists that contain each account.
    lists: Mapping[int, Sequence[ReadList]] = field(default_factory=dict)
    # Members of the exclusive lists of each owner.
    exclusive: Mapping[int, frozenset[int]] = field(default_factory=dict)
    # By author, the readers who follow the author without options and have no relations to the other requested accounts. The
    # verdict on a post is the same for all of them, except for readers whom the post involves.
    alike: Mapping[int, Set[int]] = field(default_factory=dict)

    def of(self, author_id: int) -> Mapping[int, FollowOptions | None]:
        return self.by_author.get(author_id, {})

    def relations(self, reader_id: int, author_id: int) -> Relations:
        """Return the relations of the reader to the author and the other requested accounts."""
        options = self.by_author.get(author_id, {}).get(reader_id)
        following = {} if options is None else {author_id: options}
        relations = self.stored.get(reader_id)
        read_apart = self.exclusive.get(reader_id, _NO_ACCOUNTS)
        if relations is None:
            return Relations(viewer_id=reader_id, following=following, read_apart=read_apart)
        return replace(relations, following={**relations.following, **following}, read_apart=read_apart)


def load_readers(
    author_ids: Collection[int],
    *,
    people: Collection[int],
    followable: Collection[int],
    answered_ids: Collection[int] = (),
    tagged: Collection[int] = (),
) -> Readers:
    """Return the readers of these authors, and the followers of hashtags of the posts `tagged`, with their relations to
    `people`, all accounts involved in the posts. Takes three queries, four with `tagged`. `followable` are the authors
    (replied-to or boosted) whose followers are read, `answered_ids` the accounts whose list memberships are read.
    """
    by_author: dict[int, dict[int, FollowOptions | None]] = defaultdict(dict)
    by_hashtag: Mapping[int, Collection[int]] = {}
    since = absent_before(clock.now())
    for author, reader, show_reblogs, notify, languages, direct_since in rows_of(
        _READERS, {"authors": list(author_ids)}
    ):
        if reader == author:
            by_author[author][reader] = None
        elif show_reblogs and not notify and not languages and direct_since is None:
            by_author[author][reader] = _DEFAULT_OPTIONS
        else:
            chosen_languages = tuple(languages) if languages else None
            by_author[author][reader] = FollowOptions(show_reblogs, notify, chosen_languages, direct_since)
    lists, exclusive = _lists(rows_of(_LISTS, {"people": [*author_ids, *answered_ids], "since": since}))
    if tagged:
        by_hashtag = load_hashtag_followers(tagged)
    readers = {reader for found in (*by_author.values(), *by_hashtag.values()) for reader in found}
    # All readers get relations to all `people`, because a reader who gets one post because of its hashtag may also follow the
    # author of another post.
    stored = load_relations_of(readers, people, followable=followable)
    apart = stored.keys() | exclusive.keys()
    alike = {
        author: {reader for reader, options in found.items() if options is _DEFAULT_OPTIONS} - apart
        for author, found in by_author.items()
    }
    return Readers(by_author, stored, by_hashtag, lists, exclusive, alike)


def _lists(
    rows: Iterable[tuple[Any, ...]],
) -> tuple[dict[int, list[ReadList]], dict[int, frozenset[int]]]:
    lists: dict[int, ReadList] = {}
    by_member: dict[int, list[ReadList]] = defaultdict(list)
    exclusive: dict[int, set[int]] = defaultdict(set)
    for list_id, owner, policy, is_exclusive, member in rows:
        found = lists.setdefault(list_id, ReadList(list_id, owner, policy, is_exclusive, set()))
        found.members.add(member)
        by_member[member].append(found)
        if is_exclusive:
            exclusive[owner].add(member)
    return by_member, {owner: frozenset(members) for owner, members in exclusive.items()}


def load_hashtag_followers(status_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return, by post, the local accounts that followed one of its hashtags before it was written. Takes one query."""
    found: dict[int, set[int]] = defaultdict(set)
    if ids := list(status_ids):
        for status_id, reader in rows_of(_HASHTAG_FOLLOWERS, {"posts": ids, "since": absent_before(clock.now())}):
            found[status_id].add(reader)
    return found


def load_mentioned_readers(posts: Sequence[Post]) -> dict[int, list[int]]:
    """Return, by post, the mentioned local accounts without a block or mute between them and the author. Takes two queries."""
    mentions = Mention.objects.filter(status_id__one_of=[post.id for post in posts], silent=False, account__domain=None)
    found = list(mentions.values_list("status_id", "account_id"))
    authors = {post.id: post.account_id for post in posts}
    relations = load_relations_of({account for _status, account in found}, set(authors.values()))
    readers: dict[int, list[int]] = defaultdict(list)
    for status_id, account in found:
        stored = relations.get(account)
        if stored is None or UNHIDDEN.shows(authors[status_id], stored):
            readers[status_id].append(account)
    return readers


def list_active_followers(account_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return, for each account, its local followers who may have a feed, and the account itself. Takes one query."""
    found: dict[int, set[int]] = {account: {account} for account in account_ids}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT target_id, account_id FROM accounts_follow WHERE target_id = ANY(%s) AND follower_state = 'active'",
            [list(found)],
        )
        for target, follower in cursor.fetchall():
            found[target].add(follower)
    return found


_CHOSEN_LANGUAGES: Final = """
SELECT jsonb_array_elements_text(preferences->'chosen_languages') FROM accounts_user
 WHERE account_id = %s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
"""


def load_viewer(account_id: int) -> Viewer:
    """Return the viewer's blocks, mutes, languages and active filters, in three queries."""
    with connection.cursor() as cursor:
        cursor.execute(_CHOSEN_LANGUAGES, [account_id])
        languages = frozenset(language for (language,) in cursor.fetchall())
    return Viewer(account_id, load_hidden(account_id), languages, load_active_filters(account_id))


def list_valid_tokens(token_ids: Collection[int]) -> set[int]:
    """Return the ids of the tokens that still exist and whose user may use the API (behaviours section 3). Negative ids belong
    to browser sessions (`find_session_identity`). Takes one query for each kind of id.
    """
    confirmed = EmailAddress.objects.filter(user_id=OuterRef("user_id"), primary=True, verified=True)
    usable = (
        is_present("user__account"),
        Q(user__disabled_at=None, user__approved=True),
        Q(user__account__moved_to=None),
        Exists(confirmed),
    )
    good: set[int] = set()
    if tokens := [number for number in token_ids if number > 0]:
        found = AccessToken.objects.filter(*usable, id__one_of=tokens, expires__gt=clock.now())
        good |= set(found.values_list("id", flat=True))
    if browsers := [-number for number in token_ids if number < 0]:
        sessions = all_live_sessions().filter(*usable, id__one_of=browsers)
        good |= {-number for number in sessions.values_list("id", flat=True)}
    return good
