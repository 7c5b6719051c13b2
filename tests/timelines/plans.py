"""What the plans of statements look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext


def looked_at(call: Callable[[], object]) -> int:
    """Rows that PostgreSQL handles at all steps of the plans of a call, those it throws away included."""
    with CaptureQueriesContext(connection) as queries:
        call()
    rows = 0
    with connection.cursor() as cursor:
        for query in queries.captured_queries:
            cursor.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + query["sql"].replace("%", "%%"))
            plans: list[dict[str, Any]] = [json.loads(json.dumps(cursor.fetchone()[0]))[0]["Plan"]]
            while plans:
                plan = plans.pop()
                rows += (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
                plans += plan.get("Plans", [])
    return int(rows)
