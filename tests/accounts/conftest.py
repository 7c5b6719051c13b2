"""Fixtures for the accounts app: a user with a client program, and a user with a browser."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from tests.factories.accounts import make_user
from tests.support.client import signed_in

PASSWORD = "correct horse"


@pytest.fixture
def person(db: None) -> User:
    return make_user("ada")


@pytest.fixture
def browser(person: User) -> Client:
    """A browser in which `person` is signed in."""
    client = signed_in(person)
    return client


@pytest.fixture
def sign_in(client: Client) -> Callable[..., Any]:
    """A function that sends the sign-in form."""

    def send(login: str, password: str = PASSWORD, url: str = "/auth/sign_in", **headers: str) -> Any:
        return client.post(url, {"login": login, "password": password}, headers=headers)

    return send
