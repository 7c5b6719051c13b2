from django.db import migrations

# `0001_initial` was changed after servers had applied it. On those that applied it as it is now there is nothing to do.
TAG_FOLLOWS = """
ALTER TABLE accounts_tagfollow ADD COLUMN IF NOT EXISTS absent boolean DEFAULT false NOT NULL;
ALTER TABLE accounts_tagfollow ALTER COLUMN absent DROP DEFAULT;
CREATE INDEX IF NOT EXISTS accounts_tagfollow_reached ON accounts_tagfollow (tag_id, account_id) WHERE NOT absent;
CREATE INDEX IF NOT EXISTS accounts_tagfollow_active ON accounts_tagfollow (account_id) WHERE NOT absent;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_copy_fetches")]
    operations = [migrations.RunSQL(TAG_FOLLOWS, migrations.RunSQL.noop)]
