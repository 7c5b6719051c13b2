"""What the tests of the embassy share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import Account
from tests.factories import accounts
from tests.factories.accounts import make_account
from tests.federation.elsewhere import Elsewhere, Someone

accounts.rsa_pair()


@pytest.fixture
def elsewhere(settings: Any) -> Iterator[Elsewhere]:
    """Another server on this machine, which this one may speak to."""
    settings.FEDERATION_LOOPBACK = True
    with Elsewhere().running() as server:
        yield server


@pytest.fixture
def alice(db: None) -> Account:
    """A person here."""
    return make_account("alice")


@pytest.fixture
def zoe(elsewhere: Elsewhere) -> Someone:
    """A person there."""
    return elsewhere.person("zoe")
