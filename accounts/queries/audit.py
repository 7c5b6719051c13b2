"""Reads the list of staff members who have entries in the audit log."""

from __future__ import annotations

from social.kernel.statements import rows_of

# One index lookup for each staff member, however many entries the log has.
_ACTORS = """
WITH RECURSIVE actors (id) AS (
  SELECT min(account_id) FROM accounts_auditentry
   UNION ALL
  SELECT (SELECT min(account_id) FROM accounts_auditentry WHERE account_id > actors.id) FROM actors
   WHERE actors.id IS NOT NULL)
SELECT e.account_id, e.account_name FROM actors
 CROSS JOIN LATERAL (
   SELECT account_id, account_name FROM accounts_auditentry WHERE account_id BETWEEN actors.id AND actors.id
    ORDER BY account_id DESC, id LIMIT 1) e
"""


def list_actors() -> list[tuple[int, str]]:
    """Return the staff members with entries in the audit log, as pairs of account id and name, in the order of the ids."""
    return [(number, name) for number, name in rows_of(_ACTORS, {})]
