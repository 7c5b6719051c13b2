"""What every endpoint promises, for the documents of the instance."""

from __future__ import annotations

from moderation.models import InstanceRule
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def rules(callers: Callers, size: int) -> Scene:
    for number in range(size):
        InstanceRule.objects.create(text=f"Rule {number}", position=number)
    return Scene()


ROWS = [
    Row("GET api/v2/instance", rules),
    Row("GET api/v1/instance", rules),
    Row("GET api/v1/instance/rules", rules),
]
test_promises = battery(ROWS)
