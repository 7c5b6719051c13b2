"""Measures what depends on how many accounts there are: search by the beginning of a name, and following somebody famous.

    python -m benchmarks.accounts [--accounts 1000000] [--searches 400] [--follows 50] [--plans]

It starts PostgreSQL and Valkey of its own in a temporary directory, fills the tables by COPY with the same accounts every
time, and asks the API in this process, so that a figure is the work of one request with its statements. Prefixes of one to
eight letters are taken from names and words of generated accounts, as somebody types them. Prints times, CPU milliseconds
of this process and of PostgreSQL, and with `--plans` the plans of the slowest searches with their buffers. The exit code is
1 when the 95th percentile of searches is above 50 ms, or following an account of 100,000 followers costs more than one and a
half times the CPU of following one of ten.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.measuring import Processor, literal, measure, show_plans, start, stop

SEARCH_P95_MS: Final = 50.0
FOLLOW_RATIO: Final = 1.5
FAMOUS, KNOWN = 100_000, 10
FIRST_ID: Final = 1_000_000
SERVERS: Final = 20_000
_GIVEN = """
mary john maria james anna peter linda robert sarah michael laura david julia thomas emma daniel lisa paul nina mark marta
stefan elena martin sophie george alice henry clara louis hanna oscar ida felix mila jonas ella lukas marie leon johanna
simon lena tim eva max jan ines pablo carlos lucia diego carmen jose ana pedro rosa yuki hiroshi kenji mei wei li chen aisha
omar fatima ali layla hassan noor ivan olga dmitri natasha sven astrid lars freya nils ingrid bjorn
"""
_SYLLABLES = """
ba be bo da de do fa fe ga go ha he ka ke ko la le li lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te to va vi wa
we za zo
"""
_WORDS = "cat dog tea code art music rail bike moon star fox bird book game photo night paper river stone cloud"
GIVEN, SYLLABLES, WORDS = _GIVEN.split(), _SYLLABLES.split(), _WORDS.split()


@dataclass(frozen=True)
class Person:
    """A generated account."""

    username: str
    domain: str
    display_name: str


def people(count: int) -> Iterator[Person]:
    """The same ones every time; common names are common."""
    chance = random.Random(1)
    popularity = [1 / (place + 1) ** 0.7 for place in range(len(GIVEN))]
    sizes = [1 / (place + 1) for place in range(SERVERS)]
    given = chance.choices(GIVEN, popularity, k=count)
    servers = chance.choices(range(SERVERS), sizes, k=count)
    for number in range(count):
        family = "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))
        word = chance.choice(WORDS)
        # The number keeps addresses apart, as people do when a name is taken.
        username = (
            f"{given[number]}{number}",
            f"{given[number]}_{family}{number}",
            f"{family}{number}",
            f"{word}{number}",
        )[chance.randrange(4)]
        display = ("", f"{given[number].title()} {family.title()}", f"{word.title()} {given[number].title()}", family)[
            chance.choices(range(4), (2, 5, 2, 1))[0]
        ]
        yield Person(username, f"server{servers[number]}.example", display)


def fill(count: int) -> None:
    """Accounts and their counters: one COPY of what differs, the rest from the columns' defaults."""
    from django.db import connection

    from accounts.models import Account

    values = {
        field.column: "'{}'" if field.get_internal_type() == "ArrayField" else literal(field.get_default())
        for field in Account._meta.concrete_fields
        if not field.null and not field.primary_key
    }
    values |= {
        "id": f"{FIRST_ID} + number",
        "username": "username",
        "domain": "domain",
        "display_name": "display_name",
        "uri": "'https://' || domain || '/users/' || number",
        "inbox_url": "'https://' || domain || '/inbox'",
        "created_at": "now()",
        "discoverable": "true",
    }
    chance = random.Random(2)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE generated (number int, username text, domain text, display_name text, followers int)"
        )
        with cursor.copy("COPY generated FROM STDIN") as rows:
            for number, person in enumerate(people(count)):
                followers = int(chance.paretovariate(0.9)) - 1 if number % 5 == 0 else 0
                rows.write_row((number, person.username, person.domain, person.display_name, min(followers, FAMOUS)))
        cursor.execute(
            f"INSERT INTO accounts_account ({', '.join(values)}) SELECT {', '.join(values.values())} FROM generated"
        )
        cursor.execute(
            "INSERT INTO accounts_accountstat (account_id, statuses_count, following_count, followers_count) "
            "SELECT %s + number, 0, 0, followers FROM generated",
            [FIRST_ID],
        )
        cursor.execute("VACUUM ANALYZE accounts_account, accounts_accountstat")


