"""Measures lists of notifications in three inboxes: `GET /api/v1/notifications`, `GET /api/v2/notifications` and its parts.

    python -m benchmarks.notifications [--group 100000] [--rows 1000000] [--requests 50] [--plans KIND]

It starts PostgreSQL and Valkey of its own in a temporary directory and asks the API in this process, so that a figure is the
work of one request with its statements. An ordinary inbox has 50 notifications: 20 mentions, and 30 favourites of three
posts. It is measured while the tables hold nothing else, and again beside the others: the second is headed by 100,000
favourites of one post within twelve hours, with an ordinary inbox below them; the third has 1,000,000 notifications of a year,
one in five a mention, the others favourites of posts that have twenty each. Each kind of request is warmed up until PostgreSQL
has its general plan. The exit code is 1 when a 95th percentile is above 100 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.measuring import Cost, Processor, count_buffers, insert, measure, show_plans, start, stop

P95_MS: Final = 100.0
SENDERS: Final = 100_000
FIRST_SENDER: Final = 1_000_000
GROUP_SECONDS: Final = 12 * 3600
ORDINARY_MENTIONS, ORDINARY_POSTS, ORDINARY_FAVOURITES = 20, 3, 10
KINDS: Final = {
    "v1": "/api/v1/notifications",
    "v2": "/api/v2/notifications",
    "v2, below the middle": "/api/v2/notifications?max_id={middle}",
    "v2, mentions": "/api/v2/notifications?types[]=mention",
    "v2, all but follows": "/api/v2/notifications?exclude_types[]=follow",
    "v2, count": "/api/v2/notifications/unread_count",
    "v2, group": "/api/v2/notifications/{group}",
    "v2, accounts of it": "/api/v2/notifications/{group}/accounts",
}


def fill_people() -> None:
    """The people who do what others are notified of."""
    from accounts.models import Account, AccountStat

    numbers = f"generate_series({FIRST_SENDER}, {FIRST_SENDER + SENDERS - 1}) n"
    uri = "'https://server.example/users/' || n"
    insert(
        Account,
        {"id": "n", "username": "'p' || n", "domain": "'server.example'", "uri": uri, "created_at": "now()"},
        numbers,
    )
    insert(AccountStat, {"account_id": "n"}, numbers)


def fill(account_id: int, *, newest: int, count: int, step: int, group_size: int, mentions: int) -> None:
    """Notifications number 0 to `count` - 1, each `step` milliseconds older than the one before. One in `mentions` is a
    mention, in a post of its own (0: none); of the others each `group_size` in a row are favourites of one post.
    """
    from django.db import connection

    from notifications.models import Notification
    from statuses.models import Status

    numbers = f"generate_series(0, {count - 1}) n"
    at = f"({newest} - ((n::bigint * {step}) << 16))"
    mention = f"n % {mentions} = 0" if mentions else "false"
    # Posts have the place of the first notification of theirs, one beside it.
    first = f"{newest} - (((n / {group_size} * {group_size})::bigint * {step}) << 16)"
    post = f"(CASE WHEN {mention} THEN {at} ELSE {first} END + 1)"
    bucket = f"(extract(epoch from to_timestamp(({newest} >> 16) / 1000.0))::bigint / {GROUP_SECONDS})"
    author = f"CASE WHEN {mention} THEN {FIRST_SENDER} + n % {SENDERS} ELSE {account_id} END"
    created = f"to_timestamp(({at} >> 16) / 1000.0)"
    with connection.cursor() as cursor:
        # The rows are consistent; asking for each costs more than writing them.
        cursor.execute("SET session_replication_role = replica")
        insert(
            Status,
            {
                "id": post,
                "account_id": author,
                "content": "'<p>Post number ' || n || '</p>'",
                "local": f"NOT {mention}",
                "uri": f"'https://server.example/s/' || {post}",
                "created_at": created,
                "visibility": "'public'",
            },
            f"{numbers} WHERE {mention} OR n % {group_size} = 0 ON CONFLICT DO NOTHING",
        )
        insert(
            Notification,
            {
                "id": at,
                "account_id": str(account_id),
                "from_account_id": f"{FIRST_SENDER} + n % {SENDERS}",
                "type": f"CASE WHEN {mention} THEN 'mention' ELSE 'favourite' END",
                "status_id": post,
                "cause": f"'measured:{account_id}:' || {at}",
                "group_key": f"CASE WHEN NOT {mention} THEN 'favourite-' || {post} || '-' || {bucket} END",
                "created_at": created,
            },
            numbers,
        )
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute(
            "VACUUM ANALYZE statuses_status, notifications_notification, accounts_account, accounts_accountstat"
        )


def fill_ordinary(account_id: int, newest: int) -> None:
    """The notifications of an ordinary inbox, a minute between each two."""
    favourites = ORDINARY_POSTS * ORDINARY_FAVOURITES
    minute = 60_000
    fill(account_id, newest=newest, count=favourites, step=minute, group_size=ORDINARY_FAVOURITES, mentions=0)
    older = newest - (favourites * minute << 16)
    fill(account_id, newest=older, count=ORDINARY_MENTIONS, step=minute, group_size=1, mentions=1)


class Inbox:
    """Somebody's notifications, asked for as clients do."""

    def __init__(self, name: str) -> None:
        from tests.factories.accounts import make_token, make_user
        from tests.support.client import Api

        user = make_user(name)
        self.account_id = user.account_id
        self._api = Api(make_token(user))
        self._values: dict[str, Any] = {}

    def ask(self, kind: str) -> Callable[[], object]:
        """A function that asks for this kind."""
        if not self._values:
            from notifications.models import Notification

            rows = Notification.objects.filter(account_id=self.account_id).order_by("-id")
            key = rows.exclude(group_key=None).values_list("group_key", flat=True)[:1].get()
            self._values = {"middle": rows[rows.count() // 2].id, "group": key}
        path = KINDS[kind].format(**self._values)

        def call() -> object:
            answer = self._api.get(path)
            assert answer.status_code == 200, answer.content
            return answer

        return call


def main() -> int:
    """Fill and read; 1 when it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=50, help="of each kind and inbox")
    parser.add_argument("--plans", choices=KINDS, help="print the plans of this kind")
    options = parser.parse_args()
    embedded, folder = start()
    try:
        from social.kernel.ids import first_at

        newest = first_at(datetime.now(UTC) - timedelta(minutes=1))
        processor = Processor(embedded.processes["postgres"].pid)
        costs: list[Cost] = []

        def show(name: str, inbox: Inbox) -> None:
            for kind in KINDS:
                call = inbox.ask(kind)
                for _warming in range(12):
                    call()
                cost, _took = measure(processor, [call] * options.requests)
                print(f"{name:>9} {kind:>20}: {cost}  {count_buffers(call):,} buffers", flush=True)
                costs.append(cost)
            if options.plans:
                show_plans(inbox.ask(options.plans))

        fill_people()
        ordinary, grouped, large = (Inbox(name) for name in ("ordinary", "grouped", "large"))
        fill_ordinary(ordinary.account_id, newest)
        show("alone", ordinary)
        began = time.perf_counter()
        step = (GROUP_SECONDS - 3600) * 1000 // options.group
        # No two inboxes have an id in common.
        fill(
            grouped.account_id, newest=newest + 2, count=options.group, step=step, group_size=options.group, mentions=0
        )
        fill_ordinary(grouped.account_id, first_at(datetime.now(UTC) - timedelta(days=1)) + 4)
        year = timedelta(days=365) // timedelta(milliseconds=1)
        fill(
            large.account_id,
            newest=newest + 6,
            count=options.rows,
            step=year // options.rows,
            group_size=20,
            mentions=5,
        )
        print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
        for name, inbox in (("ordinary", ordinary), ("grouped", grouped), ("large", large)):
            show(name, inbox)
        return 0 if max(cost.p95 for cost in costs) <= P95_MS else 1
    finally:
        stop(embedded, folder)


if __name__ == "__main__":
    sys.exit(main())
