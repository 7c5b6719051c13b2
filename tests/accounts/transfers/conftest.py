"""What the tests of bringing lists along share."""

from __future__ import annotations

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
    """Nobody is found elsewhere, unless a test says so."""
    with remote_accounts.replaced(None):
        yield
