"""Wake-ups that wait name the one reaction of all work that waits for other servers."""

from django.db import migrations

RENAMED = """
UPDATE social_outbox SET subscriber = 'social.kernel.runner.running.Work.react', key = ''
WHERE event IN ('DeliveriesDue', 'FetchesDue', 'CardsDue', 'RemoteCopyRequested')
"""


class Migration(migrations.Migration):
    dependencies = [("social", "0002_hosts")]
    operations = [migrations.RunSQL(RENAMED, migrations.RunSQL.noop)]
