"""`python -m benchmarks.scale`: time of the database for every page and every GET on a server with a million posts.

PostgreSQL and Valkey of its own are filled once (`benchmarks.scale_data`; `--folder` keeps them for the next run): 1,105,577
posts, 100,000 accounts on 2,000 servers, 2,000 people here, some of whom have far more of everything than others. Then every
GET of the OpenAPI document (as it is, with each of its parameters, for the person who has most and for nobody), all pages of
the admin and the public pages are asked for in this process. The slowest are printed with the median of the processor time that
PostgreSQL took for the request; the exit code is 1 when one is above the limit.

`--statistics absent` measures before any ANALYZE. `--kept-plans` has each statement planned while the tables are empty, on
the one connection that is measured, as on a server that has grown since its processes began.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.scale_data import FIRST_AUTHOR, FIRST_CARD, FIRST_PERSON, FIRST_TAG, POSTS, THREAD, fill

LIMIT_MS: Final = 100.0
SHOWN: Final = 25
#: Times a statement is run before its plan is kept: PostgreSQL decides after five.
_UNTIL_PLANS_ARE_KEPT: Final = 9
_HREF: Final = re.compile(rb'href="(/[^"#]*|\?[^"#]*)"')
_PAGES_LIMIT: Final = 400


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


def _find_values() -> dict[str, Any]:
    """What stands for the parameters: those with most of everything."""
    from django.db import connection

    def one(sql: str) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return (cursor.fetchone() or (1,))[0] or 1

    root = one("SELECT thread_id FROM statuses_status WHERE thread_id IS NOT NULL ORDER BY id DESC LIMIT 1")
    return {
        "author": FIRST_AUTHOR,
        "person": FIRST_PERSON,
        "middle": one("SELECT id FROM statuses_status ORDER BY id OFFSET 100000 LIMIT 1"),
        "root": root,
        "newest": one("SELECT max(id) FROM statuses_status"),
        "report": one("SELECT max(id) FROM moderation_report"),
        "tag": FIRST_TAG,
        "notification": one(f"SELECT max(id) FROM notifications_notification WHERE account_id = {FIRST_PERSON}"),
        "group": one(
            f"SELECT max(group_key) FROM notifications_notification WHERE account_id = {FIRST_PERSON}"
            " AND group_key IS NOT NULL"
        ),
        "poll": one("SELECT max(id) FROM statuses_poll"),
        "link": one(f"SELECT url FROM statuses_previewcard WHERE id = {FIRST_CARD}"),
        "list": one("SELECT min(id) FROM timelines_list"),
    }


def _path_value(path: str, name: str, values: Mapping[str, Any]) -> str:
    for part, found in (
        ("/accounts/{id}", values["author"]),
        ("/admin/reports", values["report"]),
        ("/admin/tags", values["tag"]),
        ("/statuses/{id}", values["root"]),
        ("/polls/", values["poll"]),
        ("/notifications/{id}", values["notification"]),
        ("{key}", values["group"]),
        ("{list_id}", values["list"]),
        ("/lists/{id}", values["list"]),
        ("{hashtag}", "tag0"),
        ("/tags/{name}", "tag0"),
        ("{year}", "2025"),
    ):
        if part in path:
            return str(found)
    return "1"


def requests_of_api(values: Mapping[str, Any]) -> list[str]:
    """Every GET of the OpenAPI document, as it is and with each parameter, and what is known to have been slow."""
    document = json.loads((Path(__file__).parent.parent / "social" / "openapi.json").read_text())
    given: dict[str, Sequence[Any]] = {
        "limit": (80,),
        "max_id": (values["middle"],),
        "min_id": (values["middle"],),
        "since_id": (values["middle"],),
        "offset": (40, 9000),
        "q": ("author", "coffee", "tag1", "person1"),
        "id[]": (values["author"],),
        "acct": ("person0",),
        "tagged": ("tag0", "tag19000", "nothing"),
        "any[]": ("tag1",),
        "all[]": ("tag1", "tag19000", "nothing"),
        "none[]": ("tag1", "tag0", "nothing"),
        "order": ("new", "active"),
        "types[]": ("mention", "poll"),
        "exclude_types[]": ("favourite",),
        "grouped_types[]": ("favourite",),
        "account_id": (values["author"],),
        "target_account_id": (values["author"],),
        "by_domain": ("server0.example", "server9.example"),
        "username": ("author12", "zzz"),
        "display_name": ("garden", "zzz"),
        "email": ("example.com", "zzz"),
        "ip": ("10.0.0.0/8",),
        "origin": ("local", "remote"),
        "status": ("active", "pending", "suspended", "silenced"),
        "permissions": ("staff",),
        "url": (values["link"],),
        "domain": ("server0.example",),
        "type": ("accounts", "statuses", "hashtags"),
        "timeline[]": ("home",),
    }
    needed = {"q": "author", "url": values["link"], "acct": "person0"}
    found = []
    for path, operations in document["paths"].items():
        get = operations.get("get")
        if get is None or path.startswith(("/api/v1/streaming", "/media")):
            continue
        place = re.sub(r"\{(\w+)\}", lambda part, path=path: _path_value(path, part[1], values), path)
        names = [one["name"] for one in get.get("parameters", []) if one.get("in") == "query"]
        base = {name: needed[name] for name in names if name in needed}
        found.append(_address(place, base))
        for name in names:
            found += [_address(place, base | {name: value}) for value in given.get(name, ("true",))]
    found += [
        f"/api/v1/accounts/{values['person']}/{rest}"
        for rest in ("statuses", "statuses?tagged=tag0", "followers?limit=80", "following?limit=80")
    ]
    found += [
        f"/api/v1/accounts/{FIRST_AUTHOR + 99_000}/statuses?tagged=tag0",
        "/api/v1/timelines/tag/tag19000?all[]=tag0",
        "/api/v1/timelines/tag/tag0?all[]=tag1&all[]=tag2",
        "/api/v1/timelines/tag/tag0?all[]=tag1&only_media=true",
        "/api/v1/timelines/tag/tag0?none[]=tag0&local=true",
        "/api/v1/timelines/tag/tag0?local=true&only_media=true",
        "/api/v1/directory?order=active&local=true",
        "/api/v1/directory?order=new&local=true",
        "/api/v1/notifications/unread_count?limit=1000",
        "/api/v2/search?q=garden&type=statuses&offset=4000",
        "/api/v2/search?q=author&type=accounts&offset=180",
    ]
    return list(dict.fromkeys(found))


def _address(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def admin_requests() -> list[tuple[str, Any]]:
    """The addresses of the admin's interface for measures and dimensions, with their bodies."""
    from moderation.queries.dimensions import _SQL as dimensions
    from moderation.queries.measures import _MEASURES as measures

    today = datetime.now(UTC).date()
    span = {"start_at": str(today - timedelta(days=30)), "end_at": str(today)}
    parameters = {"id": str(FIRST_TAG), "domain": "server0.example"}
    found = []
    for kind, keys in (("measures", measures), ("dimensions", dimensions)):
        for key in keys:
            found.append((f"/api/v1/admin/{kind}", {"keys": [key], key: parameters, "limit": 10} | span))
    found.append(("/api/v1/admin/retention", {"frequency": "month"} | span))
    return found


