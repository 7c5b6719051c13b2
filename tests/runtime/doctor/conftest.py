"""Fixtures for the tests of the doctor: a healthy installation, and a function that examines it."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.db import connection

from social.kernel import heartbeats
from social.runtime import database, doctor, fingerprints, machine_checks
from social.settings import env

Examine = Callable[[], dict[str, machine_checks.Check]]


@pytest.fixture
def examine() -> Examine:
    return lambda: {check.name: check for check in doctor.examine()}


@pytest.fixture(autouse=True)
def healthy(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every check pass; processes that cannot run in a test are reported as running."""
    with connection.cursor() as cursor:
        database.store_domain(cursor, settings.LOCAL_DOMAIN)
        fingerprints.store_fingerprints(cursor, settings.SECRETS)
    for name in ("media", "mail", "run"):
        (env.DATA_DIR / name).mkdir(exist_ok=True)
    for role in ("worker", "scheduler"):
        heartbeats.beat(role)
    monkeypatch.setattr("social.runtime.launch.answers", lambda name: True)
