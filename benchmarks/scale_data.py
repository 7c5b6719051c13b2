"""Fills the tables for `benchmarks.scale` by SQL, as on a server that has run for years, with the same rows in every run."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.measuring import insert

SERVERS: Final = 2_000
PEOPLE: Final = 2_000
TAGS: Final = 20_000
THREAD: Final = 5_000
FIRST_AUTHOR: Final = 1_000_000
FIRST_PERSON: Final = 5_000_000
FIRST_TAG: Final = 7_000_000
_SPAN: Final = timedelta(days=900)
#: SQL for a pseudo-random number between 0 and 1, derived from an integer.
_HASHED: Final = "((hashint4(({number})::int) + 2147483648::bigint) / 4294967296.0)"
_WORDS: Final = "(ARRAY['coffee','garden','music','train','river','bread','poem','museum'])[1 + ({number}) % 8]"


def skewed(number: str, of: int, power: int) -> str:
    """Return SQL for a pseudo-random index below `of`, derived from the integer expression `number`; low indexes are much
    more frequent.
    """
    return f"floor({of} * power({_HASHED.format(number=number)}, {power}))::int"


class Scale:
    """SQL expressions for ids, times and authors of posts by their number; number 0 is the newest."""

    def __init__(self, posts: int) -> None:
        from social.kernel.ids import first_at

        self.posts = posts
        self.authors = max(4 * THREAD, posts // 11)
        self.newest = first_at(datetime.now(UTC) - timedelta(minutes=1))
        self.step = max(1, int(_SPAN / timedelta(milliseconds=1)) // posts)

    def id(self, number: str) -> str:
        """Return SQL for the id of a post."""
        return f"({self.newest} - ((({number})::bigint * {self.step}) << 16))"

    def moment(self, number: str) -> str:
        """Return SQL for the time of a post."""
        return f"to_timestamp(({self.newest} >> 16) / 1000.0 - ({number})::bigint * {self.step / 1000})"

    def writer(self, number: str) -> str:
        """Return SQL for the remote author of a post; a few accounts write most posts."""
        return f"({FIRST_AUTHOR} + {skewed(number, self.authors, 4)})"

    def author(self, number: str) -> str:
        """Return SQL for the author of a post; every 33rd post has a local author."""
        here = f"{FIRST_PERSON} + {skewed(number, PEOPLE, 3)}"
        return f"(CASE WHEN ({number}) % 33 = 0 THEN {here} ELSE {self.writer(number)} END)"


def fill(posts: int) -> None:
    """Fill the empty tables of a new server, then run VACUUM ANALYZE."""
    from django.db import connection

    scale = Scale(posts)
    with connection.cursor() as cursor:
        # The rows are consistent, and checking foreign keys would take longer than inserting them.
        cursor.execute("SET session_replication_role = replica")
        for part in (_fill_accounts, _fill_relations, _fill_posts, _fill_parts_of_posts, _fill_acts):
            began = time.perf_counter()
            part(scale)
            print(f"  {part.__name__}: {time.perf_counter() - began:.0f} s", flush=True)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")


def _fill_accounts(scale: Scale) -> None:
    from accounts.models import Account, AccountStat, Domain, User

    insert(
        Domain,
        {"name": "'server' || n || '.example'", "first_seen_at": "now()", "software": "'mastodon'"},
        f"generate_series(0, {SERVERS - 1}) n",
    )
    server = f"'server' || {skewed('n + 7', SERVERS, 3)} || '.example'"
    address = "'https://' || domain || '/users/author' || n"
    common = {"discoverable": "n % 10 < 6", "indexable": "n % 3 = 0", "fetched_at": "now()"}
    insert(
        Account,
        common
        | {
            "id": f"{FIRST_AUTHOR} + n",
            "username": "'author' || n",
            "domain": "domain",
            "uri": address,
            "url": address,
            "inbox_url": f"{address} || '/inbox'",
            "display_name": "'Author ' || n || (ARRAY[' garden',' music',' code',''])[1 + n % 4]",
            "suspended_at": "CASE WHEN n % 900 = 23 THEN now() END",
            "suspension_origin": "CASE WHEN n % 900 = 23 THEN 'local' END",
            "created_at": "now() - interval '1 minute' * (n * 13)",
        },
        f"(SELECT n, {server} AS domain FROM generate_series(0, {scale.authors - 1}) n) n",
    )
    people = f"generate_series({FIRST_PERSON}, {FIRST_PERSON + PEOPLE - 1}) n"
    since = f"now() - interval '6 hours' * (n - {FIRST_PERSON})"
    insert(
        Account,
        common | {"id": "n", "username": "'person' || n", "uri": "'https://people.example/' || n", "created_at": since},
        people,
    )
    seen = {"created_at": since, "active_at": since, "activated_at": since}
    insert(User, {"id": "n", "account_id": "n", "email": "'person' || n || '@example.com'"} | seen, people)
    insert(
        AccountStat,
        {
            "account_id": "id",
            "statuses_count": "1 + id % 90",
            "followers_count": f"floor(5000 * power({_HASHED.format(number='id')}, 12))",
            "last_status_at": "now() - interval '1 minute' * (id % 90000)",
        },
        "accounts_account",
    )


def _fill_relations(scale: Scale) -> None:
    from accounts.models import Block, Follow, Mute

    person, author, people = FIRST_PERSON, FIRST_AUTHOR, f"generate_series(0, {PEOPLE - 1}) p"
    # Each local user follows a hundred remote and twenty local accounts, mostly popular ones; the first one follows two
    # thousand more.
    follows = (
        f"SELECT {person} + p AS a, {author} + {skewed('p * 131 + k', scale.authors, 3)} AS b"
        f" FROM {people}, generate_series(1, 100) k"
        f" UNION ALL SELECT {person} + p, {person} + {skewed('p * 37 + k', PEOPLE, 3)} FROM {people}, generate_series(1, 20) k"
        f" UNION ALL SELECT {person}, {author} + {skewed('k', scale.authors, 2)} FROM generate_series(1, 2000) k"
        f" UNION ALL SELECT {author} + k * 3, {person} FROM generate_series(1, {THREAD}) k"
    )
    refused = f"SELECT {person} + p % 50 AS a, {scale.writer('p')} AS b FROM generate_series(1, 5000) p"
    for model, pairs in ((Follow, follows), (Block, refused), (Mute, refused)):
        own = {"account_id": "a", "target_id": "b", "created_at": "now()"}
        if model is Follow:
            own["uri"] = "'https://server.example/follows/' || a || '-' || b"
        insert(model, own, f"(SELECT DISTINCT a, b FROM ({pairs}) p WHERE a <> b) p")


def _fill_posts(scale: Scale) -> None:
    from statuses.models import Status

    # The newest posts form one thread: replies of many accounts to a post of the first local user.
    long, root = f"n < {THREAD}", scale.id(str(THREAD))
    reply, boost = f"({long} OR n % 4 = 3)", f"(n > {THREAD} AND n % 20 IN (1, 13))"
    answered = f"CASE WHEN {long} THEN {root} WHEN {reply} THEN {scale.id('n + 1')} END"
    by = f"CASE WHEN n = {THREAD} THEN {FIRST_PERSON} ELSE {scale.author('n')} END"
    text = f"{_WORDS.format(number='n')} || ' ' || {_WORDS.format(number='n / 7')}"
    insert(
        Status,
        {
            "id": scale.id("n"),
            "account_id": by,
            "content": f"CASE WHEN {boost} THEN '' ELSE '<p>Number ' || n || ' ' || {text} || ', as posts are.</p>' END",
            "local": f"n % 33 = 0 OR n = {THREAD}",
            "uri": f"CASE WHEN n % 33 <> 0 AND n <> {THREAD} THEN 'https://server.example/s/' || {scale.id('n')} END",
            "created_at": scale.moment("n"),
            "language": "(ARRAY['en','de','fr','ja','ar'])[1 + n % 5]",
            "visibility": f"CASE WHEN {long} OR {boost} THEN 'public'"
            " ELSE (ARRAY['public','public','unlisted','public','private','public','direct'])[1 + n % 7] END",
            "in_reply_to_id": answered,
            "in_reply_to_account_id": f"CASE WHEN {long} THEN {FIRST_PERSON} WHEN {reply} THEN {scale.author('n + 1')} END",
            "thread_id": answered,
            "thread_path": f"CASE WHEN {reply} THEN ARRAY[{answered}, {scale.id('n')}] END",
            "reblog_of_id": f"CASE WHEN {boost} THEN {scale.id('(n / 4) * 4 + 4')} END",
            "deleted_at": "CASE WHEN n % 40 = 22 THEN now() - interval '1 hour' END",
        },
        f"generate_series({scale.posts - 1}, 0, -1) n",
    )


def _fill_parts_of_posts(scale: Scale) -> None:
    from accounts.models import Tag
    from statuses.models import MediaAttachment, Mention, StatusStat, StatusTag
    from timelines.models import SearchDocument
    from timelines.services import postgres_index

    number, post = f"generate_series(0, {scale.posts - 1}) n", {"status_id": scale.id("n")}
    insert(
        Tag,
        {"id": f"{FIRST_TAG} + n", "name": "'tag' || n", "display_name": "'Tag' || n", "created_at": "now()"},
        f"generate_series(0, {TAGS - 1}) n",
    )
    # Every fifth post has a hashtag, and every fifteenth has the first hashtag.
    tag = f"CASE WHEN n % 15 = 0 THEN 0 ELSE {skewed('n + 2', TAGS, 4)} END"
    insert(
        StatusTag,
        post | {"tag_id": f"{FIRST_TAG} + {tag}"},
        f"{number} WHERE n % 5 = 0 AND n % 20 NOT IN (1, 13)",
    )
    insert(
        MediaAttachment,
        post
        | {
            "id": scale.id("n"),
            "account_id": scale.author("n"),
            "type": "'image'",
            "content_type": "'image/jpeg'",
            "processing": "'done'",
            "remote_url": "'https://files.example/' || n",
            "created_at": scale.moment("n"),
        },
        f"{number} WHERE n % 10 IN (2, 4) AND n > {THREAD}",
    )
    insert(Mention, post | {"account_id": scale.author("n + 1")}, f"{number} WHERE n % 4 = 3 AND n > {THREAD}")
    insert(StatusStat, post | {"favourites_count": "n % 7", "replies_count": "n % 2"}, f"{number} WHERE n % 3 = 0")
    spans = " || ".join(f"' '':{name}' || ({scale.id('n')} >> {bits}) || ''''" for name, bits in postgres_index._SPANS)
    words = (
        f"to_tsvector('simple', {_WORDS.format(number='n')})::text || ' '':by' || {scale.author('n')} || ''''"
        f" || {spans} || ' ''{postgres_index._LISTED}'' ''{postgres_index._PUBLIC}'''"
    )
    insert(SearchDocument, post | {"words": f"({words})::tsvector"}, f"{number} WHERE n % 4 = 0")


def _fill_acts(scale: Scale) -> None:
    from notifications.models import Notification
    from statuses.models import Bookmark, Favourite

    number = f"(k::bigint * 40 + 7) % {scale.posts}"
    rows = f"generate_series(1, {min(20_000, scale.posts // 40)}) k"
    for model in (Bookmark, Favourite):
        insert(
            model,
            {"account_id": str(FIRST_PERSON), "status_id": scale.id(number), "created_at": scale.moment(number)},
            rows,
        )
    insert(
        Favourite,
        {"account_id": f"{FIRST_AUTHOR} + k", "status_id": scale.id(str(THREAD)), "created_at": "now()"},
        f"generate_series(1, {2 * THREAD}) k",
    )
    insert(
        Notification,
        {
            "id": scale.id("k"),
            "account_id": f"CASE WHEN k % 10 = 0 THEN {FIRST_PERSON} ELSE {FIRST_PERSON} + {skewed('k', PEOPLE, 2)} END",
            "from_account_id": scale.writer("k + 1"),
            "type": "(ARRAY['favourite','mention','reblog','favourite'])[1 + k % 4]",
            "status_id": scale.id("k - k % 33"),
            "cause": "'act:' || k",
            "group_key": "CASE WHEN k % 2 = 0 THEN 'favourite-' || k / 20 END",
            "created_at": scale.moment("k"),
        },
        f"generate_series(1, {min(400_000, scale.posts - 1)}) k",
    )
