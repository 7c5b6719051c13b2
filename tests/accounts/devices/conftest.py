"""Fixtures: two users, whose client programs encrypt messages."""

import pytest

from tests.accounts.devices.programs import (
    Program,
)
from tests.factories.accounts import make_user


@pytest.fixture
def alice(db: None) -> Program:
    return Program(make_user("alice"))


@pytest.fixture
def bob(db: None) -> Program:
    return Program(make_user("bob"))
