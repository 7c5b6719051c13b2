"""Tests of the names of reactions and scheduled tasks, which earlier releases have written to the outbox and the broker."""

from pathlib import Path

import pytest
from django.apps import apps

from social.kernel.subscriptions import registry
from social.schedule import FORMER_NAMES, SCHEDULE

LANDED = Path(__file__).with_name("stored_names.txt").read_text().splitlines()


@pytest.mark.skipif(not apps.is_installed("federation"), reason="the list has the names of all apps")
def test_rows_and_messages_of_earlier_releases_find_their_reactions_and_tasks() -> None:
    """Every new name gets a line in `stored_names.txt`, and no line is ever removed.

    A reaction keeps its name when its function moves (parameter `name` of `on`); when a task moves, its former name becomes a
    key of FORMER_NAMES.
    """
    reactions = {f"{event} {subscriber}" for event, subscriber in registry._by_name if "tests." not in subscriber}
    tasks = {f"task {name}" for name in (*FORMER_NAMES, *(entry["task"] for entry in SCHEDULE.values()))}
    assert reactions | tasks == set(LANDED)
