"""Reads posts: the only module that loads a `Post`, its `PostBody` and its poll, always for many ids at once.

One statement reads, for a whole page, the values that decide who sees a post, and the values that change too often to be
cached. Times are read as milliseconds, because parsing forty dates takes longer than reading the posts. Another statement reads
the contents, only for posts without a cached body. The marks of viewers are in `statuses.queries.marks`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import MISSING, fields
from operator import itemgetter
from typing import Any, Final, NamedTuple

from accounts.models.account import SHOWN_COUNTS
from social.kernel.statements import rows_of
from statuses.models import MediaAttachment, Poll
from statuses.policies.posts import Author, Post, PostBody

Values = tuple[Any, ...]


class _Part(NamedTuple):
    """Columns of one table that the statement reads, by type; each column is a name or `expression AS name`."""

    source: str
    bigint: tuple[str, ...]
    text: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()

    @property
    def columns(self) -> str:
        return ", ".join((*self.bigint, *self.text, *self.boolean))


def _name(column: str) -> str:
    return column.rpartition(" AS ")[2]


# Each name here is also a field of Post.
_POST: Final = _Part(
    "statuses_status",
    bigint=(
        "id",
        "account_id",
        "(date_part('epoch', created_at) * 1000000)::bigint / 1000 AS created_ms",
        "in_reply_to_id",
        "in_reply_to_account_id",
        "reblog_of_id",
        "application_id",
        "version",
        "quote_policy",
        "interaction_policy",
    ),
    text=("visibility", "uri", "language"),
    boolean=(
        "deleted_at IS NOT NULL AS is_deleted",
        "local",
        "sensitive",
        "in_reply_to_uri IS NOT NULL AS is_orphan",
        "from_archive AS imported",
        "local_only",
    ),
)
_BODIES: Final = "ANY((SELECT ids FROM bodies)::bigint[])"
_PEOPLE: Final = "ANY((SELECT ids FROM people)::bigint[])"
# Joining these tables leads to plans that read small tables completely, or that read a table once for each post. Each table is
# therefore read once here, for all ids, through its index, and Python combines the rows; the ids come from subselects, whose
# length the planner does not know (docs/adr/0011).
_PARTS: Final = {
    "post": _Part("post", *(tuple(map(_name, columns)) for columns in _POST[1:])),
    "author": _Part(
        f"accounts_account WHERE id = {_PEOPLE}",
        bigint=("id", "version"),
        text=("username", "domain", "uri"),
        boolean=(
            "suspended_at IS NOT NULL AS is_suspended",
            "limited_at IS NOT NULL AS is_limited",
            "sensitized_at IS NOT NULL AS is_sensitized",
        ),
    ),
    "author_stat": _Part(
        f"accounts_accountstat WHERE account_id = {_PEOPLE}",
        bigint=("account_id", *SHOWN_COUNTS),
        text=("to_char(last_status_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS last_status_on",),
    ),
    "stat": _Part(
        f"statuses_statusstat WHERE status_id = {_BODIES}",
        bigint=(
            "status_id",
            "GREATEST(replies_count, remote_replies_count) AS replies_count",
            "GREATEST(reblogs_count, remote_reblogs_count) AS reblogs_count",
            "GREATEST(favourites_count, remote_favourites_count) AS favourites_count",
            "quotes_count",
        ),
    ),
    "quote": _Part("quote", bigint=("status_id", "quoted_status_id"), text=("state",)),
    "inner_quote": _Part("inner_quote", bigint=("status_id", "quoted_status_id"), text=("state",)),
    "poll": _Part(f"statuses_poll WHERE status_id = {_BODIES}", bigint=("status_id", "id")),
    "card": _Part(f"statuses_statuscard WHERE status_id = {_BODIES}", bigint=("status_id", "card_id")),
    "mention": _Part(f"statuses_mention WHERE status_id = {_BODIES}", bigint=("status_id", "account_id")),
    # A collection that became known after the post was stored is found by the ActivityPub id that the post names.
    "collection": _Part(
        f"statuses_linkedcollection l WHERE status_id = {_BODIES}",
        bigint=(
            "status_id",
            "id",
            "COALESCE(collection_id, (SELECT c.id FROM accounts_collection c WHERE c.uri = l.uri)) AS collection_id",
        ),
    ),
}


def _padded_columns(part: _Part) -> list[str]:
    # All parts must have the same number of columns of each type, so missing columns are filled with NULL.
    found: list[str] = []
    for kind in ("bigint", "text", "boolean"):
        value = getattr(part, kind)
        found += [*value, *[f"NULL::{kind}"] * (max(len(getattr(each, kind)) for each in _PARTS.values()) - len(value))]
    return found


def _reader(part: str, *names: str) -> Callable[[Values], Any]:
    """Return a function that extracts the values of these names from a row of the part."""
    places = {_name(column): place for place, column in enumerate(_padded_columns(_PARTS[part]), start=1)}
    return itemgetter(*(places[name] for name in names))


def _required_fields(shape: type) -> tuple[str, ...]:
    # Fields without a default: the arguments that are needed to create an instance.
    return tuple(each.name for each in fields(shape) if each.default is MISSING and each.default_factory is MISSING)


_read_post: Final = _reader("post", *_required_fields(Post)[:-1])  # without the last field, the author
_read_author: Final = _reader("author", *_required_fields(Author))
_read_author_stat: Final = _reader("author_stat", "account_id", *SHOWN_COUNTS, "last_status_on")
_read_stat: Final = _reader("stat", "status_id", "replies_count", "reblogs_count", "favourites_count", "quotes_count")
_read_quote: Final = _reader("quote", "status_id", "quoted_status_id", "state")
_read_poll: Final = _reader("poll", "status_id", "id")
_read_card: Final = _reader("card", "status_id", "card_id")
_read_mention: Final = _reader("mention", "status_id", "account_id")
_read_collection: Final = _reader("collection", "id", "status_id", "collection_id")

_PARTS_SQL: Final = "\nUNION ALL\n".join(
    f"SELECT '{name}', {', '.join(_padded_columns(part))} FROM {part.source}"  # noqa: S608 (constants)
    for name, part in _PARTS.items()
)
# In addition to the requested posts, this statement reads the posts that they boost, the posts quoted by any of these, and the
# posts quoted by the quoted posts. A boost itself has no quote, counters or mentions.
_POSTS_SQL: Final = f"""
WITH own AS MATERIALIZED (SELECT {_POST.columns} FROM {_POST.source} WHERE id = ANY((SELECT %(ids)s)::bigint[])),
quote AS MATERIALIZED (
  SELECT status_id, quoted_status_id, state FROM statuses_quote
   WHERE status_id = ANY(ARRAY(SELECT COALESCE(reblog_of_id, id) FROM own))
),
inner_quote AS MATERIALIZED (
  SELECT status_id, quoted_status_id, state FROM statuses_quote
   WHERE status_id = ANY(ARRAY(SELECT quoted_status_id FROM quote))
),
post AS MATERIALIZED (
  SELECT * FROM own
   UNION ALL
  SELECT {_POST.columns} FROM {_POST.source}
   WHERE id = ANY(ARRAY(
     SELECT reblog_of_id FROM own WHERE reblog_of_id IS NOT NULL
      UNION ALL
     SELECT quoted_status_id FROM quote
      UNION ALL
     SELECT quoted_status_id FROM inner_quote))
),
bodies (ids) AS MATERIALIZED (SELECT ARRAY(SELECT id FROM post WHERE reblog_of_id IS NULL)),
people (ids) AS MATERIALIZED (SELECT ARRAY(SELECT account_id FROM post))
{_PARTS_SQL}
"""  # noqa: S608 (constants)


def load_posts(status_ids: Iterable[int]) -> list[Post]:
    """Return the posts with these ids, in the given order, without duplicates, and including deleted posts; unknown ids are
    left out. One query, or none if there are no ids. A boost contains the boosted post, and a quoting post the quoted post.
    """
    ids = list(dict.fromkeys(status_ids))
    if not ids:
        return []
    found: defaultdict[str, list[Values]] = defaultdict(list)
    for values in rows_of(_POSTS_SQL, {"ids": ids}):
        found[values[0]].append(values)
    authors = _authors(found)
    posts: dict[int, Post] = {}
    for values in found["post"]:
        own = _read_post(values)
        posts[own[0]] = Post(*(*own, authors[own[1]]))
    _complete(posts, found)
    return [posts[status_id] for status_id in ids if status_id in posts]


def _authors(found: defaultdict[str, list[Values]]) -> dict[int, Author]:
    authors = {author.id: author for author in (Author(*_read_author(values)) for values in found["author"])}
    for values in found["author_stat"]:
        account_id, followers, following, statuses, last_status_on = _read_author_stat(values)
        author = authors[account_id]
        author.followers_count, author.following_count, author.statuses_count = followers, following, statuses
        author.last_status_on = last_status_on
    return authors


def _complete(posts: dict[int, Post], found: defaultdict[str, list[Values]]) -> None:
    for values in found["stat"]:
        status_id, replies, reblogs, favourites, quotes = _read_stat(values)
        post = posts[status_id]
        post.replies_count, post.reblogs_count, post.favourites_count, post.quotes_count = (
            replies,
            reblogs,
            favourites,
            quotes,
        )
    for status_id, poll_id in map(_read_poll, found["poll"]):
        posts[status_id].poll_id = poll_id
    for status_id, card_id in map(_read_card, found["card"]):
        posts[status_id].card_id = card_id
    for status_id, account_id in map(_read_mention, found["mention"]):
        posts[status_id].addressed_ids.append(account_id)
    for _place, status_id, collection_id in sorted(map(_read_collection, found["collection"])):
        linked = posts[status_id].collection_ids
        if collection_id is not None and collection_id not in linked:
            linked.append(collection_id)
    for status_id, quoted_id, state in map(_read_quote, found["quote"] + found["inner_quote"]):
        posts[status_id].quoted_status_id, posts[status_id].quote_state = quoted_id, state
    for post in posts.values():
        if post.reblog_of_id is not None:
            post.original = posts.get(post.reblog_of_id)
        if post.quoted_status_id is not None:
            post.quoted = posts.get(post.quoted_status_id)


# Values of PostBody that are not columns of the post. Mentions, tags and files are read as JSON, so that one statement is
# enough instead of four.
_EXPRESSIONS: Final = {
    "thread_root_id": "COALESCE(s.thread_id, s.id)",
    "quote": """(
      SELECT json_build_object('id', q.id, 'quoted_uri', q.quoted_uri, 'approval_uri', q.approval_uri)
        FROM statuses_quote q WHERE q.status_id = s.id)""",
    "approval": """(
      SELECT json_build_object('id', r.id, 'approval_uri', r.approval_uri, 'author_uri',
                               (SELECT b.uri FROM accounts_account b WHERE b.id = r.target_id))
        FROM statuses_interactionrequest r WHERE r.answer_id = s.id AND r.state = 'accepted')""",
    "addressed": """(
      SELECT json_agg(json_build_object('id', m.account_id, 'username', b.username, 'domain', b.domain, 'url', b.url,
                                        'uri', b.uri, 'silent', m.silent, 'group_followers',
                                        CASE WHEN b.actor_type = 'Group' THEN b.followers_url END) ORDER BY m.id)
        FROM statuses_mention m JOIN accounts_account b ON b.id = m.account_id WHERE m.status_id = s.id)""",
    "tags": """(
      SELECT json_agg(t.name ORDER BY h.id)
        FROM statuses_statustag h JOIN accounts_tag t ON t.id = h.tag_id WHERE h.status_id = s.id)""",
    "media": """(
      SELECT json_agg(json_build_object('id', f.id, 'type', f.type, 'content_type', f.content_type,
                                        'processing', f.processing, 'file', f.file, 'preview', f.preview,
                                        'remote_url', f.remote_url, 'preview_remote_url', f.preview_remote_url,
                                        'meta', f.meta, 'description', f.description, 'blurhash', f.blurhash)
                      ORDER BY f.position, f.id)
        FROM statuses_mediaattachment f WHERE f.status_id = s.id)""",
    "poll_options": "(SELECT q.options FROM statuses_poll q WHERE q.status_id = s.id)",
    "application_name": "p.name",
    "application_website": "p.website",
    "imported_uri": "i.uri",
    "imported_url": "NULLIF(i.url, '')",
}
_BODY: Final = tuple(each.name for each in fields(PostBody))
_BODIES_SQL: Final = f"""
SELECT {", ".join(_EXPRESSIONS.get(name, f"s.{name}") for name in _BODY)}
  FROM statuses_status s LEFT JOIN accounts_application p ON p.id = s.application_id
  LEFT JOIN statuses_importedpost i ON i.status_id = s.id AND s.from_archive
 WHERE s.id = ANY((SELECT %(ids)s)::bigint[])
