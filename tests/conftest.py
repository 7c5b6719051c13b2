"""Fixtures for all tests."""

import gc
import os
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.template import Context, Template
from django.test import Client, TransactionTestCase
from django.test.client import ClientHandler
from django.test.signals import template_rendered
from django.utils.safestring import SafeString
from whitenoise.middleware import WhiteNoiseMiddleware

from accounts.models import Account, User
from social.api import admission, refused_networks
from social.kernel import identity, redis
from social.kernel.identity import Identity
from tests.factories.accounts import make_account, make_token, make_user, rsa_pair
from tests.support import answers, emptying, kept_schema, moments, servers
from tests.support.callers import Callers
from tests.support.client import Api, signed_in
from tests.support.identities import show_identity
from tests.support.site import Site, serving
from timelines.queries.public import forget_access

# Every run uses the same examples, so that only a change can make a test fail.
hypothesis.settings.register_profile("social", derandomize=True, deadline=None)
hypothesis.settings.load_profile("social")

# The attributes of a handler that `load_middleware` sets.
_CHAIN = ("_middleware_chain", "_view_middleware", "_template_response_middleware", "_exception_middleware")
# In seconds; longer than any test takes.
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
    """Freeze all imported objects, so that the garbage collector does not check them repeatedly, and run it less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Load the tables that an earlier run has stored, if no migration has changed."""
    if servers.embedded is not None:
        kept_schema.load(servers.embedded.postgres)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Store the created tables for the next run."""
    if servers.embedded is not None:
        with django_db_blocker.unblock():
            kept_schema.keep(servers.embedded.postgres)


@pytest.fixture
def callers(db: None) -> Callers:
    return Callers()


@pytest.fixture
def ann(db: None) -> User:
    return make_user("ann")


@pytest.fixture
def api(ann: User) -> Api:
    return Api(make_token(ann))


@pytest.fixture
def browser(ann: User) -> Client:
    """A browser in which Ann has signed in."""
    return signed_in(ann)


@pytest.fixture
def boss(db: None) -> User:
    """The owner of the server."""
    return make_user("boss", role="Owner")


@pytest.fixture
def alice(db: None) -> Account:
    return make_account("alice")


@pytest.fixture
def media_root(settings: Any, tmp_path: Path) -> Path:
    """Return the media folder of this test, which is empty at the start."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def counted(settings: Any) -> Iterator[None]:
    """Enable rate limits, with empty counters before and after the test."""
    settings.RATE_LIMITS = True
    redis.client("cache").flushdb()
    yield
    redis.client("cache").flushdb()


@pytest.fixture
def site(settings: Any) -> Iterator[Site]:
    """A web site of a third party on this machine, which this server may call."""
    settings.FEDERATION_LOOPBACK = True
    with serving() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _answers_watched() -> Iterator[None]:
    with answers.watched():
        yield


@pytest.fixture(scope="session", autouse=True)
def _as_installed() -> Iterator[None]:
    """After a test that commits, restore the tables of a new server with its default roles."""
    flush = TransactionTestCase._fixture_teardown

    def renew(test_case: TransactionTestCase) -> None:
        if servers.embedded is not None:
            emptying.empty_tables()
        else:
            flush(test_case)
        with connection.schema_editor() as editor:
            import_module("accounts.migrations.0001_initial").create_roles(apps, editor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", renew)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_found_once() -> Iterator[None]:
    """Cache the search for static files: each test client would repeat it, which takes most of the time of a request."""
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
    """Share the middleware among test clients with the same settings, as all requests to a real server do; building it takes 1
    ms.
    """
    load = ClientHandler.load_middleware
    # Two pairs of a settings object and its middleware: one for the whole run, and one for the latest override by a test.
    made: dict[str, tuple[Any, dict[str, Any]]] = {}
    unchanged = settings._wrapped

    def load_once(handler: ClientHandler, is_async: bool = False) -> None:
        # When a test overrides a setting, Django creates another settings object.
        place = "unchanged" if settings._wrapped is unchanged else "changed"
        if place in made and made[place][0] is settings._wrapped:
            vars(handler).update(made[place][1])
            return
        load(handler, is_async)
        made[place] = settings._wrapped, {name: getattr(handler, name) for name in _CHAIN}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "load_middleware", load_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _context_of_whole_pages(django_test_environment: None) -> Iterator[None]:
    """Record only the whole page's context in `response.context`; Django would also copy the contexts of its templates."""
    rendering = threading.local()

    def render(template: Template, context: Context) -> SafeString:
        if getattr(rendering, "depth", 0):
            return template.nodelist.render(context)
        template_rendered.send(sender=template, template=template, context=context)
        rendering.depth = 1
        try:
            return template.nodelist.render(context)
        finally:
            rendering.depth = 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", render)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_key_pair() -> Iterator[None]:
    """Use one key pair for all accounts, because generating one takes 0.1 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accounts.services.key_pairs.new_rsa_pair", rsa_pair)
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_are_not_flushed() -> Iterator[None]:
    """Do not flush files to the disk, because no test data has to survive a crash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


@pytest.fixture(autouse=True)
def _access_is_read_anew() -> None:
    """Clear the access settings of timelines, which are cached for two seconds, between tests."""
    forget_access()


@pytest.fixture(autouse=True)
def _identity_is_that_of_a_new_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the server's identity until a test changes it; otherwise slow tests would reload it at unpredictable times."""
    monkeypatch.setattr(identity, "RELOAD_SECONDS", 1e9)
    show_identity(Identity())


@pytest.fixture(autouse=True)
def _answers_are_declared() -> Iterator[None]:
    """Fail if a response of the API during the test differs from the declaration of its endpoint."""
    answers.problems()
    yield
    assert answers.problems() == []


@pytest.fixture(autouse=True)
def _no_network_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reload the list of refused networks only after changes; a periodic reload would add a query to some tests that count
    queries.
    """
    monkeypatch.setattr(refused_networks, "RELOAD_SECONDS", 1e12)
    monkeypatch.setattr(refused_networks._State, "loaded_at", 0.0)
    monkeypatch.setattr(refused_networks._State, "networks", ())


@pytest.fixture(autouse=True)
def _limits_do_not_start_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of rate limits at the start of a test, so that no time window ends during it. Tests that set the clock
    themselves are not affected.
    """
    begun = time.time()

    def held() -> float:
        now = time.time()
        return begun if 0 <= now - begun < _LONGEST else now

    monkeypatch.setattr(admission, "time", SimpleNamespace(time=held, monotonic=time.monotonic))


@pytest.fixture
def noon(db: None) -> Iterator[None]:
    """Set the clock to noon for tests that count by days."""
    with moments.at_noon():
        yield


@pytest.fixture(autouse=True)
def _empty_redis(request: pytest.FixtureRequest) -> Iterator[None]:
    """Clear feeds, counters and cached identities after each test."""
    yield
    if request.node.get_closest_marker("django_db") is not None:
        emptying.flush_redis()
