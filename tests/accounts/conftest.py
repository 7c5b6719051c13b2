"""The people of the tests of the accounts app: one with a client program, one with a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from social.kernel import redis
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api, signed_in

PASSWORD = "correct horse"


@pytest.fixture
def ann(db: None) -> User:
    return make_user("ann")


@pytest.fixture
def api(ann: User) -> Api:
    """Her client."""
    return Api(make_token(ann))


@pytest.fixture
def person(db: None) -> User:
    return make_user("ada")


@pytest.fixture
def browser(person: User) -> Client:
    """One in which the person is signed in."""
    client = signed_in(person)
    return client


@pytest.fixture
def sign_in(client: Client) -> Callable[..., Any]:
    """Send the sign-in form."""

    def send(login: str, password: str = PASSWORD, url: str = "/auth/sign_in", **headers: str) -> Any:
        return client.post(url, {"login": login, "password": password}, headers=headers)

    return send


@pytest.fixture
def counted(settings: Any) -> Iterator[None]:
    """Rate limits as in real life, with nothing used up before and after."""
    settings.RATE_LIMITS = True
    redis.client("cache").flushdb()
    yield
    redis.client("cache").flushdb()
