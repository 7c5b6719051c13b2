"""The function behind `statuses.queries.rows`, with the viewer's marks: one round trip instead of two on every page.

Why it is a function, and how it is changed, stands in migration 0002.
"""

from __future__ import annotations

from django.db import migrations

CREATE = """
CREATE FUNCTION statuses_rows_2(wanted bigint[], viewer bigint) RETURNS TABLE (
    id bigint, account_id bigint, visibility text, is_deleted boolean, created_ms bigint, uri text, version integer,
    is_local boolean, is_sensitive boolean, language text, in_reply_to_id bigint, in_reply_to_account_id bigint,
    is_orphan boolean, reblog_of_id bigint,
    username text, domain text, account_version integer, is_suspended boolean, is_limited boolean, is_sensitized boolean,
    followers_count bigint, following_count bigint, statuses_count bigint, last_status_ms bigint,
    replies_count bigint, reblogs_count bigint, favourites_count bigint, quotes_count bigint,
    application_name text, application_website text, shows_application boolean, addressed_ids bigint[],
    is_favourited boolean, is_reblogged boolean
) LANGUAGE plpgsql STABLE ROWS 40 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN RETURN QUERY
SELECT s.id, s.account_id, s.visibility, s.deleted_at IS NOT NULL, floor(extract(epoch FROM s.created_at) * 1000)::bigint,
       s.uri, s.version, s.local, s.sensitive, s.language, s.in_reply_to_id, s.in_reply_to_account_id,
       s.in_reply_to_uri IS NOT NULL, s.reblog_of_id,
       a.username, a.domain, a.version, a.suspended_at IS NOT NULL, a.limited_at IS NOT NULL, a.sensitized_at IS NOT NULL,
       COALESCE(n.followers_count, 0), COALESCE(n.following_count, 0), COALESCE(n.statuses_count, 0),
       floor(extract(epoch FROM n.last_status_at) * 1000)::bigint,
       COALESCE(c.replies_count, 0), COALESCE(c.reblogs_count, 0), COALESCE(c.favourites_count, 0),
       COALESCE(c.quotes_count, 0),
       p.name::text, p.website, u.preferences->'show_application' IS DISTINCT FROM 'false'::jsonb,
       ARRAY(SELECT m.account_id FROM statuses_mention m WHERE m.status_id = s.id),
       viewer IS NOT NULL AND EXISTS (SELECT 1 FROM statuses_favourite f
                                       WHERE f.account_id = viewer AND f.status_id = s.id),
       viewer IS NOT NULL AND EXISTS (SELECT 1 FROM statuses_status b
                                       WHERE b.account_id = viewer AND b.reblog_of_id = s.id AND b.deleted_at IS NULL)
  FROM statuses_status s
  JOIN accounts_account a ON a.id = s.account_id
  LEFT JOIN accounts_accountstat n ON n.account_id = s.account_id
  LEFT JOIN statuses_statusstat c ON c.status_id = s.id
  LEFT JOIN accounts_application p ON p.id = s.application_id
  LEFT JOIN accounts_user u ON u.account_id = s.account_id AND s.local
 WHERE s.id IN (SELECT unnest(wanted)
                UNION SELECT b.reblog_of_id FROM statuses_status b
                       WHERE b.id = ANY(wanted) AND b.reblog_of_id IS NOT NULL);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("statuses", "0002_rows_function")]
    operations = [migrations.RunSQL(CREATE, "DROP FUNCTION statuses_rows_2(bigint[], bigint);")]
