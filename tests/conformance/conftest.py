"""People, and tokens for the tests that call every endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from social.api.scopes import SCOPES
from tests.conformance.people import Person
from tests.support.callers import Callers


class EveryScope(Callers):
    """Tokens with every scope there is, when none is named."""

    scopes = " ".join(SCOPES)


@pytest.fixture
def callers(db: None) -> EveryScope:
    """Where tokens come from."""
    return EveryScope()


@pytest.fixture
def alice(db: None) -> Person:
    """Somebody."""
    return Person("alice")


@pytest.fixture
def bob(db: None) -> Person:
    """Somebody else."""
    return Person("bob")


@pytest.fixture(autouse=True)
def own_media(settings: Any, tmp_path: Any) -> None:
    """Files of one test are not seen by another."""
    settings.MEDIA_ROOT = tmp_path