def _shape(path: str) -> str:
    """An address with its numbers and values left out: one page of many that are alike."""
    place, _question, query = path.partition("?")
    names = sorted({pair.partition("=")[0] for pair in query.split("&")})
    return re.sub(r"\d+", "#", place) + "?" + "&".join(names)


def crawl(get: Callable[[str], Any], begin: Sequence[str], within: str) -> list[str]:
    """Pages that links lead to, one of each shape."""
    waiting, shapes, found = list(begin), set(), []
    while waiting and len(found) < _PAGES_LIMIT:
        path = waiting.pop(0)
        if _shape(path) in shapes or not path.startswith(within) or "logout" in path or path.endswith((".css", ".js")):
            continue
        shapes.add(_shape(path))
        answer = get(path)
        if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
            continue
        found.append(path)
        place = path.partition("?")[0]
        for match in _HREF.finditer(answer.content):
            link = match[1].decode().replace("&amp;", "&")
            waiting.append(place + link if link.startswith("?") else link)
    return found


def public_pages(values: Mapping[str, Any]) -> list[str]:
    """Pages and documents that anybody may read."""
    root, person = values["root"], "person5000000"
    return [
        "/",
        "/about",
        "/public",
        "/public/local",
        "/public/remote",
        "/explore",
        "/explore/tags",
        "/explore/links",
        "/explore/people",
        "/tags/tag0",
        "/tags/tag0.rss",
        f"/@{person}",
        f"/@{person}.rss",
        f"/@{person}/with_replies",
        f"/@{person}/media",
        f"/@{person}/tagged/tag0",
        f"/@{person}/{root}",
        f"/@{person}/{root}/embed",
        f"/users/{person}/outbox",
        f"/users/{person}/outbox?page=true",
        f"/users/{person}/followers",
        f"/users/{person}/followers?page=1",
        f"/users/{person}/statuses/{root}/replies",
        f"/users/{person}/collections/featured",
        "/nodeinfo/2.0",
        "/metrics",
        "/health",
        "/health/ready",
    ]


