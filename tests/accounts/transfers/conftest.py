"""Fixtures for the tests of imports."""

from typing import Any

import pytest

from accounts.models import User
from accounts.ports import remote_accounts
from tests.factories.accounts import make_user


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture
def no_other_servers() -> Any:
    """Make every lookup of a remote account fail, unless a test changes this."""
    with remote_accounts.replaced(None):
        yield
