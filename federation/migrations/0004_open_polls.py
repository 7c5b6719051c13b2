"""Polls that are open have been sent without their options: each is sent once more, as one that has new votes."""

from django.db import migrations

_OPEN_POLLS = """
INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error)
SELECT 'default', '', 'federation.outbound.distributing.send_poll_votes', 'PollVotesDue',
       jsonb_build_object('poll_id', p.id, 'status_id', p.status_id), now(), 0, ''
  FROM statuses_poll p JOIN statuses_status s ON s.id = p.status_id
 WHERE s.local AND s.deleted_at IS NULL AND p.expires_at > now()
"""


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0003_lookups"),
        ("statuses", "0003_polls_announced"),
        ("social", "0001_initial"),
    ]
    operations = [migrations.RunSQL(_OPEN_POLLS, migrations.RunSQL.noop)]
