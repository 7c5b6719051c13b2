"""`python -m benchmarks.scale`: the database time of each GET endpoint and each admin list, with many posts.

It starts its own PostgreSQL and Valkey and fills them once by `benchmarks.scale_data`: with `--posts` posts, one account for
every eleven posts, on 2,000 servers, and 2,000 local users. `--folder` is where they are stored for the next run. The first
local user has far more posts, follows and other rows than the others. As this user, and inside this process, it requests the
GET endpoints of the OpenAPI document (plain, with a limit of 80, and from the middle of the list), the admin lists, and public
pages. It prints the slowest requests with the median CPU time of PostgreSQL; the exit code is 1 if one of them is above
`--limit` or fails with a server error.

From the sixth execution on, PostgreSQL may use one generic plan of a prepared statement for all values: `--generic-plans`
measures with these plans.
"""

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import attach
from benchmarks.scale_data import FIRST_AUTHOR, FIRST_PERSON, THREAD, Scale, fill

_NEEDED: Final = {"q": "garden", "acct": "author0", "url": "https://news.example/", "id[]": FIRST_AUTHOR}


def start(folder: Path, *, generic_plans: bool) -> Any:
    """Start PostgreSQL and Valkey with their files in this folder, and configure Django in this process for them."""
    import psycopg

    from social.runtime.embedded import Embedded
    from social.runtime.postgres import ADMIN
    from social.runtime.secrets_file import generate_secrets

    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    generate_secrets(folder)
    plans = "force_generic_plan" if generic_plans else "auto"
    postgres_settings = {"autovacuum": "off", "max_wal_size": "4GB", "plan_cache_mode": plans}
    embedded = Embedded(folder, durable=False, postgres_settings=postgres_settings)
    embedded.start()
    with psycopg.connect(embedded.postgres.conninfo("postgres", ADMIN)) as admin:
        admin.execute("GRANT SET ON PARAMETER session_replication_role TO social")
    os.environ |= {"LOCAL_DOMAIN": "bench.localhost", "RATE_LIMITS": "off"}
    attach(folder)
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    return embedded


def processor_seconds(postmaster: int) -> float:
    """Return the CPU seconds that PostgreSQL's processes have used, which hardly depend on the load of the machine."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in children) / 1e9


def addresses(scale: Scale) -> list[str]:
    """Return the addresses of the GET endpoints, of public pages, and of the admin's lists with and without a search."""
    from django.contrib import admin
    from django.db import connection
    from django.urls import reverse

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {scale.id(str(THREAD))}, {scale.id(str(scale.posts // 2))}")
        root, middle = cursor.fetchone()
    values: Mapping[str, Any] = {"/accounts/": FIRST_AUTHOR, "/tags/": "tag0", "{hashtag}": "tag0", "/statuses/": root}
    document = json.loads((Path(__file__).parent.parent / "social" / "openapi.json").read_text())
    found = []
    for path, operations in document["paths"].items():
        if "get" not in operations or path.startswith(("/api/v1/streaming", "/media")):
            continue
        value = next((str(known) for part, known in values.items() if part in path), "1")
        names = {one["name"] for one in operations["get"].get("parameters", []) if one.get("in") == "query"}
        address = re.sub(r"\{\w+\}", value, path) + "?"
        address += "".join(f"{name}={_NEEDED[name]}&" for name in sorted(names & _NEEDED.keys()))
        given = (("limit", 80), ("max_id", middle), ("offset", 9000))
        found += [address, *(f"{address}{name}={number}" for name, number in given if name in names)]
    person = f"person{FIRST_PERSON}"
    found += ["/", "/about", "/public", "/explore", "/tags/tag0", f"/@{person}", f"/@{person}/{root}"]
    found += [f"/users/{person}/outbox?page=true", f"/users/{person}/followers?page=1", "/metrics"]
    for model, model_admin in admin.site._registry.items():
        place = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        found += [place, f"{place}?q=author12", f"{place}?q=zzz"] if model_admin.search_fields else [place]
    return found


def callers() -> tuple[Callable[[str], Any], Callable[[str], Any]]:
    """Return a function that requests an API address and one that requests a page, both as the first local user, who becomes
    the owner of the server.
    """
    from allauth.account.models import EmailAddress
    from django.test import Client

    from accounts.models import AccessToken, Role, User
    from tests.factories.accounts import make_token

    user = User.objects.get(account_id=FIRST_PERSON)
    User.objects.filter(id=user.id).update(role=Role.objects.get(name__iexact="owner"))
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    AccessToken.objects.all().delete()  # tokens of an earlier run
    token = make_token(user, "read write follow push admin:read admin:write crypto profile")
    client, browser = Client(raise_request_exception=False), Client(raise_request_exception=False)
    browser.force_login(User.objects.get(id=user.id))
    return lambda path: client.get(path, headers={"Authorization": f"Bearer {token}"}), browser.get


def measure(call: Callable[[str], Any], path: str, postmaster: int, times: int) -> tuple[float, float, int, str]:
    """Return the median CPU milliseconds of PostgreSQL, the median duration, the status and the path; the first request is a
    warm-up.
    """
    database, whole = [], []
    status = call(path).status_code
    for _turn in range(times):
        began, used = time.perf_counter(), processor_seconds(postmaster)
        call(path)
        whole.append((time.perf_counter() - began) * 1000)
        database.append((processor_seconds(postmaster) - used) * 1000)
    return statistics.median(database), statistics.median(whole), status, path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the filled servers are kept")
    parser.add_argument("--posts", type=int, default=1_100_000)
    parser.add_argument("--times", type=int, default=7, help="of each request")
    parser.add_argument("--only", default="", help="requests whose addresses match this")
    parser.add_argument("--limit", type=float, default=100.0, help="milliseconds of PostgreSQL")
    parser.add_argument("--generic-plans", action="store_true", help="one plan of each statement for all values")
    options = parser.parse_args()
    marker = options.folder / "filled"
    embedded = start(options.folder, generic_plans=options.generic_plans)
    postmaster = embedded.processes["postgres"].pid
    try:
        if not marker.exists():
            fill(options.posts)
            marker.write_text(str(options.posts))
        api, browser = callers()
        found = [
            measure(api if path.startswith("/api/") else browser, path, postmaster, options.times)
            for path in addresses(Scale(int(marker.read_text())))
            if re.search(options.only, path)
        ]
    finally:
        embedded.stop()
    above = sum(database > options.limit for database, *_rest in found)
    print(f"{len(found)} requests, {above} above {options.limit:.0f} ms of the database")
    for database, whole, status, path in sorted(found, reverse=True)[:25]:
        print(f"{database:9.1f} ms  (whole {whole:8.1f})  {status}  {path[:150]}")
    failed = sorted({f"{status} {path}" for _database, _whole, status, path in found if status >= 500})
    print(f"{len(failed)} errors of the server", *failed, sep="\n  ")
    return int(above > 0 or bool(failed))


if __name__ == "__main__":
    sys.exit(main())