def prefixes(count: int, searches: int) -> list[str]:
    """What somebody types: one to eight letters of names and words of random accounts."""
    chance = random.Random(3)
    every = max(1, count // 5000)
    sample = [person for number, person in enumerate(people(count)) if number % every == 0]
    found = []
    for number in range(searches):
        person = chance.choice(sample)
        text = chance.choice([person.username, *person.display_name.lower().split()])
        found.append(text[: number % 8 + 1])
    return found


def search(processor: Processor, count: int, searches: int, plans: bool) -> bool:
    """Search as a signed-in person does, who follows two hundred accounts; whether it is quick enough."""
    from accounts.models import Account, Follow
    from tests.factories.accounts import make_token, make_user
    from tests.support.client import Api

    reader = make_user("reader")
    chance = random.Random(4)
    Follow.objects.bulk_create(
        Follow(account=reader.account, target_id=FIRST_ID + number) for number in chance.sample(range(count), 200)
    )
    api = Api(make_token(reader))

    def ask(text: str) -> Callable[[], object]:
        def call() -> object:
            answer = api.get("/api/v1/accounts/search", {"q": text, "limit": "40"})
            assert answer.status_code == 200, answer.content
            return answer

        return call

    texts = prefixes(count, searches)
    for text in texts[:20]:
        ask(text)()
    cost, took = measure(processor, [ask(text) for text in texts])
    print(f"search among {Account.objects.count():,}: {cost}")
    for length in range(1, 9):
        chosen = sorted(took[length - 1 :: 8])
        print(f"   {length} letters: p50 {statistics.median(chosen):6.1f} ms  worst {chosen[-1]:6.1f} ms")
    if plans:
        slowest = sorted(zip(took, texts, strict=True), reverse=True)[:3]
        for milliseconds, text in slowest:
            print(f"\n{text!r} took {milliseconds:.1f} ms")
            show_plans(ask(text))
    return cost.p95 <= SEARCH_P95_MS


def follow(processor: Processor, follows: int) -> bool:
    """Follow somebody with very many followers, and somebody with few; whether it costs the same."""
    from django.db import connection

    from accounts.models import Account
    from accounts.services.following import FollowChange, follow_account
    from social.kernel.outbox import drain
    from social.queues import QUEUES
    from tests.factories.accounts import make_account

    famous, known = make_account("famous"), make_account("known")
    with connection.cursor() as cursor:
        for account, followers in ((famous, FAMOUS), (known, KNOWN)):
            cursor.execute(
                "INSERT INTO accounts_follow (account_id, target_id, show_reblogs, notify, created_at, follower_state) "
                "SELECT id, %s, true, false, now(), 'active' FROM accounts_account"
                " WHERE domain IS NOT NULL ORDER BY id LIMIT %s",
                [account.id, followers],
            )
            cursor.execute(
                "UPDATE accounts_accountstat SET followers_count = %s WHERE account_id = %s", [followers, account.id]
            )
        cursor.execute("VACUUM ANALYZE accounts_follow")
    people = [make_account(f"follower{number}") for number in range(2 * follows + 2)]

    def work() -> None:
        while sum(drain(queue) for queue in QUEUES):
            pass

    def call(account: Account, target: Account) -> Callable[[], object]:
        def run() -> None:
            follow_account(account=account, target=target, change=FollowChange())
            work()

        return run

    work()
    for target in (famous, known):
        call(people.pop(), target)()
    costs = {}
    for name, target in (("100,000", famous), ("10", known)):
        costs[name], _took = measure(processor, [call(people.pop(), target) for _number in range(follows)])
        print(f"follow one of {name:>7} followers, reactions included: {costs[name]}")
    total = {name: cost.own_cpu + cost.database_cpu for name, cost in costs.items()}
    return total["100,000"] <= FOLLOW_RATIO * total["10"]


def main() -> int:
    """Fill, search, follow; 1 when one of the two is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--follows", type=int, default=50)
    parser.add_argument("--plans", action="store_true", help="print the plans of the three slowest searches")
    options = parser.parse_args()
    embedded, folder = start()
    try:
        began = time.perf_counter()
        fill(options.accounts)
        print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
        processor = Processor(embedded.processes["postgres"].pid)
        quick = search(processor, options.accounts, options.searches, options.plans)
        flat = follow(processor, options.follows)
        return 0 if quick and flat else 1
    finally:
        stop(embedded, folder)


if __name__ == "__main__":
    sys.exit(main())
