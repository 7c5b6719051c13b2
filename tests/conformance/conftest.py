"""People, and tokens for the tests that knock at every callers."""

from __future__ import annotations

from typing import Any

import pytest

from social.api.scopes import SCOPES
from tests.conformance.people import Person
from tests.factories.accounts import make_token, make_user


class Doorkeeper:
    """Two people and an application, with tokens of any scope; see `tests.support.access_checks.CallerTokens`."""

    def __init__(self) -> None:
        self.user, self.other = make_user("doorkeeper"), make_user("stranger")

    def user_token(self, *scopes: str) -> str:
        """A token of the main user."""
        return make_token(self.user, " ".join(scopes or SCOPES))

    def other_user_token(self, *scopes: str) -> str:
        """A token of somebody unrelated."""
        return make_token(self.other, " ".join(scopes or SCOPES))

    def app_token(self, *scopes: str) -> str:
        """An application's own token."""
        return make_token(None, " ".join(scopes or SCOPES))


@pytest.fixture
def callers(db: None) -> Doorkeeper:
    """Where tokens come from."""
    return Doorkeeper()


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