"""  # noqa: S608 (constants)


def load_bodies(status_ids: Iterable[int]) -> dict[int, PostBody]:
    """Load the bodies of the posts with these ids, in one query; unknown ids are left out."""
    ids = list(set(status_ids))
    if not ids:
        return {}
    return {body.id: body for body in (_body(values) for values in rows_of(_BODIES_SQL, {"ids": ids}))}


def _body(values: Values) -> PostBody:
    found = dict(zip(_BODY, values, strict=True))
    # SQL returns NULL for an empty list.
    for name in ("addressed", "tags", "media", "poll_options"):
        found[name] = found[name] or []
    found["media"] = [MediaAttachment(status_id=found["id"], **file) for file in found["media"]]
    return PostBody(**found)


_VOTES: Final = """
SELECT v.account_id, q.status_id, array_agg(v.choice ORDER BY v.id)
  FROM statuses_poll q JOIN statuses_pollvote v ON v.poll_id = q.id
 WHERE q.status_id = ANY((SELECT %(statuses)s)::bigint[]) AND v.account_id = ANY((SELECT %(accounts)s)::bigint[])
 GROUP BY 1, 2
"""


def load_polls(status_ids: Iterable[int]) -> dict[int, Poll]:
    """Return the polls of these posts, keyed by post id. One query, or none if there are no posts."""
    ids = list(status_ids)
    return {poll.status_id: poll for poll in Poll.objects.filter(status_id__one_of=ids)} if ids else {}


def load_votes(account_ids: Collection[int], status_ids: Collection[int]) -> dict[int, dict[int, list[int]]]:
    """Load the votes of these accounts in the polls of these posts: indexes of options, by account and post id. One query."""
    found: dict[int, dict[int, list[int]]] = {}
    if not account_ids or not status_ids:
        return found
    values = {"accounts": list(account_ids), "statuses": list(status_ids)}
    for account_id, status_id, choices in rows_of(_VOTES, values):
        found.setdefault(account_id, {})[status_id] = choices
    return found
