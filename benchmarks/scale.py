"""`python -m benchmarks.scale`: time of the database for every page and every GET on a server with a million posts.

PostgreSQL and Valkey of its own are filled once (`benchmarks.scale_data`; `--folder` keeps them for the next run): 1,105,577
posts, 100,000 accounts on 2,000 servers, 2,000 people here, some of whom have far more of everything than others. Then every
GET of the OpenAPI document (as it is, with each of its parameters, for the person who has most and for nobody), all pages of
the admin and the public pages are asked for in this process. The slowest are printed with the median of the processor time that
PostgreSQL took for the request; the exit code is 1 when one is above the limit.

`--generic-plans` has one plan of each statement for all values, which PostgreSQL may keep from the sixth time on.
`--statistics absent` measures before any ANALYZE. `--kept-plans` has each statement planned while the tables are empty, on
the one connection that is measured, as on a server that has grown since its processes began.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.scale_data import FIRST_PERSON, POSTS, THREAD, fill
from benchmarks.scale_requests import (
    admin_requests,
    crawl,
    exports,
    find_values,
    public_pages,
    requests_of_api,
    search_pages,
)

LIMIT_MS: Final = 100.0
SHOWN: Final = 25
#: Times a statement is run before its plan is kept: PostgreSQL decides after five.
_UNTIL_PLANS_ARE_KEPT: Final = 9


class Watch:
    """The statements that this process sends, and how long each took, the way there and back included."""

    def __init__(self, postmaster: int) -> None:
        self.seen: list[tuple[float, str, Any]] = []
        self._postmaster = postmaster
        self._backends: list[Path] = []

    def processor(self) -> float:
        """Seconds of processor time that PostgreSQL's processes have used: what a quiet machine with all data in memory would
        take, whatever else this one does.
        """
        if not self._backends or not all(path.exists() for path in self._backends):
            children = Path(f"/proc/{self._postmaster}/task/{self._postmaster}/children").read_text().split()
            self._backends = [Path(f"/proc/{pid}/schedstat") for pid in children]
        return sum(int(path.read_text().split()[0]) for path in self._backends) / 1e9

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count everything that is sent by a cursor or prepared."""
        import psycopg

        from social.kernel.fast import prepared

        run, execute = prepared.run, psycopg.Cursor.execute

        def timed_run(raw: Any, known: Any, asked: Any, values: Any) -> Any:
            began = time.perf_counter()
            try:
                return run(raw, known, asked, values)
            finally:
                self.seen.append((time.perf_counter() - began, asked.sql.decode(), [text for _oid, text in values]))

        def timed_execute(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return execute(cursor, query, params, **options)
            finally:
                self.seen.append((time.perf_counter() - began, str(query), params))

        prepared.run, psycopg.Cursor.execute = timed_run, timed_execute  # type: ignore[assignment,method-assign]
        try:
            yield
        finally:
            prepared.run, psycopg.Cursor.execute = run, execute  # type: ignore[method-assign]


def _client(user: Any = None, token: str | None = None) -> Callable[[str], Any]:
    from django.test import Client

    browser = Client(raise_request_exception=False)
    if token is not None:
        headers = {"Authorization": f"Bearer {token}"}
        return lambda path: browser.get(path, headers=headers)
    if user is not None:
        browser.force_login(user)
    return browser.get


def _measure(label: str, call: Callable[[], Any], watch: Watch, times: int) -> tuple[float, str, float, int, str]:
    """The median time of the database, the request, that of all, the status, and the slowest statement."""
    database, total, slowest, status = [], [], (0.0, "", None), 0
    for number in range(times + 1):
        watch.seen.clear()
        began, used = time.perf_counter(), watch.processor()
        status = call().status_code
        # The first turn warms up.
        if number or times == 1:
            total.append((time.perf_counter() - began) * 1000)
            database.append((watch.processor() - used) * 1000)
            slowest = max([slowest, *watch.seen], key=lambda one: one[0])
        if sum(total) > 10_000:
            break
    return statistics.median(database), label, statistics.median(total), status, f"{slowest[1]} -- {slowest[2]}"


def _calls(owner: Any, only: str) -> list[tuple[str, Callable[[], Any]]]:
    """Everything that is asked for, by its address."""
    from accounts.models import AccessToken
    from tests.factories.accounts import make_token
    from tests.support.client import Api

    # Of an earlier run.
    AccessToken.objects.all().delete()
    values = find_values()
    token = make_token(owner, "read write follow push admin:read admin:write crypto profile")
    mine, anybody, browser = _client(token=token), _client(), _client(owner)
    calls: list[tuple[str, Callable[[], Any]]] = []
    for path in requests_of_api(values):
        calls.append((path, lambda path=path: mine(path)))
        if re.search(only, path) and "/admin/" not in path and anybody(path).status_code == 200:
            calls.append((f"{path} (nobody)", lambda path=path: anybody(path)))
    api = Api(token)
    for path, body in admin_requests():
        calls.append(
            (f"POST {path} {body['keys'][0] if 'keys' in body else ''}", lambda p=path, b=body: api.post(p, b))
        )
    pages = search_pages() + exports()
    if not only:
        pages += crawl(browser, ["/admin/"], "/admin/")
        pages += crawl(browser, ["/auth/edit", "/settings/profile"], "/settings")
    calls += [(path, lambda path=path: browser(path)) for path in dict.fromkeys(pages)]
    calls += [(path, lambda path=path: anybody(path)) for path in public_pages(values)]
    return [(label, call) for label, call in calls if re.search(only, label)]


def _owner(user: Any) -> Any:
    from allauth.account.models import EmailAddress

    from accounts.models import Role, User

    User.objects.filter(id=user.id).update(role=Role.objects.get(name__iexact="owner"))
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return User.objects.get(id=user.id)


def _plan_on_empty_tables(only: str) -> None:
    from tests.factories.accounts import make_user

    calls = _calls(_owner(make_user("first")), only)
    for _time in range(_UNTIL_PLANS_ARE_KEPT):
        for _label, call in calls:
            call()
    print(f"{len(calls)} requests on empty tables, {_UNTIL_PLANS_ARE_KEPT} times each", flush=True)


def _show(found: list[tuple[float, str, float, int, str]], title: str, limit: float, *, statements: bool) -> int:
    found = sorted(found, reverse=True)
    above = [one for one in found if one[0] > limit]
    print(f"\n{title}: {len(found)} requests, {len(above)} above {limit:.0f} ms of the database", flush=True)
    print(f"median {statistics.median(one[0] for one in found):.1f} ms" if found else "")
    for database, label, total, status, statement in found[:SHOWN]:
        print(f"{database:9.1f} ms  (whole {total:8.1f})  {status}  {label[:150]}")
        if statements:
            print("      ", " ".join(statement.split())[:3000])
    refused = [f"{status} {label}" for _database, label, _total, status, _statement in found if status >= 400]
    print(f"{len(refused)} answers of 400 and above", *sorted(refused), sep="\n  ")
    return len(above)


def _start(folder: Path, longest: float, *, generic: bool) -> Any:
    from social.runtime.embedded import Embedded, generate_secrets

    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    generate_secrets(folder)
    embedded = Embedded(folder, durable=False, postgres_settings={"autovacuum": "off", "max_wal_size": "4GB"})
    embedded.start()
    os.environ |= {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "social.settings.base", "LOG_LEVEL": "error"}
    os.environ |= {"LOCAL_DOMAIN": "bench.localhost", "RATE_LIMITS": "off", **embedded.environment()}
    import django
    from django.core.management import call_command

    django.setup()
    from django.conf import settings
    from django.db import connection

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE CURRENT_USER SET statement_timeout = {longest * 1000:.0f}")
        mode = "force_generic_plan" if generic else "auto"
        cursor.execute(f"ALTER ROLE CURRENT_USER SET plan_cache_mode = {mode}")
    return embedded


def main() -> int:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the filled servers are kept")
    parser.add_argument("--posts", type=int, default=POSTS)
    parser.add_argument("--fill-only", action="store_true")
    parser.add_argument("--times", type=int, default=7, help="of each request")
    parser.add_argument("--statistics", choices=("analyzed", "absent"), default="analyzed")
    parser.add_argument("--kept-plans", action="store_true", help="plan on empty tables, then fill; in a new folder")
    parser.add_argument("--generic-plans", action="store_true", help="no plan is made for the values of one request")
    parser.add_argument("--only", default="", help="requests whose addresses match this; no links are followed")
    parser.add_argument("--statements", action="store_true", help="print the slowest statement of each")
    parser.add_argument("--longest", type=float, default=10.0, help="seconds after which a statement is given up")
    parser.add_argument("--limit", type=float, default=LIMIT_MS)
    options = parser.parse_args()
    marker = options.folder / "filled"
    if options.kept_plans and options.folder.exists():
        shutil.rmtree(options.folder)
    embedded = _start(options.folder, options.longest, generic=options.generic_plans)
    watch = Watch(embedded.processes["postgres"].pid)
    try:
        from django.db import connection

        from accounts.models import User

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            if not marker.exists():
                if options.kept_plans:
                    _plan_on_empty_tables(options.only)
                print("Filling", flush=True)
                fill(options.posts)
                marker.write_text(str(THREAD))
            if options.statistics == "analyzed" and not options.kept_plans:
                began = time.perf_counter()
                cursor.execute("SELECT count(*) FROM pg_stats WHERE tablename = 'statuses_status'")
                if not cursor.fetchone()[0]:
                    cursor.execute("VACUUM ANALYZE")
                    print(f"VACUUM ANALYZE {time.perf_counter() - began:.0f} s", flush=True)
                cursor.execute("ANALYZE")
            elif options.statistics == "absent":
                cursor.execute("DELETE FROM pg_statistic WHERE starelid >= 16384")
                cursor.execute("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid >= 16384")
            cursor.execute("RESET statement_timeout")
        connection.close()
        if options.fill_only:
            return 0
        if options.kept_plans:
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE generic_plans > 0")
                print(f"{cursor.fetchone()[0]} statements have kept plans", flush=True)
        with watch.watching():
            calls = _calls(_owner(User.objects.get(account_id=FIRST_PERSON)), options.only)
            print(f"{len(calls)} requests", flush=True)
            found = [_measure(label, call, watch, options.times) for label, call in calls]
        title = "kept plans" if options.kept_plans else f"statistics {options.statistics}"
        title += ", generic plans" * options.generic_plans
        return int(_show(found, title, options.limit, statements=options.statements) > 0)
    finally:
        embedded.stop()


if __name__ == "__main__":
    sys.exit(main())
