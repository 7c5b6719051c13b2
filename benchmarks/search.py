"""Measures full-text search of posts: `GET /api/v2/search?type=statuses` as clients ask it.

    python -m benchmarks.search [--posts 1000000] [--searches 400] [--plans]

It starts PostgreSQL and Valkey of its own in a temporary directory, fills the tables with the same posts every time (a
hundredth of them, a tenth, all: of the same year), and asks the API in this process after each step, so that a figure is the
work of one request with its statements. The posts are of the last year and of 5,000 authors, of whom a third let everybody
find theirs; they have one of 100,000 texts, whose words are as common as in any language (Zipf), and one in ten is Chinese.
The searcher has written one in 500, likes 5,000 and blocks 200 people. Prints times, CPU milliseconds and buffers by kind
of query, and the sizes of table and index; writes the CPU milliseconds against the number of posts to
`results/search.svg`. The exit code is 1 when the 95th percentile of all searches among all posts is above 150 ms.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.measuring import Processor, count_buffers, literal, measure, show_plans, start, stop
from benchmarks.plots import draw

SEARCH_P95_MS: Final = 150.0
AUTHORS: Final = 5_000
OWN_POSTS: Final = 2_000
LIKED: Final = 5_000
BLOCKED: Final = 200
FIRST_AUTHOR: Final = 1_000_000
VOCABULARY: Final = 50_000
TEXTS: Final = 100_000
_SYLLABLES: Final = [consonant + vowel for consonant in "bdfghklmnprs" for vowel in "aeo"]
_HAN: Final = (
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后"
    "小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长"
)
_OPERATORS: Final = (
    "{0} has:media -is:reply",
    "{0} -has:media is:reply has:link",
    "{0} after:2026-06-01",
    "{0} before:2026-03-01",
    "{0} during:2026-05-01",
    "{0} language:en -language:de",
    "{0} from:me",
    "{0} from:author999@server.example has:link",
    "{0} in:library",
    "{0} in:public -from:author999@server.example",
    "{0} -{1}",
    '"{0} {1}" {1}',
)
_QUERIES: Final = (
    "from:me",
    "in:library",
    "from:author{0}@server.example",
    "has:media after:2026-01-01",
    "during:2026-05-01",
)
_YEAR_MS: Final = int(timedelta(days=365) / timedelta(milliseconds=1))


def vocabulary() -> list[str]:
    """The words, the most common first."""
    chance = random.Random(5)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4)))] = None
    return list(found)


def texts(count: int) -> Iterator[str]:
    """The same ones every time."""
    chance = random.Random(6)
    words = vocabulary()
    limits, total = [], 0.0
    for place in range(VOCABULARY):
        total += 1 / (place + 1)
        limits.append(total)
    for number in range(count):
        if number % 10 == 9:
            yield "".join(chance.choices(_HAN, k=chance.randint(10, 80)))
        else:
            yield " ".join(chance.choices(words, cum_weights=limits, k=chance.randint(5, 40)))


def fill_texts(count: int) -> None:
    """The texts and their vectors, from which posts are made, and the authors."""
    from django.db import connection

    from accounts.models import Account
    from timelines.services.postgres_index import vector_of
    from timelines.services.search_index import Document

    Account.objects.bulk_create(
        (
            Account(
                id=FIRST_AUTHOR + number,
                username=f"author{number}",
                domain="server.example",
                uri=f"https://server.example/users/{number}",
                url="https://server.example/",
                indexable=number % 3 == 0,
            )
            for number in range(AUTHORS)
        ),
        batch_size=1000,
    )
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE texts (number int PRIMARY KEY, text text, words tsvector)")
        with cursor.copy("COPY texts FROM STDIN") as rows:
            # Of a document about nothing there is nothing but its marks, which each post gets of its own.
            marks = len(vector_of(Document(0, 0, "")))
            for number, text in enumerate(texts(count)):
                rows.write_row((number, text, vector_of(Document(0, 0, text))[:-marks]))


def fill_posts(numbers: Sequence[int], count: int, reader_id: int) -> None:
    """The posts of these numbers, of `count` in a year, and their documents."""
    from django.db import connection

    from social.kernel.ids import first_at
    from statuses.models import Status
    from timelines.policies.search_query import Fact
    from timelines.services.postgres_index import vector_of
    from timelines.services.search_index import Document

    shares = ((Fact.MEDIA, 4), (Fact.REPLY, 3), (Fact.LINK, 6))
    base = first_at(datetime.now(UTC) - timedelta(days=365))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE generated (id bigint, author bigint, mine bool, text int, marks text)")
        with cursor.copy("COPY generated FROM STDIN") as rows:
            for number in numbers:
                chance = random.Random(number)
                status_id = base + (int(number / count * _YEAR_MS) << 16) + number % 65536
                mine = number % max(1, count // OWN_POSTS) == 0
                author = reader_id if mine else FIRST_AUTHOR + chance.randrange(AUTHORS)
                chosen = [fact for fact, share in shares if chance.randrange(share) == 0]
                public = not mine and (author - FIRST_AUTHOR) % 3 == 0
                marks = vector_of(Document(status_id, author, "", frozenset(chosen), "en", listed=True, public=public))
                rows.write_row((status_id, author, mine, chance.randrange(min(TEXTS, count)), marks))
        values = {
            field.column: literal(field.get_default())
            for field in Status._meta.concrete_fields
            if not field.null and not field.primary_key and field.column != "account_id"
        }
        values |= {
            "id": "id",
            "account_id": "author",
            "text": "texts.text",
            "content": "'<p>' || texts.text || '</p>'",
            "local": "mine",
            "uri": "CASE WHEN mine THEN NULL ELSE 'https://server.example/s/' || id END",
            "created_at": "to_timestamp((id >> 16) / 1000.0)",
            "language": "'en'",
        }
        # The rows are consistent; asking for each costs more than writing them.
        cursor.execute("SET session_replication_role = replica")
        source = "FROM generated JOIN texts ON texts.number = generated.text ORDER BY id"
        cursor.execute(
            f"INSERT INTO statuses_status ({', '.join(values)}) SELECT {', '.join(values.values())} {source}"
        )
        cursor.execute(
            f"INSERT INTO timelines_searchdocument (status_id, words) SELECT id, words || marks::tsvector {source}"
        )
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("DROP TABLE generated")
        cursor.execute("VACUUM ANALYZE statuses_status, timelines_searchdocument")


def fill_relations(reader_id: int) -> None:
    """What the searcher has to do with posts and people."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO statuses_favourite (account_id, status_id, created_at)"
            " SELECT %s, id, now() FROM statuses_status WHERE NOT local ORDER BY hashint8(id) LIMIT %s",
            [reader_id, LIKED],
        )
        cursor.execute(
            "INSERT INTO accounts_block (account_id, target_id, created_at)"
            " SELECT %s, id, now() FROM accounts_account WHERE id >= %s ORDER BY id LIMIT %s",
            [reader_id, FIRST_AUTHOR, BLOCKED],
        )
        cursor.execute("VACUUM ANALYZE statuses_favourite, accounts_block")


