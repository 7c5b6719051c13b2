"""Tests of the format of times."""

from datetime import UTC, datetime, timedelta

import pytest

from social.kernel import clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("milliseconds", [0, 1, 999, 1000, -1, -1001, 1_763_668_800_123, 253_402_300_799_999])
def test_milliseconds_are_written_like_the_same_datetime(milliseconds: int) -> None:
    moment = EPOCH + timedelta(milliseconds=milliseconds)
    assert clock.iso_ms(milliseconds) == clock.iso(moment)
    assert clock.iso(moment)[19:] == f".{milliseconds % 1000:03}Z"
    assert clock.iso_seconds(moment) == f"{clock.iso(moment)[:19]}Z"
