"""The function that makes time-ordered ids, the outbox with the function that claims its rows, the leases, and the domain.

Every other app's first migration depends on this one.
"""

from __future__ import annotations

import secrets

import django.db.models.functions.datetime
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from social.kernel.migration_operations import CreateModels

# The tail is two bytes of a salted hash of (table, millisecond) plus a sequence: distinct within a millisecond, and
# neither the number of rows nor the order within a millisecond can be read from it. The salt is minted here, per
# installation, and lives only in the function's body. One sequence serves all tables (docs/adr/0002).
FUNCTION = """
CREATE SEQUENCE IF NOT EXISTS snowflake_tail AS bigint CYCLE;
CREATE OR REPLACE FUNCTION timestamp_id(table_name text) RETURNS bigint AS $$
DECLARE
    milliseconds bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    base bigint := ('x' || substr(md5(table_name || '{salt}' || milliseconds::text), 1, 4))::bit(16)::bigint;
BEGIN
    RETURN (milliseconds << 16) | ((base + nextval('snowflake_tail')) & 65535);
END
$$ LANGUAGE plpgsql VOLATILE;
"""


def create(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the sequence and the function with a fresh salt."""
    schema_editor.execute(FUNCTION.format(salt=secrets.token_hex(16)), params=None)


def drop(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Undo `create`."""
    schema_editor.execute("DROP FUNCTION timestamp_id(text); DROP SEQUENCE snowflake_tail;", params=None)


# A queue table lives on its dead rows being cleared away: by pages with room for heap-only updates and by a vacuum that
# comes after thousands of changes, whatever the share of the table, and does not pause. The threshold on inserts is off:
# rows that live for a second need no freezing.
STORAGE = """
ALTER TABLE social_outbox SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
    autovacuum_vacuum_insert_threshold = -1
);
"""

# A function because its plans are kept: the same statements cost half a millisecond of planning at each wake-up. The
# planner's figures of a queue are always stale, so what would read the whole table is switched off inside.
#
# 1. A window of due rows, oldest first, without a look at their lanes.
# 2. Once per lane of the window, not once per row: is its first row the oldest of the lane? So a lane of 50,000 rows
#    behind a dead letter costs one question. The question looks backwards from the row: the nearest older row, if any,
#    is found in one step; and it is asked in the statement that locks, because the answer must be of one snapshot.
# 3. The rows directly behind each head join it, as many as the heads leave of the limit: a backlog of many lanes pays
#    nothing for them, and one long lane is taken in long strides. They cannot belong to anybody else, for the head is
#    locked by now.
# 4. When most of the window waited behind rows that are dead, backing off or in other hands, the window moves on.
#
# A claim that a crash of PostgreSQL forgets is a row that is claimed again: the commit need not wait for the disk.
CLAIM = """
CREATE FUNCTION social_outbox_claim(wanted_queue text, row_limit integer, new_claim bigint, lease interval)
RETURNS TABLE (row_id bigint, row_key text, row_subscriber text, row_event text, row_payload jsonb,
               row_attempts smallint, row_abandoned boolean)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    span integer := 1000;
    seen integer;
    taken integer := 0;
    counted integer;
    after_due timestamptz := '-infinity';
    after_id bigint := 0;
    firsts bigint[];
    heads bigint[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    LOOP
        WITH due AS MATERIALIZED (
            SELECT o.id, o.key, o.due_at
            FROM social_outbox o
            WHERE o.queue = wanted_queue AND o.due_at <= now() AND o.dead_at IS NULL
              AND (o.due_at, o.id) > (after_due, after_id) AND (o.claimed_until IS NULL OR o.claimed_until <= now())
            ORDER BY o.due_at, o.id
            LIMIT span
        ), lanes AS (
            SELECT min(d.id) AS id, min(d.due_at) AS due_at FROM due d GROUP BY d.key, CASE WHEN d.key = '' THEN d.id END
        ), last AS (
            SELECT d.due_at, d.id FROM due d ORDER BY d.due_at DESC, d.id DESC LIMIT 1
        )
        SELECT (SELECT count(*) FROM due), (SELECT array_agg(l.id ORDER BY l.due_at, l.id) FROM lanes l), last.due_at, last.id
        INTO seen, firsts, after_due, after_id
        FROM last;
        EXIT WHEN NOT FOUND;

        SELECT array_agg(h.id) INTO heads
        FROM (
            SELECT o.id
            FROM unnest(firsts) AS f (id) CROSS JOIN LATERAL (
                SELECT r.id
                FROM social_outbox r
                WHERE r.id = f.id AND r.due_at <= now() AND r.dead_at IS NULL
                  AND (r.claimed_until IS NULL OR r.claimed_until <= now())
                  AND (r.key = '' OR (SELECT e.id FROM social_outbox e
                                      WHERE e.queue = r.queue AND e.key = r.key AND e.id < r.id
                                      ORDER BY e.id DESC LIMIT 1) IS NULL)
                LIMIT 1
                FOR UPDATE OF r SKIP LOCKED
            ) o
            LIMIT row_limit - taken
        ) h;

        IF heads IS NOT NULL THEN
            RETURN QUERY
            WITH chosen AS MATERIALIZED (
                SELECT n.id, n.abandoned
                FROM unnest(heads) AS h (id) JOIN social_outbox o ON o.id = h.id CROSS JOIN LATERAL (
                    SELECT b.id, b.abandoned, bool_and(b.free) OVER (ORDER BY b.id) AS free
                    FROM (
                        SELECT r.id, r.claimed_until IS NOT NULL AS abandoned,
                               r.due_at <= now() AND r.dead_at IS NULL
                               AND (r.claimed_until IS NULL OR r.claimed_until <= now()) AS free
                        FROM social_outbox r
                        WHERE o.key <> '' AND r.queue = wanted_queue AND r.key = o.key AND r.id > o.id
                        ORDER BY r.id
                        LIMIT (row_limit - taken) / cardinality(heads) - 1
                    ) b
                ) n
                WHERE n.free
                UNION ALL
                SELECT o.id, o.claimed_until IS NOT NULL
                FROM unnest(heads) AS h (id) JOIN social_outbox o ON o.id = h.id
            )
            UPDATE social_outbox o
            SET claim = new_claim, claimed_until = now() + lease
            FROM chosen c
            WHERE o.id = c.id AND (o.claimed_until IS NULL OR o.claimed_until <= now())
            RETURNING o.id, o.key, o.subscriber, o.event, o.payload, o.attempts, c.abandoned;
            GET DIAGNOSTICS counted = ROW_COUNT;
            taken := taken + counted;
        END IF;
        EXIT WHEN seen < span OR taken * 4 >= row_limit;
        span := least(span * 4, 100000);
    END LOOP;
END
$$;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.RunPython(create, drop),
        CreateModels(
            [
                migrations.CreateModel(
                    name="Lease",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("holder", models.TextField()),
                        ("until", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("holder__text_length__lte", 255), ("name__text_length__lte", 255)),
                                name="social_lease_lengths",
                            )
                        ],
                        "db_table": "social_lease",
                    },
                ),
                migrations.CreateModel(
                    name="Installation",
                    fields=[
                        ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                        ("local_domain", models.TextField()),
                        ("fingerprints", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ],
                    options={
                        "db_table": "social_installation",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("fingerprints__text_length__lte", 1000000), ("local_domain__text_length__lte", 260)
                                ),
                                name="social_installation_lengths",
                            ),
                            models.CheckConstraint(condition=models.Q(("id", 1)), name="installation_is_one"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OutboxRow",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("queue", models.TextField()),
                        ("key", models.TextField()),
                        ("subscriber", models.TextField()),
                        ("event", models.TextField()),
                        ("payload", models.JSONField()),
                        ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("claimed_until", models.DateTimeField(null=True)),
                        ("claim", models.BigIntegerField(null=True)),
                        ("attempts", models.SmallIntegerField(db_default=0)),
                        ("last_error", models.TextField(db_default="")),
                        ("dead_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("event__text_length__lte", 255),
                                    ("key__text_length__lte", 2048),
                                    ("last_error__text_length__lte", 2000),
                                    ("payload__text_length__lte", 1000000),
                                    ("queue__text_length__lte", 64),
                                    ("subscriber__text_length__lte", 255),
                                ),
                                name="social_outboxrow_lengths",
                            )
                        ],
                        "verbose_name": "outbox row",
                        "verbose_name_plural": "outbox rows",
                        "db_table": "social_outbox",
                        "indexes": [
                            models.Index(
                                condition=models.Q(("dead_at__isnull", True)),
                                fields=["queue", "due_at", "id"],
                                name="outbox_due",
                            ),
                            models.Index(fields=["queue", "key", "id"], name="outbox_lane"),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", False)), fields=["dead_at"], name="outbox_dead"
                            ),
                        ],
                    },
                ),
            ]
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL([(CLAIM, None)], "DROP FUNCTION social_outbox_claim(text, integer, bigint, interval)"),
    ]
