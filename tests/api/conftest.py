"""Fixtures for the API tests: the sample API instead of the real one, and tokens without accounts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from django.test import Client

from social.api import admission
from social.api.admission import checksum_of
from social.api.identities import Identity, source
from social.api.scopes import SCOPES
from social.kernel import redis
from tests.support.client import forget_identities


class Tokens:
    """A token source in memory that counts its lookups."""

    def __init__(self) -> None:
        self.identities: dict[str, Identity] = {}
        self.asked: list[str] = []
        self.numbers = count(1000)
        self.meanwhile: Callable[[], None] | None = None

    def find_identity(self, token: str) -> Identity | None:
        """Return the identity of a token; if a test has set `meanwhile`, call it after the lookup and before returning."""
        self.asked.append(token)
        found = self.identities.get(token)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return found

    def make(self, *scopes: str, user_id: int | None = None, **state: Any) -> str:
        number = next(self.numbers)
        token = f"token-{number}"
        self.identities[token] = Identity(
            token_id=number,
            application_id=1,
            scopes=frozenset(scopes or SCOPES),
            user_id=user_id,
            account_id=user_id and user_id + 10,
            **state,
        )
        return token

    def user_token(self, *scopes: str, **state: Any) -> str:
        """Create a token of the main user."""
        return self.make(*scopes, user_id=1, **state)

    def other_user_token(self, *scopes: str) -> str:
        return self.make(*scopes, user_id=2)

    def app_token(self, *scopes: str) -> str:
        return self.make(*scopes)

    def change(self, token: str, **state: Any) -> None:
        """Change the user's state as a service would, and drop the cached token."""
        self.identities[token] = replace(self.identities[token], **state)
        admission.forget_tokens([checksum_of(token)])

    def revoke(self, token: str) -> None:
        del self.identities[token]
        admission.forget_tokens([checksum_of(token)])


@pytest.fixture(autouse=True)
def _sample_api(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.api.urls"


@pytest.fixture
def callers() -> Iterator[Tokens]:
    """A token source, with empty caches."""
    tokens = Tokens()
    redis.client("cache").flushdb()
    forget_identities()
    redis.circuit("cache").close()
    with source.replaced(tokens):
        yield tokens
    forget_identities()
    redis.circuit("cache").close()


@pytest.fixture
def limits(settings: Any) -> None:
    settings.RATE_LIMITS = True


@pytest.fixture
def get() -> Callable[..., Any]:
    """A function that sends GET requests: `get(path, token=..., **query)`."""

    def ask(path: str, token: str | None = None, **query: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Client().get(path, query, headers=headers)

    return ask
