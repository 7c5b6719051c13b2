"""Fixtures for signing in through an issuer: a configured issuer, and a browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.support.issuer import TestIssuer, issuing


@pytest.fixture
def issuer(settings: Any) -> Iterator[TestIssuer]:
    with issuing() as found:
        settings.ISSUERS, settings.ISSUERS_LOOPBACK = (found.settings(),), True
        yield found


@pytest.fixture
def browser() -> Client:
    return Client()
