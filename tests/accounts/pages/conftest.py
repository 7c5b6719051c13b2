"""What the tests of the pages start from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

PASSWORD = "correct horse"


@pytest.fixture
def sign_in(client: Client) -> Callable[..., Any]:
    """Send the sign-in form."""

    def send(login: str, password: str = PASSWORD, url: str = "/auth/sign_in", **headers: str) -> Any:
        return client.post(url, {"login": login, "password": password}, headers=headers)

    return send
