"""One server, as an operator runs it, for all flows that leave it whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.flows.community import Community
from tests.support.instance import Instance


@pytest.fixture(scope="package")
def server() -> Iterator[Instance]:
    """A running server; what others did on it before is there."""
    with Instance() as running:
        yield running


@pytest.fixture(scope="module")
def community() -> Iterator[Community]:
    with Instance(REGISTRATIONS="approval", FEDERATION_LOOPBACK="yes") as running:
        yield Community(running)
