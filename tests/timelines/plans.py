"""Helpers that measure how many rows query plans read."""

import json
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

_HANDLED = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")


def looked_at(call: Callable[[], object], of: str = "") -> int:
    """Return the number of rows that PostgreSQL handles in the plans of all queries of a call, including discarded rows. With
    `of` only queries that name this table count. Dead rows of other tests are not counted.
    """
    with CaptureQueriesContext(connection) as queries:
        call()
    rows = 0
    with connection.cursor() as cursor:
        # PostgreSQL may read small tables sequentially, depending on their number of pages.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in queries.captured_queries:
            if of not in query["sql"]:
                continue
            cursor.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + query["sql"].replace("%", "%%"))
            plans: list[dict[str, Any]] = [json.loads(json.dumps(cursor.fetchone()[0]))[0]["Plan"]]
            while plans:
                plan = plans.pop()
                # A bitmap index scan also counts dead rows; the node above it counts live ones only.
                if plan["Node Type"] != "Bitmap Index Scan":
                    rows += sum(plan.get(name, 0) for name in _HANDLED) * plan["Actual Loops"]
                plans += plan.get("Plans", [])
        cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    return int(rows)
