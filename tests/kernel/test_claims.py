"""Tests of leases in situations that the tests of features with `Claims` cannot create."""

from datetime import timedelta

import pytest

from social.kernel import clock
from social.kernel.claims import Claims
from social.kernel.outbox import OutboxRow

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("token", "left", "renewed"), [(7, 60, 1), (7, -1, 0), (8, 60, 0)])
def test_only_the_holder_can_renew_a_lease_before_it_expires(token: int, left: int, renewed: int) -> None:
    until = clock.now() + timedelta(seconds=left)
    row = OutboxRow.objects.create(
        queue="default", key="", subscriber="x", event="X", payload={}, claim=7, claimed_until=until
    )
    assert Claims("social_outbox").renew(token, [row.id], 600) == renewed
    row.refresh_from_db()
    assert (row.claimed_until != until) == bool(renewed)
