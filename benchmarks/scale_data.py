"""The data of `benchmarks.scale`: a server that has run for years, written by SQL in some minutes and the same every time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.measuring import insert, make_people

POSTS: Final = 1_105_577
AUTHORS: Final = 100_000
SERVERS: Final = 2_000
PEOPLE: Final = 2_000
TAGS: Final = 20_000
CARDS: Final = 20_000
THREAD: Final = 5_000
FIRST_AUTHOR: Final = 1_000_000
FIRST_PERSON: Final = 5_000_000
FIRST_TAG: Final = 7_000_000
FIRST_CARD: Final = 8_000_000
_SPAN: Final = timedelta(days=900)

#: The tables that nothing here refers to, but from which everything else can be reached.
_BEGUN: Final = (
    "accounts_account, accounts_domain, accounts_tag, accounts_remotecopy, accounts_auditentry, accounts_customemoji,"
    " moderation_domainrule, statuses_previewcard, timelines_trend"
)

# A number between 0 and 1 that is the same for the same number, and unlike that of the next one.
_HASHED: Final = "((hashint4({number}) + 2147483648::bigint) / 4294967296.0)"


def chance(number: str, of: int) -> str:
    """SQL of one of `of` places, each as likely; `number` is an integer expression."""
    return f"floor({of} * {_HASHED.format(number=number)})::int"


def skewed(number: str, of: int, power: int) -> str:
    """SQL of one of `of` places, the first ones far more likely."""
    return f"floor({of} * power({_HASHED.format(number=number)}, {power}))::int"


class Scale:
    """Ids and times of posts by their number; number 0 is the newest."""

    def __init__(self, posts: int) -> None:
        from social.kernel.ids import first_at

        self.posts = posts
        self.newest = first_at(datetime.now(UTC) - timedelta(minutes=1))
        self.step = max(1, int(_SPAN / timedelta(milliseconds=1)) // posts)

    def id(self, number: str) -> str:
        """SQL of the id of a post."""
        return f"({self.newest} - ((({number})::bigint * {self.step}) << 16))"

    def moment(self, number: str) -> str:
        """SQL of the time of a post."""
        return f"to_timestamp(({self.newest} >> 16) / 1000.0 - ({number})::bigint * {self.step / 1000})"

    def author(self, number: str) -> str:
        """SQL of the author of a post: every 33rd is of a person here."""
        return (
            f"(CASE WHEN ({number}) % 33 = 0 THEN {FIRST_PERSON} + {skewed(number, PEOPLE, 3)}"
            f" ELSE {FIRST_AUTHOR} + {skewed(number, AUTHORS, 4)} END)"
        )


def fill(posts: int = POSTS) -> None:
    """Write everything; not analysed. The tables are those of a new server."""
    from django.db import connection

    scale = Scale(posts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM accounts_domain")
        if cursor.fetchone()[0] >= SERVERS:
            # What was begun and not ended. Not on empty tables: their plans would be forgotten.
            cursor.execute(f"TRUNCATE {_BEGUN} CASCADE")
        # The rows are consistent; asking for each costs more than writing them.
        cursor.execute("SET session_replication_role = replica")
        for part in (_fill_accounts, _fill_relations, _fill_posts, _fill_parts_of_posts, _fill_acts, _fill_staff):
            began = time.perf_counter()
            part(scale)
            print(f"  {part.__name__}: {time.perf_counter() - began:.0f} s", flush=True)
        cursor.execute("SET session_replication_role = DEFAULT")
        for table in ("accounts_account", "statuses_status"):
            cursor.execute(f"SELECT count(*) FROM {table}")
            print(f"  {table}: {cursor.fetchone()[0]:,} rows")


def _fill_accounts(_scale: Scale) -> None:
    from accounts.models import Account, AccountStat, Domain, KeyPair

    insert(
        Domain,
        {
            "name": "'server' || n || '.example'",
            "first_seen_at": "now()",
            "software": "(ARRAY['mastodon','misskey','pleroma','lemmy'])[1 + n % 4]",
            "version": "'4.' || n % 7",
        },
        f"generate_series(0, {SERVERS - 1}) n",
    )
    server = f"'server' || {skewed('n + 7', SERVERS, 3)} || '.example'"
    authors = f"(SELECT n, {server} AS domain FROM generate_series(0, {AUTHORS - 1}) n) n"
    address = "'https://' || domain || '/users/author' || n"
    insert(
        Account,
        {
            "id": f"{FIRST_AUTHOR} + n",
            "username": "'author' || n",
            "domain": "domain",
            "uri": address,
            "url": address,
            "inbox_url": f"{address} || '/inbox'",
            "shared_inbox_url": "'https://' || domain || '/inbox'",
            "followers_url": f"{address} || '/followers'",
            "display_name": "'Author ' || n || (ARRAY[' garden',' music',' code',''])[1 + n % 4]",
            "note_html": "'<p>About number ' || n || ', as long as such a text usually is.</p>'",
            "discoverable": "n % 10 < 6",
            "indexable": "n % 3 = 0",
            "limited_at": "CASE WHEN n % 500 = 17 THEN now() END",
            "suspended_at": "CASE WHEN n % 900 = 23 THEN now() END",
            "suspension_origin": "CASE WHEN n % 900 = 23 THEN 'local' END",
            "fetched_at": "now()",
            "created_at": "now() - interval '1 minute' * (n * 13)",
        },
        authors,
    )
    insert(
        KeyPair,
        {
            "account_id": f"{FIRST_AUTHOR} + n",
            "key_id": "'https://server.example/users/author' || n || '#main-key'",
            "public_key": "repeat('k', 450)",
            "further_keys": "'{}'",
            "created_at": "now()",
        },
        f"generate_series(0, {AUTHORS - 1}) n",
    )
    followers = f"floor(5000 * power({_HASHED.format(number='n + 3')}, 12))"
    insert(
        AccountStat,
        {
            "account_id": f"{FIRST_AUTHOR} + n",
            "statuses_count": "1 + n % 90",
            "following_count": "n % 50",
            "followers_count": followers,
            "last_status_at": f"now() - interval '1 minute' * {chance('n + 5', 900 * 1440)}",
        },
        f"generate_series(0, {AUTHORS - 1}) n",
    )
    make_people(FIRST_PERSON, PEOPLE, name="person", active=True)
    from django.db import connection

    with connection.cursor() as cursor:
        last = f"{FIRST_PERSON + PEOPLE - 1}"
        cursor.execute(
            "UPDATE accounts_account SET discoverable = id % 3 <> 0, indexable = true,"
            f" created_at = now() - interval '6 hours' * (id - {FIRST_PERSON})"
            f" WHERE id BETWEEN {FIRST_PERSON} AND {last}"
        )
        cursor.execute(
            "UPDATE accounts_accountstat SET statuses_count = 15, last_status_at = now() - interval '1 hour' *"
            f" (account_id - {FIRST_PERSON}), followers_count = account_id % 90"
            f" WHERE account_id BETWEEN {FIRST_PERSON} AND {last}"
        )
        # Seen on many days; the last of them is one of the last ninety.
        cursor.execute(
            f"UPDATE accounts_user SET active_at = now() - interval '1 hour' * (id % 2160), locale = 'en',"
            f" created_at = now() - interval '6 hours' * (id - {FIRST_PERSON}) WHERE id BETWEEN {FIRST_PERSON} AND {last}"
        )


def _fill_relations(_scale: Scale) -> None:
    from accounts.models import AccountDomainBlock, Block, Follow, Mute, TagFollow

    def pairs(model: type, source: str, **more: str) -> None:
        own = {"account_id": "a", "target_id": "b", "created_at": "now()"} | more
        insert(model, own, f"(SELECT DISTINCT a, b FROM ({source}) p WHERE a <> b) p")

    person, author = f"{FIRST_PERSON}", f"{FIRST_AUTHOR}"
    follow = (
        # Everybody follows a hundred, those most who are followed by many; the first person two thousand.
        f"SELECT {person} + p AS a, {author} + {skewed('p * 131 + k', AUTHORS, 3)} AS b"
        f" FROM generate_series(0, {PEOPLE - 1}) p, generate_series(1, 100) k"
        f" UNION ALL SELECT {person} + p, {person} + {skewed('p * 37 + k', PEOPLE, 3)}"
        f" FROM generate_series(0, {PEOPLE - 1}) p, generate_series(1, 20) k"
        f" UNION ALL SELECT {person}, {author} + {skewed('k', AUTHORS, 2)} FROM generate_series(1, 2000) k"
        # People elsewhere follow people here; five thousand the first.
        f" UNION ALL SELECT {author} + {skewed('k + 11', AUTHORS, 2)}, {person} + {skewed('k * 3', PEOPLE, 4)}"
        " FROM generate_series(1, 100000) k"
        f" UNION ALL SELECT {author} + k * 3, {person} FROM generate_series(1, 5000) k"
    )
    pairs(Follow, follow, uri="'https://server.example/follows/' || a || '-' || b")
    pairs(
        Block, f"SELECT {person} + p % 50 AS a, {author} + {chance('p', AUTHORS)} AS b FROM generate_series(1, 5000) p"
    )
    pairs(
        Mute, f"SELECT {person} + p % 50 AS a, {author} + {chance('p', AUTHORS)} AS b FROM generate_series(1, 5000) p"
    )
    insert(
        AccountDomainBlock,
        {"account_id": person, "domain": "'server' || n || '.example'", "created_at": "now()"},
        "generate_series(1900, 1949) n",
    )
    insert(
        TagFollow,
        {"account_id": f"{person} + n % 500", "tag_id": f"{FIRST_TAG} + n", "created_at": "now()"},
        "generate_series(1, 2000) n",
    )


def _fill_posts(scale: Scale) -> None:
    from statuses.models import Status

    reply, boost = "n % 4 = 3", "n % 20 IN (1, 13)"
    words = "(ARRAY['coffee','garden','music','train','river','bread','poem','museum'])[1 + (n / {0}) % 8]"
    text = " || ' ' || ".join(words.format(number) for number in (1, 3, 7))
    visibility = _HASHED.format(number="n + 1")
    insert(
        Status,
        {
            "id": scale.id("n"),
            "account_id": scale.author("n"),
            "content": f"CASE WHEN {boost} THEN '' ELSE '<p>Number ' || n || ' ' || {text} || ', as posts are.</p>' END",
            "local": "n % 33 = 0",
            "uri": f"CASE WHEN n % 33 <> 0 THEN 'https://server.example/s/' || {scale.id('n')} END",
            "created_at": scale.moment("n"),
            "language": f"CASE WHEN n % 1000 = 17 THEN 'eu' ELSE (ARRAY['en','de','fr','ja','ar'])[1 + {chance('n', 5)}] END",
            "visibility": f"CASE WHEN {boost} OR {visibility} < 0.75 THEN 'public' WHEN {visibility} < 0.9 THEN 'unlisted'"
            f" WHEN {visibility} < 0.98 THEN 'private' ELSE 'direct' END",
            "in_reply_to_id": f"CASE WHEN {reply} THEN {scale.id('n + 1')} END",
            "in_reply_to_account_id": f"CASE WHEN {reply} THEN {scale.author('n + 1')} END",
            "thread_id": f"CASE WHEN {reply} THEN {scale.id('n + 1')} END",
            "thread_path": f"CASE WHEN {reply} THEN ARRAY[{scale.id('n + 1')}, {scale.id('n')}] END",
            "reblog_of_id": f"CASE WHEN {boost} THEN {scale.id('(n / 4) * 4 + 4')} END",
            "edited_at": "CASE WHEN n % 200 = 0 THEN now() END",
            "deleted_at": "CASE WHEN n % 40 = 22 THEN now() - interval '1 hour' END",
        },
        f"generate_series({scale.posts - 1}, {THREAD + 1}, -1) n",
    )
    # The newest posts are a thread: answers of many to the first person.
    root = scale.id(str(THREAD))
    insert(
        Status,
        {
            "id": scale.id("n"),
            "account_id": f"CASE WHEN n = {THREAD} THEN {FIRST_PERSON} ELSE {FIRST_AUTHOR} + {skewed('n', AUTHORS, 2)} END",
            "content": "'<p>Answer ' || n || ' in a long thread of many answers, as long as they are.</p>'",
            "local": f"n = {THREAD}",
            "uri": f"CASE WHEN n <> {THREAD} THEN 'https://server.example/s/' || {scale.id('n')} END",
            "created_at": scale.moment("n"),
            "language": "'en'",
            "visibility": "'public'",
            "in_reply_to_id": f"CASE WHEN n <> {THREAD} THEN {root} END",
            "in_reply_to_account_id": f"CASE WHEN n <> {THREAD} THEN {FIRST_PERSON} END",
            "thread_id": f"CASE WHEN n <> {THREAD} THEN {root} END",
            "thread_path": f"CASE WHEN n <> {THREAD} THEN ARRAY[{root}, {scale.id('n')}] END",
        },
        f"generate_series({THREAD}, 0, -1) n",
    )


def _fill_parts_of_posts(scale: Scale) -> None:
    from accounts.models import Tag, TagUse
    from statuses.models import MediaAttachment, Mention, Poll, PollVote, PreviewCard, StatusCard, StatusStat, StatusTag
    from timelines.models import SearchDocument
    from timelines.services import postgres_index

    number = f"generate_series(0, {scale.posts - 1}) n"
    insert(
        Tag,
        {"id": f"{FIRST_TAG} + n", "name": "'tag' || n", "display_name": "'Tag' || n", "created_at": "now()"},
        f"generate_series(0, {TAGS - 1}) n",
    )
    # A fifth of the posts has a hashtag, of these a third the first one, and half of them a second one.
    one = f"CASE WHEN n % 15 = 0 THEN 0 ELSE {skewed('n + 2', TAGS, 4)} END"
    for which, tag in (("n % 5 = 0", one), ("n % 10 = 0", f"1 + {skewed('n + 4', TAGS - 1, 4)}")):
        insert(
            StatusTag,
            {"status_id": scale.id("n"), "tag_id": f"{FIRST_TAG} + tag"} | _author_if_kept(StatusTag, scale),
            f"(SELECT n, {tag} AS tag FROM {number} WHERE {which} AND n % 20 NOT IN (1, 13)) n"
            + ("" if tag == one else f" WHERE tag <> {one}"),
        )
    insert(
        TagUse,
        {
            "tag_id": f"{FIRST_TAG} + tag",
            "day": "current_date - n % 8",
            "account_id": f"{FIRST_AUTHOR} + n",
            "uses": "1",
        },
        f"(SELECT n, {skewed('n', TAGS, 4)} AS tag FROM generate_series(1, 50000) n) n",
    )
    insert(
        MediaAttachment,
        {
            "id": scale.id("n"),
            "account_id": scale.author("n"),
            "status_id": scale.id("n"),
            "type": "'image'",
            "content_type": "'image/jpeg'",
            "processing": "'done'",
            "remote_url": "'https://files.example/' || n",
            "meta": "'{}'",
            "created_at": scale.moment("n"),
        },
        f"{number} WHERE n % 10 IN (2, 4) AND n > {THREAD}",
    )
    insert(
        Mention,
        {"status_id": scale.id("n"), "account_id": scale.author("n + 1")},
        f"{number} WHERE n % 4 = 3 AND n > {THREAD}",
    )
    insert(
        StatusStat,
        {"status_id": scale.id("n"), "favourites_count": "n % 7", "reblogs_count": "n % 3", "replies_count": "n % 2"},
        f"{number} WHERE n % 3 = 0",
    )
    insert(
        PreviewCard,
        {
            "id": f"{FIRST_CARD} + n",
            "url": "'https://news' || n % 900 || '.example/' || n",
            "host": "'news' || n % 900 || '.example'",
            "type": "'link'",
            "title": "'An article, number ' || n",
            "fetched_at": "now()",
            "created_at": "now()",
        },
        f"generate_series(0, {CARDS - 1}) n",
    )
    insert(
        StatusCard,
        {
            "status_id": scale.id("n"),
            "card_id": f"{FIRST_CARD} + {skewed('n', CARDS, 4)}",
            "url": "'https://news.example/'",
        },
        f"{number} WHERE n % 14 = 2",
    )
    insert(
        Poll,
        {
            "id": scale.id("n"),
            "status_id": scale.id("n"),
            "options": "'{one,two}'",
            "tallies": "'{3,4}'",
            "created_at": "now()",
        },
        f"{number} WHERE n % 100 = 6",
    )
    insert(
        PollVote,
        {
            "poll_id": scale.id("n"),
            "account_id": f"{FIRST_PERSON} + n % {PEOPLE}",
            "choice": "0",
            "created_at": "now()",
        },
        f"{number} WHERE n % 100 = 6",
    )
    marks = " || ".join(f"' '':{name}' || ({scale.id('n')} >> {bits}) || ''''" for name, bits in postgres_index._SPANS)
    words = (
        "to_tsvector('simple', (ARRAY['coffee','garden','music','train','river','bread','poem','museum'])[1 + n % 8]"
        " || ' number ' || n)::text || ' '':by' || " + scale.author("n") + " || '''' || " + marks
    )
    listed = f"' ''{postgres_index._LISTED}'' ''{postgres_index._PUBLIC}'''"
    insert(
        SearchDocument,
        {"status_id": scale.id("n"), "words": f"({words} || {listed})::tsvector"},
        f"{number} WHERE n % 4 = 0",
    )


def _author_if_kept(model: Any, scale: Scale) -> Mapping[str, str]:
    """The author of a post, where its hashtags keep it."""
    names = {field.column for field in model._meta.concrete_fields}
    return {"account_id": scale.author("n")} if "account_id" in names else {}


def _fill_acts(scale: Scale) -> None:
    from notifications.models import Notification
    from statuses.models import Bookmark, Favourite
    from timelines.models import Trend

    people, first = f"{FIRST_PERSON + 1} + k % {PEOPLE - 1}", str(FIRST_PERSON)
    place = chance("k", scale.posts)
    insert(
        Favourite,
        {"account_id": people, "status_id": scale.id("p"), "created_at": scale.moment("p")},
        f"(SELECT DISTINCT ON (p, k % {PEOPLE - 1}) k, p FROM (SELECT k, {place} AS p FROM generate_series(1, 300000) k) x) x",
    )
    insert(
        Favourite,
        {"account_id": f"{FIRST_AUTHOR} + k", "status_id": scale.id("0"), "created_at": "now()"},
        "generate_series(1, 20000) k",
    )
    for model in (Bookmark, Favourite):
        insert(
            model,
            {"account_id": first, "status_id": scale.id("k * 40 + 7"), "created_at": scale.moment("k * 40 + 7")},
            "generate_series(1, 20000) k",
        )
    insert(
        Notification,
        {
            "id": scale.id("k"),
            "account_id": f"CASE WHEN k % 10 = 0 THEN {first} ELSE {FIRST_PERSON} + {skewed('k', PEOPLE, 2)} END",
            "from_account_id": f"{FIRST_AUTHOR} + {skewed('k + 1', AUTHORS, 3)}",
            "type": "(ARRAY['favourite','mention','reblog','favourite'])[1 + k % 4]",
            "status_id": scale.id("k - k % 33"),
            "cause": "'act:' || k",
            "group_key": "CASE WHEN k % 2 = 0 THEN 'favourite-' || k / 20 END",
            "created_at": scale.moment("k"),
        },
        "generate_series(1, 400000) k",
    )
    for kind, first_id in (("tag", FIRST_TAG), ("link", FIRST_CARD)):
        insert(
            Trend,
            {"kind": f"'{kind}'", "object_id": f"{first_id} + n", "score": "n", "peak": "n", "peak_at": "now()"},
            "generate_series(0, 199) n",
        )
    insert(
        Trend,
        {"kind": "'status'", "object_id": scale.id("n * 4"), "score": "n", "peak": "n", "peak_at": "now()"},
        "generate_series(100, 400) n",
    )


def _fill_staff(_scale: Scale) -> None:
    from accounts.models import AuditEntry, CustomEmoji, RemoteCopy
    from federation.models import Delivery, InboundActivity, OutboundActivity
    from moderation.models import DomainRule, Report, Strike

    author = f"{FIRST_AUTHOR} + {skewed('n', AUTHORS, 2)}"
    common = {"target_account_id": author, "created_at": "now() - interval '3 hours' * n"}
    done = "CASE WHEN n % 10 > 0 THEN now() END"
    insert(
        Report,
        common
        | {
            "account_id": f"{FIRST_PERSON} + n % {PEOPLE}",
            "category": "'spam'",
            "comment": "'Number ' || n",
            "action_taken_at": done,
            "updated_at": "now()",
        },
        "generate_series(1, 5000) n",
    )
    insert(Strike, common | {"action": "'silence'", "text": "'Number ' || n"}, "generate_series(1, 3000) n")
    insert(
        AuditEntry,
        {
            "account_id": str(FIRST_PERSON),
            "account_name": "'person'",
            "action": "(ARRAY['suspend','limit','delete'])[1 + n % 3]",
            "target_type": "'Account'",
            "target_id": author,
            "target_name": "'@author' || n",
            "details": "'{}'",
            "created_at": "now() - interval '10 minutes' * n",
        },
        "generate_series(1, 100000) n",
    )
    insert(
        DomainRule,
        {"domain": "'server' || n || '.example'", "severity": "'silence'", "created_at": "now()"},
        "generate_series(1500, 1899) n",
    )
    insert(
        CustomEmoji,
        {"shortcode": "'emoji' || n", "domain": "'server' || n % 2000 || '.example'", "updated_at": "now()"},
        "generate_series(1, 20000) n",
    )
    insert(
        RemoteCopy,
        {
            "digest": "encode(sha256(n::text::bytea), 'hex')",
            "purpose": "'attachment'",
            "url": "'https://files.example/' || n",
            "host": "'files.example'",
            "state": "'ready'",
            "measured": "'{}'",
            "requested_at": "now()",
            "served_at": "now() - interval '1 minute' * n",
        },
        "generate_series(1, 100000) n",
    )
    insert(
        OutboundActivity,
        {
            "id": "n",
            "account_id": f"{FIRST_PERSON} + n % {PEOPLE}",
            "type": "'Create'",
            "uri": "'https://here.example/a/' || n",
            "created_at": "now()",
        },
        "generate_series(1, 5000) n",
    )
    insert(
        Delivery,
        {
            "due_at": "now() + interval '1 hour'",
            "created_at": "now()",
            "host": f"'server' || {skewed('n', SERVERS, 2)} || '.example'",
            "activity_id": "1 + n % 5000",
            "inbox_url": "'https://server' || n || '.example/inbox'",
            "key": "n::text",
        },
        "generate_series(1, 50000) n",
    )
    insert(
        InboundActivity,
        {
            "fingerprint": "encode(sha256(n::text::bytea), 'hex')",
            "actor_id": author,
            "type": "'Create'",
            "uri": "'https://server.example/in/' || n",
            "body": "'{}'",
            "host": "'server.example'",
            "received_at": "now() - interval '1 second' * n",
            "processed_at": "now()",
        },
        "generate_series(1, 100000) n",
    )
