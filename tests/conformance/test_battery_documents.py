"""Rows for `tests.support.battery`: the OpenAPI document."""

from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers


def nothing(callers: Callers, size: int) -> Scene:
    return Scene()


ROWS = [Row("GET api/openapi.json", nothing)]
test_promises = battery(ROWS)
