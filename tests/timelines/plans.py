"""What the plans of statements look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

_HANDLED = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")


def looked_at(call: Callable[[], object], of: str = "") -> int:
    """Rows that PostgreSQL handles at all steps of the plans of a call, those it throws away included; only of statements
    that name the table `of`, if given. Other tests have no part in it: what they left behind is not counted.
    """
    with CaptureQueriesContext(connection) as queries:
        call()
    rows = 0
    with connection.cursor() as cursor:
        # Tables as small as those of tests may well be read from end to end, which depends on how many pages they have.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in queries.captured_queries:
            if of not in query["sql"]:
                continue
            cursor.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + query["sql"].replace("%", "%%"))
            plans: list[dict[str, Any]] = [json.loads(json.dumps(cursor.fetchone()[0]))[0]["Plan"]]
            while plans:
                plan = plans.pop()
                # Of an index that is read for a bitmap entries of dead rows are counted; those alive are counted above it.
                if plan["Node Type"] != "Bitmap Index Scan":
                    rows += sum(plan.get(name, 0) for name in _HANDLED) * plan["Actual Loops"]
                plans += plan.get("Plans", [])
        cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    return int(rows)
