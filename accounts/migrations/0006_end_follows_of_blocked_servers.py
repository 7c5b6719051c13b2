"""Ends follows that people of servers began which whom they follow had blocked: they got posts for followers."""

from django.db import migrations

ENDED = """
WITH blocked AS (
  SELECT a.id AS account_id, d.account_id AS target_id
    FROM accounts_accountdomainblock d JOIN accounts_account a ON a.domain = d.domain),
asked AS (DELETE FROM accounts_followrequest r USING blocked b
           WHERE r.account_id = b.account_id AND r.target_id = b.target_id),
ended AS (DELETE FROM accounts_follow f USING blocked b
           WHERE f.account_id = b.account_id AND f.target_id = b.target_id RETURNING f.account_id, f.target_id),
changes AS (
  SELECT id, sum(following) AS following, sum(followers) AS followers FROM (
    SELECT account_id AS id, 1 AS following, 0 AS followers FROM ended
    UNION ALL SELECT target_id, 0, 1 FROM ended) each_side
   GROUP BY id)
UPDATE accounts_accountstat s
   SET following_count = GREATEST(0, following_count - c.following),
       followers_count = GREATEST(0, followers_count - c.followers)
  FROM changes c WHERE c.id = s.account_id
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_further_keys")]
    operations = [migrations.RunSQL(ENDED, migrations.RunSQL.noop)]
