"""Users for the tests of notifications."""

import pytest

from tests.notifications.people import Person


@pytest.fixture
def alice(db: None) -> Person:
    return Person("alice")


@pytest.fixture
def bob(db: None) -> Person:
    return Person("bob")


@pytest.fixture
def carol(db: None) -> Person:
    return Person("carol")
