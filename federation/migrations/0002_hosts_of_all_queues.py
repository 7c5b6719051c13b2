"""Moves what is known of other servers into the table of all work that waits for them."""

from django.db import migrations

FORWARD = """
INSERT INTO social_host (queue, name, failures, failing_since, retry_at, last_error)
SELECT 'deliveries', name, failures, failing_since, retry_at, last_error FROM federation_host
"""
BACKWARD = """
INSERT INTO federation_host (name, failures, failing_since, retry_at, last_error)
SELECT name, failures, failing_since, retry_at, last_error FROM social_host WHERE queue = 'deliveries'
"""


class Migration(migrations.Migration):
    """After the new table is there."""

    dependencies = [
        ("federation", "0001_initial"),
        ("social", "0002_hosts"),
    ]

    operations = [
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.DeleteModel(name="Host"),
    ]
