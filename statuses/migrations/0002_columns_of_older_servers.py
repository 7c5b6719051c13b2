from django.db import migrations

# `0001_initial` was changed after servers had applied it. On those that applied it as it is now there is nothing to do.
LANGUAGES = """
CREATE INDEX IF NOT EXISTS statuses_status_languages ON statuses_status (local, language, (id * -1))
 WHERE deleted_at IS NULL AND reblog_of_id IS NULL AND visibility = 'public';
"""

# A column of `accounts`, added here because posts tell which hashtags nobody has used where everybody can read it.
PRIVATE_TAGS = """
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_attribute
              WHERE attrelid = 'accounts_tag'::regclass AND attname = 'private' AND NOT attisdropped) THEN
    RETURN;
  END IF;
  ALTER TABLE accounts_tag ADD COLUMN private boolean DEFAULT false NOT NULL;
  UPDATE accounts_tag t SET private = true
   WHERE NOT EXISTS (SELECT FROM accounts_taguse WHERE tag_id = t.id)
     AND NOT EXISTS (SELECT FROM accounts_featuredtag WHERE tag_id = t.id)
     AND NOT EXISTS (SELECT FROM accounts_collection WHERE tag_id = t.id)
     AND NOT EXISTS (SELECT FROM statuses_statustag u JOIN statuses_status s ON s.id = u.status_id
                      WHERE u.tag_id = t.id AND s.visibility IN ('public', 'unlisted'));
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("statuses", "0001_initial"), ("accounts", "0003_columns_of_older_servers")]
    operations = [migrations.RunSQL([LANGUAGES, PRIVATE_TAGS], migrations.RunSQL.noop)]
