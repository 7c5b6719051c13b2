"""A pytest plugin that gives the tests their own PostgreSQL and Valkey before Django's settings are read.

TEST_DATABASE_URL and TEST_REDIS_URL name servers to use instead.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    import psycopg

    from social.runtime.embedded import Embedded

#: The servers of this process; None if environment variables name other servers, or if none are needed.
embedded: Embedded | None = None
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


def _with_redis_database(url: str, number: int) -> str:
    if urlsplit(url).scheme == "unix":
        return f"{url.split('?')[0]}?db={number}"
    return f"{url.rstrip('/').rsplit('/', 1)[0] if url.count('/') > 2 else url}/{number}"


def _start(*, wanted: bool) -> None:
    """Name the servers in the environment, and start them if this process needs them."""
    global embedded
    from social.runtime.embedded import Embedded
    from social.runtime.secrets_file import generate_secrets

    data_dir = Path(tempfile.mkdtemp(prefix="social-test-"))
    data_dir.chmod(0o755)
    os.environ["DATA_DIR"] = str(data_dir)
    generate_secrets(data_dir)
    (data_dir / "static").mkdir()
    servers = Embedded(data_dir, durable=False)

    def stop() -> None:
        servers.stop()
        shutil.rmtree(servers.sockets, ignore_errors=True)
        shutil.rmtree(data_dir, ignore_errors=True)

    if "TEST_DATABASE_URL" in os.environ and "TEST_REDIS_URL" in os.environ:
        os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]
        os.environ["REDIS_URL"] = os.environ["TEST_REDIS_URL"]
        atexit.register(shutil.rmtree, data_dir, ignore_errors=True)
        if wanted:
            _allow_tests()
        return
    atexit.register(stop)
    os.environ.update(servers.environment())
    if wanted:
        servers.start()
        _allow_tests()
        embedded = servers


def administrator(database: str) -> psycopg.Connection[Any]:
    """Return a connection to the tests' PostgreSQL as its superuser, or to an external PostgreSQL as the configured role."""
    import psycopg

    from social.runtime.postgres import ADMIN

    address = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{database}"
    try:
        return psycopg.connect(address.replace("//social@", f"//{ADMIN}@"), autocommit=True)
    except psycopg.OperationalError:
        return psycopg.connect(address, autocommit=True)


def _allow_tests() -> None:
    """Let the server's role create databases and disable triggers, which only tests need."""
    from social.runtime.postgres import ADMIN

    with administrator("postgres") as admin:
        if admin.info.user == ADMIN:
            admin.execute("ALTER ROLE social CREATEDB")
            admin.execute("GRANT SET ON PARAMETER session_replication_role TO social")


os.environ["DJANGO_SETTINGS_MODULE"] = "social.settings.test"
for _name in ("LOCAL_DOMAIN", "WEB_DOMAIN", "PORT", "REGISTRATIONS", "CONFIRM_EMAIL", "EMAIL_URL"):
    os.environ.pop(_name, None)
os.environ["LOCAL_DOMAIN"] = "social.localhost"
os.environ["LOG_FORMAT"] = "console"
os.environ["LOG_LEVEL"] = "error"


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start servers for each worker of pytest-xdist, because a Valkey message reaches subscribers in all its databases.

    The process that only distributes the tests has no servers.
    """
    _start(wanted=bool(_WORKER) or not getattr(early_config.known_args_namespace, "numprocesses", None))
    if "TEST_REDIS_URL" in os.environ:
        os.environ["REDIS_URL"] = _with_redis_database(
            os.environ["REDIS_URL"], int(_WORKER.removeprefix("gw") or 0) + 1
        )
    yield
