"""What every test may rely on."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from django.test.client import ClientHandler
from redis.exceptions import RedisError
from whitenoise.middleware import WhiteNoiseMiddleware

from social.api import admission, refused_networks
from social.kernel import identity, redis
from social.kernel.identity import Identity, keep_identity
from tests.support import answers, kept_schema, moments, servers
from tests.support.callers import Callers
from tests.support.emptying import empty_tables
from tests.support.site import Site, serving
from timelines.queries.public import forget_access

# The same examples in every run: a promise is broken by a change, never by chance.
hypothesis.settings.register_profile("social", derandomize=True, deadline=None)
hypothesis.settings.load_profile("social")

# What `load_middleware` sets.
_CHAIN = ("_middleware_chain", "_view_middleware", "_template_response_middleware", "_exception_middleware")
# Seconds, longer than any test takes.
_LONGEST = 120

_OF_FEDERATION = [
    "flows/test_plans_on_skewed_data.py",
    "flows/test_rare_servers.py",
    "flows/test_strangers.py",
    "flows/test_what_grows.py",
    "moderation/test_held_posts.py",
    "moderation/test_spam_wave.py",
    "statuses/api/test_media_proxy.py",
    "statuses/services/test_card_authors.py",
]
collect_ignore = [] if apps.is_installed("federation") else _OF_FEDERATION


def pytest_collection_finish() -> None:
    """What has been imported stays: the garbage collector need not look through it again and again, and less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The tables are those of an earlier run where no migration has changed."""
    if servers.embedded is not None:
        kept_schema.load(servers.embedded.postgres)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """They are kept for the next run."""
    if servers.embedded is not None:
        with django_db_blocker.unblock():
            kept_schema.keep(servers.embedded.postgres)


@pytest.fixture
def callers(db: None) -> Callers:
    """For the battery."""
    return Callers()


@pytest.fixture
def site(settings: Any) -> Iterator[Site]:
    """A web site of somebody else's on this machine, which this server may ask."""
    settings.FEDERATION_LOOPBACK = True
    with serving() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _answers_watched() -> Iterator[None]:
    with answers.watched():
        yield


@pytest.fixture(scope="session", autouse=True)
def _as_installed() -> Iterator[None]:
    """After a test that commits, the tables are those of a new server, with the roles it begins with."""
    flush = TransactionTestCase._fixture_teardown

    def renew(test_case: TransactionTestCase) -> None:
        if servers.embedded is not None:
            empty_tables()
        else:
            flush(test_case)
        with connection.schema_editor() as editor:
            import_module("accounts.migrations.0001_initial").create_roles(apps, editor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", renew)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_found_once() -> Iterator[None]:
    """Each test client makes its middleware anew, and the search for static files took most of the time of its requests."""
    find, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def find_once(middleware: WhiteNoiseMiddleware) -> None:
        if middleware.static_prefix not in found:
            find(middleware)
            found[middleware.static_prefix] = dict(middleware.files)
        middleware.files.update(found[middleware.static_prefix])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", find_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _middleware_made_once() -> Iterator[None]:
    """Each test client makes its middleware anew, in a millisecond: those with the same settings share it, as all requests
    of a server do.
    """
    load = ClientHandler.load_middleware
    made: tuple[Any, dict[str, Any]] = (None, {})

    def load_once(handler: ClientHandler, is_async: bool = False) -> None:
        nonlocal made
        # A setting that a test changes makes another object of the settings.
        if made[0] is settings._wrapped:
            vars(handler).update(made[1])
            return
        load(handler, is_async)
        made = settings._wrapped, {name: getattr(handler, name) for name in _CHAIN}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "load_middleware", load_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_key_pair() -> Iterator[None]:
    """Keys are made when they are needed, which takes a tenth of a second: in tests they are the same for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accounts.services.key_pairs.new_rsa_pair", import_module("tests.factories.accounts").rsa_pair)
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_are_not_flushed() -> Iterator[None]:
    """As with the tables: nothing of a test has to outlive a failure of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


@pytest.fixture(autouse=True)
def _access_is_read_anew() -> None:
    """How open timelines are is remembered for two seconds: what one test has changed is nothing to the next."""
    forget_access()


@pytest.fixture(autouse=True)
def _identity_is_that_of_a_new_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is remembered until a test that changes it says so; a slow test would read it by chance."""
    monkeypatch.setattr(identity, "RELOAD_SECONDS", 1e9)
    keep_identity(Identity())


@pytest.fixture(autouse=True)
def _answers_are_declared() -> Iterator[None]:
    """Every answer that a test gets from the API is what the endpoint declares."""
    answers.problems()
    yield
    assert answers.problems() == []


@pytest.fixture(autouse=True)
def _no_network_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that each process asks every few seconds would be counted by chance; asked for after a change only."""
    monkeypatch.setattr(refused_networks, "RELOAD_SECONDS", 1e12)
    monkeypatch.setattr(refused_networks._State, "loaded_at", 0.0)
    monkeypatch.setattr(refused_networks._State, "networks", ())


@pytest.fixture(autouse=True)
def _limits_do_not_start_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of limits end at fixed times: a test that counts up to one stays in the window in which it began, unless it
    goes to another time itself.
    """
    begun = time.time()

    def held() -> float:
        now = time.time()
        return begun if 0 <= now - begun < _LONGEST else now

    monkeypatch.setattr(admission, "time", SimpleNamespace(time=held, monotonic=time.monotonic))


@pytest.fixture
def noon(db: None) -> Iterator[None]:
    """For tests that count by days."""
    with moments.at_noon():
        yield


@pytest.fixture(autouse=True)
def _empty_redis(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test sees another one's feeds, counters or cached identities."""
    yield
    if request.node.get_closest_marker("django_db") is not None:
        try:
            redis.client("cache").flushdb()
        except RedisError:
            # A time-out on a busy machine has opened the circuit, for a second.
            time.sleep(1.1)
            redis.client("cache").flushdb()
