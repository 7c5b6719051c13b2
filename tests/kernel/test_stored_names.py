"""Tests of the names of reactions in rows of the outbox, which an earlier release may have written."""

from __future__ import annotations

from pathlib import Path

from social.kernel.subscriptions import registry

LANDED = Path(__file__).with_name("stored_names.txt").read_text().splitlines()


def test_rows_of_earlier_releases_find_their_reactions() -> None:
    """A new reaction gets a line in `stored_names.txt`. A reaction that moves keeps its name (parameter `name` of `on`)."""
    names = {f"{event} {subscriber}" for event, subscriber in registry._by_name if "tests." not in subscriber}
    assert sorted(names) == sorted(LANDED)
