"""The liveness and readiness of this process."""

import logging
from typing import Final

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from social.kernel import redis
from social.runtime import tables

logger = logging.getLogger(__name__)
OK: Final = "ok"
_migrated = False


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """`GET /health`: 200 `OK` as plain text, whatever the state of the database and Redis (contract, endpoints)."""
    return HttpResponse("OK", content_type="text/plain; charset=utf-8")


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """`GET /health/ready`: 200, or 503 if the database or a Redis role does not answer, or a migration or column is missing.

    The body is JSON: `{"status": "ok", "checks": {"database": "ok", "redis_cache": "failed", ...}}`. The details
    of a failure are in the log, since the answer is public.
    """
    checks = {"database": _database(), "migrations": _migrations()}
    checks |= {f"redis_{role}": _redis(role) for role in settings.REDIS_URLS}
    fine = all(answer == OK for answer in checks.values())
    return JsonResponse({"status": OK if fine else "failed", "checks": checks}, status=200 if fine else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        logger.warning("Not ready: the database does not answer: %s", error)
        return "failed"
    return OK


def pending_migrations() -> list[str]:
    """Return the migrations of this code that are not applied to the database, as `app.name`."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def _migrations() -> str:
    # A check that has succeeded is not repeated: the code of this process does not change, and a check takes 0.1 s.
    global _migrated
    if _migrated:
        return OK
    try:
        pending, different = pending_migrations(), tables.differences()
    except Error:
        return "failed"
    if pending:
        logger.warning("Not ready: %d migrations are missing, first %s", len(pending), pending[0])
        return "failed"
    if different:
        logger.warning("Not ready: %s", tables.describe(different))
        return "failed"
    _migrated = True
    return OK


def _redis(role: str) -> str:
    try:
        redis.client(role).ping()  # type: ignore[arg-type]  # the roles are those of the settings
    except redis.RedisError as error:
        logger.warning("Not ready: Redis for %s does not answer: %s", role, error)
        return "failed"
    return OK
