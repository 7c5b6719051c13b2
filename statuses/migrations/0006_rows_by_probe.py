"""The function behind `statuses.queries.rows` reads no more than the page, whatever the planner expects.

Posts and what they boost are found by id alone, never by the index of all boosts. The viewer's marks are looked for post by post: as EXISTS they could be answered by
a hash of all the viewer's favourites, read anew for every page; the planner chose it when an average viewer had few, and it
was paid by those who have a hundred thousand. For the same reason nothing is joined but row by row: a hash of a table that
was small reads all of it by its index when it is not. Boosts are not looked at: nobody is addressed by them, and the marks
are on what they boost.
"""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

BEFORE = import_module("statuses.migrations.0005_rows_by_index").CREATE
_WANTED = """
 WHERE s.id IN (SELECT unnest(wanted)
                UNION SELECT b.reblog_of_id FROM statuses_status b
                       WHERE b.id = ANY(wanted) AND b.reblog_of_id IS NOT NULL);"""
_POSTS = """  FROM (SELECT unnest(wanted)
        UNION SELECT b.reblog_of_id FROM unnest(wanted) u (id)
               CROSS JOIN LATERAL (SELECT x.reblog_of_id FROM statuses_status x WHERE x.id = u.id OFFSET 0) b) w (id)
 CROSS JOIN LATERAL (SELECT * FROM statuses_status x WHERE x.id = w.id OFFSET 0) s
"""
_PAIRS = (
    ("SET enable_seqscan = off", "SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off"),
    (
        "ARRAY(SELECT m.account_id FROM statuses_mention m WHERE m.status_id = s.id)",
        "CASE WHEN s.reblog_of_id IS NULL THEN ARRAY(SELECT m.account_id FROM statuses_mention m WHERE m.status_id = s.id)"
        " ELSE '{}'::bigint[] END",
    ),
    # Fences (OFFSET 0): each post is asked for by its id, whatever else a planner would rather read of a table that is small.
    ("  FROM statuses_status s\n", _POSTS),
    (_WANTED, ";"),
    # A scalar has to be asked for each post.
    ("viewer IS NOT NULL AND EXISTS (", "viewer IS NOT NULL AND s.reblog_of_id IS NULL AND ("),
    ("f.status_id = s.id)", "f.status_id = s.id) IS NOT NULL"),
    ("b.deleted_at IS NULL)", "b.deleted_at IS NULL) IS NOT NULL"),
)

CREATE = BEFORE
for old, new in _PAIRS:
    assert old in CREATE
    CREATE = CREATE.replace(old, new)


class Migration(migrations.Migration):
    dependencies = [("statuses", "0005_rows_by_index")]
    operations = [migrations.RunSQL(CREATE, BEFORE)]