def describe_sizes(posts: int) -> str:
    """How large the tables and the index are."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_table_size('timelines_searchdocument'), pg_relation_size('timelines_document_words'),"
            " pg_table_size('statuses_status')"
        )
        table, index, itself = (size / 2**20 for size in cursor.fetchone())
    each = index * 2**20 / posts
    return (
        f"documents {table:,.0f} MiB, their index {index:,.0f} MiB ({each:,.0f} bytes a post), posts {itself:,.0f} MiB"
    )


def queries(searches: int) -> dict[str, list[str]]:
    """What is asked for, by kind."""
    chance = random.Random(8)
    words = vocabulary()
    each = max(1, searches // 10)

    def word(first: int, last: int) -> str:
        return words[chance.randrange(first, last)]

    return {
        "most common words": [word(0, 10) for _ in range(each)],
        "common words": [word(10, 500) for _ in range(each)],
        "rare words": [word(500, VOCABULARY) for _ in range(each)],
        "two words": [f"{word(0, 200)} {word(0, 5000)}" for _ in range(each)],
        "phrases": [f'"{word(0, 50)} {word(0, 500)}"' for _ in range(each)],
        "pairs of characters": ["".join(chance.choices(_HAN, k=chance.randint(2, 3))) for _ in range(each)],
        "single characters": [chance.choice(_HAN) for _ in range(each)],
        "in every second post": [word(0, 3) for _ in range(each)],
        "operators": [
            _OPERATORS[number % len(_OPERATORS)].format(word(0, 100), word(0, 5000)) for number in range(each)
        ],
        "operators, no words": [
            _QUERIES[number % len(_QUERIES)].format(chance.randrange(0, AUTHORS, 3)) for number in range(each)
        ],
    }


def main() -> int:
    """Fill and search; 1 when it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--plans", action="store_true", help="print the plans of the three slowest searches")
    options = parser.parse_args()
    embedded, folder = start()
    try:
        from tests.factories.accounts import make_token, make_user
        from tests.support.client import Api

        reader = make_user("reader")
        api = Api(make_token(reader))

        def ask(text: str) -> Callable[[], object]:
            def call() -> object:
                answer = api.get("/api/v2/search", {"q": text, "type": "statuses"})
                assert answer.status_code == 200, answer.content
                return answer

            return call

        processor = Processor(embedded.processes["postgres"].pid)
        lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
        p95 = 0.0
        began = time.perf_counter()
        fill_texts(min(TEXTS, options.posts))
        print(f"{min(TEXTS, options.posts):,} texts in {time.perf_counter() - began:.0f} s", flush=True)
        sizes = sorted({options.posts // 100, options.posts // 10, options.posts})
        filled: set[int] = set()
        for size in sizes:
            began = time.perf_counter()
            numbers = [number for number in range(0, options.posts, options.posts // size) if number not in filled]
            filled.update(numbers)
            fill_posts(numbers, options.posts, reader.account_id)
            if size == sizes[0]:
                fill_relations(reader.account_id)
            print(
                f"\n{size:,} posts, filled in {time.perf_counter() - began:.0f} s; {describe_sizes(size)}", flush=True
            )
            everything: list[tuple[float, str]] = []
            for kind, chosen in queries(options.searches).items():
                ask(chosen[0])()
                cost, took = measure(processor, [ask(text) for text in chosen])
                buffers = statistics.median(count_buffers(ask(text)) for text in chosen[:5])
                print(f"{kind:>20}: {cost}  {buffers:,.0f} buffers", flush=True)
                lines[kind].append((size, cost.cpu))
                everything += zip(took, chosen, strict=True)
            ordered = sorted(milliseconds for milliseconds, _text in everything)
            p95 = ordered[int((len(ordered) - 1) * 0.95)]
            print(
                f"{'all':>20}: p50 {statistics.median(ordered):6.1f} ms  p95 {p95:6.1f} ms  worst {ordered[-1]:6.1f} ms"
            )
        print(draw("search", "Search of posts: a page of 20", across="posts", up="CPU ms", lines=lines))
        if options.plans:
            for milliseconds, text in sorted(everything, reverse=True)[:3]:
                print(f"\n{text!r} took {milliseconds:.1f} ms")
                show_plans(ask(text))
        return 0 if p95 <= SEARCH_P95_MS else 1
    finally:
        stop(embedded, folder)


if __name__ == "__main__":
    sys.exit(main())