def search_pages() -> list[str]:
    """Lists of the admin with a search, for what is there and for what is not."""
    from django.contrib import admin
    from django.urls import reverse

    found = []
    for model, model_admin in admin.site._registry.items():
        place = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        found.append(place)
        if model_admin.search_fields:
            found += [
                f"{place}?q={word}" for word in ("author12", "coffee", "zzz", "server0.example", "@author5 garden")
            ]
    return found


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
    AccessToken.objects.filter(user=owner).delete()
    values = _find_values()
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
    pages = search_pages()
    if not only:
        pages += crawl(browser, ["/admin/"], "/admin/")
        pages += crawl(browser, ["/auth/edit", "/settings/profile"], "/settings")
    calls += [(path, lambda path=path: browser(path)) for path in dict.fromkeys(pages)]
    calls += [(path, lambda path=path: anybody(path)) for path in public_pages(values)]
    return [(label, call) for label, call in calls if re.search(only, label)]


def _owner(user: Any) -> Any:
    from accounts.models import Role, User

    User.objects.filter(id=user.id).update(role=Role.objects.get(name__iexact="owner"))
    return User.objects.get(id=user.id)


def _plan_on_empty_tables() -> None:
    from tests.factories.accounts import make_user

    calls = _calls(_owner(make_user("first")), "")
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
    failed = [f"{status} {label}" for _database, label, _total, status, _statement in found if status >= 500]
    print(f"{len(failed)} answers of 500 and above", *failed, sep="\n  ")
    return len(above)


def _start(folder: Path, longest: float = 0.0) -> Any:
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
    if longest:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER ROLE CURRENT_USER SET statement_timeout = {longest * 1000:.0f}")
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
    parser.add_argument("--only", default="", help="requests whose addresses match this; no links are followed")
    parser.add_argument("--statements", action="store_true", help="print the slowest statement of each")
    parser.add_argument("--longest", type=float, default=10.0, help="seconds after which a statement is given up")
    parser.add_argument("--limit", type=float, default=LIMIT_MS)
    options = parser.parse_args()
    marker = options.folder / "filled"
    if options.kept_plans and options.folder.exists():
        shutil.rmtree(options.folder)
    embedded = _start(options.folder, options.longest)
    watch = Watch(embedded.processes["postgres"].pid)
    try:
        from django.db import connection

        from accounts.models import User

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            if not marker.exists():
                if options.kept_plans:
                    _plan_on_empty_tables()
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
        with watch.watching():
            calls = _calls(_owner(User.objects.get(account_id=FIRST_PERSON)), options.only)
            print(f"{len(calls)} requests", flush=True)
            found = [_measure(label, call, watch, options.times) for label, call in calls]
        title = "kept plans" if options.kept_plans else f"statistics {options.statistics}"
        return int(_show(found, title, options.limit, statements=options.statements) > 0)
    finally:
        embedded.stop()


if __name__ == "__main__":
    sys.exit(main())
