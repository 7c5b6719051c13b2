from django.db import migrations

# `0001_initial` was changed after servers had applied it. On those that applied it as it is now there is nothing to do.
LISTS = """
ALTER TABLE timelines_list ADD COLUMN IF NOT EXISTS absent boolean DEFAULT false NOT NULL;
ALTER TABLE timelines_list ALTER COLUMN absent DROP DEFAULT;
ALTER TABLE timelines_listmember ADD COLUMN IF NOT EXISTS absent boolean DEFAULT false NOT NULL;
ALTER TABLE timelines_listmember ALTER COLUMN absent DROP DEFAULT;
CREATE INDEX IF NOT EXISTS timelines_list_active ON timelines_list (account_id) WHERE NOT absent;
CREATE INDEX IF NOT EXISTS timelines_listmember_reached ON timelines_listmember (account_id, list_id) WHERE NOT absent;
"""


class Migration(migrations.Migration):
    dependencies = [("timelines", "0001_initial")]
    operations = [migrations.RunSQL(LISTS, migrations.RunSQL.noop)]
