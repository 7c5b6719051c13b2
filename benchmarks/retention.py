"""`python -m benchmarks.retention`: the effect of `remove_statuses` on a database of a million posts, and on other users.

It uses a copy of a folder that `benchmarks.scale` has filled. While old remote posts are removed, one client publishes posts
and another reads the home timeline. It prints the number of posts and the size of the database before and after the removal and
after `VACUUM FULL`, and the response times before and during the removal. The longest time under "publishing" is the longest
delay of a write.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.client import Client
from benchmarks.measuring import Repeated, attach, meanwhile
from tests.support.instance import ROOT, Instance

TABLES = "statuses_status, statuses_statusstat, statuses_mention, statuses_statustag, statuses_mediaattachment"


def size() -> str:
    """Return the number of posts and the size of the database, as text."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), pg_database_size(current_database()) FROM statuses_status")
        posts, count = cursor.fetchone() or (0, 0)
    return f"{posts} posts, {count / 1e6:.0f} MB"


def watched(server: Instance, token: str, arguments: list[str]) -> None:
    """Run a command on the server, or wait 20 seconds without one, while one client publishes posts and another reads."""
    writer, reader = Client(server.base_url, token), Client(server.base_url, token)
    form = {"status": "A post of this server", "visibility": "public"}
    publishing = Repeated("publishing", lambda: writer.call("POST", "/api/v1/statuses", form), server)
    home = Repeated("home", lambda: reader.raw("GET", "/api/v1/timelines/home?limit=20"), server)
    with meanwhile(" ".join(arguments) or "before", publishing, home):
        if arguments:
            command = [sys.executable, "manage.py", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=server.environment, capture_output=True, text=True, check=True)
            print(done.stdout.splitlines()[-1])
        else:
            time.sleep(20)


def main() -> None:
    """Copy the folder, remove posts, and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where `benchmarks.scale` has filled its servers")
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--of-followed", action="store_true", help="also posts of accounts that people here follow")
    arguments = parser.parse_args()
    server = Instance(LOCAL_DOMAIN="bench.localhost")
    for name in ("postgres", "valkey", "secrets.json"):
        # `cp -a` preserves the owner, because PostgreSQL does not run as root.
        subprocess.run(["cp", "-a", arguments.folder / name, server.data_dir], check=True)
    with server:
        attach(server)
        token = str(server.create_account("writer")["access_token"])
        print(f"at first: {size()}")
        days = ["remove_statuses", "--days", str(arguments.days)]
        if arguments.of_followed:
            days.append("--of-followed")
        for command in ([], [*days, "--dry-run"], days):
            watched(server, token, command)
            print(f"  {size()}", flush=True)
        from django.db import connection

        began = time.monotonic()
        with connection.cursor() as cursor:
            for table in TABLES.split(", "):
                cursor.execute(f"VACUUM FULL {table}")
        print(f"VACUUM FULL of {TABLES}: {time.monotonic() - began:.0f} s, {size()}")


if __name__ == "__main__":
    main()
