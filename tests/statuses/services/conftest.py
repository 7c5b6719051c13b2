"""Fixtures for the tests of cards."""

import pytest

from accounts.models import Account
from tests.factories.accounts import make_remote


@pytest.fixture
def stranger(db: None) -> Account:
    return make_remote()
