"""Fixtures for the tests that call every endpoint: users and tokens."""

from typing import Any

import pytest

from social.api.scopes import SCOPES
from tests.conformance.people import Person
from tests.support.callers import Callers


class EveryScope(Callers):
    """A source of tokens. A token has all scopes unless the test names some."""

    scopes = " ".join(SCOPES)


@pytest.fixture
def callers(db: None) -> EveryScope:
    return EveryScope()


@pytest.fixture
def alice(db: None) -> Person:
    return Person("alice")


@pytest.fixture
def bob(db: None) -> Person:
    return Person("bob")


@pytest.fixture(autouse=True)
def own_media(settings: Any, tmp_path: Any) -> None:
    """Store the files of each test in its own folder."""
    settings.MEDIA_ROOT = tmp_path
