"""Tests of upgrading a server of an earlier release: it starts, keeps its data, and all features work."""

import json
import lzma
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from social.runtime.backups import sql
from social.runtime.backups.schema import make_schema
from social.runtime.backups.sql import read
from tests.runtime.processes import clean_environment, eventually, free_ports, fresh_folder, manage, running
from tests.upgrades.dump import DOMAIN, DUMPS, Client, kept_dumps

_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
       pg_get_expr(d.adbin, d.adrelid)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (c.oid, a.attnum)
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"
_CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE connamespace = 'public'::regnamespace
"""
# The SQL function that creates ids contains a random number, which differs between installations.
_FUNCTIONS = """
SELECT proname, regexp_replace(prosrc, '[0-9a-f]{32}', '') FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""
_CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")
_TRIGGERS = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"


@dataclass
class Upgraded:
    """A server on a restored dump; `facts` is the file beside the dump."""

    environment: dict[str, str]
    facts: dict[str, Any]

    def client(self, name: str) -> Client:
        """Return the client of a user with the token of the earlier release."""
        return Client(self.environment["PORT"], self.facts["tokens"][name])


def _facts(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((DUMPS / f"{name}.json").read_text())
    return facts


*EARLIER, LAST = kept_dumps()


@pytest.fixture
def restored(request: pytest.FixtureRequest) -> Iterator[Upgraded]:
    """The server of a dump, named by the test's parameter."""
    facts = _facts(request.param)
    address = os.environ["DATABASE_URL"].rpartition("/")[0]
    name = f"upgraded_{request.param}"
    folder = fresh_folder()
    (folder / "secrets.json").write_text(json.dumps(facts["secrets"]))
    (folder / "secrets.json").chmod(0o600)
    with psycopg.connect(f"{address}/postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name}")
        server.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(f"{address}/{name}") as database:
            database.execute(lzma.decompress((DUMPS / f"{request.param}.sql.xz").read_bytes()))
        settings = {"LOCAL_DOMAIN": DOMAIN, "DATABASE_URL": f"{address}/{name}", "WEB_WORKERS": "1"}
        yield Upgraded(clean_environment(DATA_DIR=str(folder), **settings, **free_ports()), facts)
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    shutil.rmtree(folder)


def schema(address: str) -> set[str]:
    """Return all columns, indexes, constraints, functions and triggers, in any order of columns.

    Casts and parentheses are removed, because PostgreSQL writes the same condition differently after a dump has been loaded.
    """
    with psycopg.connect(address, options="-c search_path=public") as database:
        queries = (_COLUMNS, _INDEXES, _CONSTRAINTS, _FUNCTIONS, _TRIGGERS)
        rows = [row for query in queries for row in database.execute(query).fetchall()]
    return {_CASTS.sub("", " ".join(map(str, row))) for row in rows}


def ids(posts: list[dict[str, Any]]) -> list[str]:
    return [post["id"] for post in posts]


def see_what_was_there(upgraded: Upgraded) -> None:
    """Check that the dump's data is shown to the users who could see it before."""
    facts, posts = upgraded.facts, upgraded.facts["posts"]
    alice, bob = upgraded.client("alice"), upgraded.client("bob")
    assert {posts["public"], posts["private"]} <= set(ids(alice.ask("GET", "/api/v1/timelines/home")))
    in_list = ids(alice.ask("GET", f"/api/v1/timelines/list/{facts['list']}"))
    assert set(in_list) == {posts["public"], posts["private"]}
    assert ids(alice.ask("GET", "/api/v1/timelines/tag/cats")) == [posts["public"]]
    assert [tag["name"] for tag in alice.ask("GET", "/api/v1/followed_tags")] == ["cats"]
    assert [one["title"] for one in alice.ask("GET", "/api/v1/lists")] == ["Friends"]
    thread = alice.ask("GET", f"/api/v1/statuses/{posts['public']}/context")
    assert ids(thread["descendants"]) == [posts["answer"]]
    # A hashtag that is only used in a followers-only post cannot be found.
    found = [tag["name"] for q in ("cats", "secretword") for tag in bob.ask("GET", f"/api/v2/search?q={q}")["hashtags"]]
    assert found == ["cats"]


def has_the_tables_of_a_new_one(upgraded: Upgraded) -> bool:
    """Return whether the upgraded server's tables equal those of a new server."""
    address = os.environ["DATABASE_URL"].rpartition("/")[0]
    return schema(upgraded.environment["DATABASE_URL"]) == schema(f"{address}/{connection.settings_dict['NAME']}")


@pytest.mark.timeout(900)
@pytest.mark.django_db
@pytest.mark.parametrize(
    "restored", [LAST, *(pytest.param(name, marks=pytest.mark.verify) for name in EARLIER)], indirect=True
)
def test_a_server_of_an_earlier_release_is_upgraded_by_its_start(restored: Upgraded, tmp_path: Path) -> None:
    with running([sys.executable, "manage.py", "run"], tmp_path / "log", restored.environment) as server:
        server.says("Social is ready")
        see_what_was_there(restored)

        # New features work as on a new server.
        alice, bob = restored.client("alice"), restored.client("bob")
        made = bob.ask("POST", "/api/v1/statuses", status="More #cats and #dogs", language="de")
        alice.ask("POST", "/api/v1/tags/dogs/follow")
        second = alice.ask("POST", "/api/v1/lists", title="Others")
        alice.ask("POST", f"/api/v1/lists/{second['id']}/accounts", account_ids=[restored.facts["accounts"]["bob"]])
        lists = (restored.facts["list"], second["id"])
        for page in ("/api/v1/timelines/home", *(f"/api/v1/timelines/list/{one}" for one in lists)):
            eventually(lambda page=page: made["id"] in ids(alice.ask("GET", page)))
        tagged = bob.ask("GET", "/api/v1/timelines/tag/dogs")
        assert ids(tagged) == [made["id"]]

        answer = json.loads(manage("doctor", "--json", environment=restored.environment).stdout)
        states = {check["name"]: check["state"] for check in answer["checks"]}
        assert (states["migrations"], states["tables"]) == ("ok", "ok")
        server.end()
    assert has_the_tables_of_a_new_one(restored)


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.django_db
@pytest.mark.parametrize("restored", EARLIER, indirect=True)
def test_the_setup_of_an_older_server_keeps_what_people_had(restored: Upgraded, tmp_path: Path) -> None:
    environment = restored.environment | {"REDIS_URL": os.environ["REDIS_URL"].partition("?")[0] + "?db=9"}
    done = manage("setup", environment=environment)
    assert done.returncode == 0, done.stderr
    assert has_the_tables_of_a_new_one(restored)
    web = [sys.executable, "-m", "social.runtime.serve", "web"]
    with running(web, tmp_path / "log", environment) as server:
        eventually(lambda: answers(environment["PORT"]) or server.process.poll() is not None)
        see_what_was_there(restored)


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.parametrize("restored", [*EARLIER[1:], LAST], indirect=True)  # the first release could not make backups
def test_a_backup_of_an_older_server_is_restored_with_the_tables_of_its_release(
    restored: Upgraded, tmp_path: Path, django_db_blocker: Any
) -> None:
    url, path = restored.environment["DATABASE_URL"], tmp_path / "database.sql.gz"
    before, filled = schema(url), rows(url)
    with sql.dump(url) as source:
        path.write_bytes(source.read())
    found = read(path, lambda _bytes: None)
    with django_db_blocker.unblock():
        tables = make_schema(found.migrations)
    assert tables.find_unknown(found) == []
    with psycopg.connect(url) as database:
        database.execute("DROP TABLE social_outbox CASCADE")
    sql.load(url, path, lambda _bytes: None, tables)
    assert (schema(url), rows(url)) == (before, filled)


def rows(address: str) -> dict[str, int]:
    """Return how many rows each table has."""
    with psycopg.connect(address) as database:
        names = database.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        )
        return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names.fetchall()}


def answers(port: str) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", int(port))) == 0
