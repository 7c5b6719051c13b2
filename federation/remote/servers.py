"""Figures of remote servers, and the removal of all data of a server."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from django.db import connection, transaction

from accounts.emojis.services.remote import remove_emojis
from accounts.models import Account, Domain
from accounts.models.user import Permission
from accounts.policies.staff import OPERATOR, Staff, require
from accounts.queries.servers import list_failing_hosts, load_names
from accounts.services.audit import record
from accounts.services.erasing import delete_account
from federation.events import ServerPurgeDue
from social.kernel.batches import BATCH
from social.kernel.events import publish
from social.kernel.terms import UNAVAILABLE_AFTER

BATCH_SIZE: Final = 50
_FIGURES: Final = """
WITH chosen AS MATERIALIZED (
    SELECT name, min(first_seen_at) AS first_seen_at, ARRAY[name, max(host)] AS hosts FROM (
      SELECT name, first_seen_at, host FROM accounts_domain
       UNION ALL SELECT name, failing_since, '' FROM social_host
                  WHERE failures > 0 AND %(names)s::text[] IS NOT NULL) known
     WHERE %(names)s::text[] IS NULL OR name = ANY(%(names)s)
     GROUP BY name ORDER BY name LIMIT %(limit)s),
people AS MATERIALIZED (
    SELECT a.id, lower(a.domain) AS name, a.deleted_at IS NULL AS exists FROM accounts_account a
     WHERE lower(a.domain) = ANY(ARRAY(SELECT name FROM chosen))),
given_up AS MATERIALIZED (
    -- Counted first: a join with all of them would have them in a hash table.
    SELECT h.name, sum(d.deliveries)::bigint AS deliveries FROM (
        SELECT host, count(*) AS deliveries FROM federation_delivery
         WHERE dead_at IS NOT NULL AND (host IN (SELECT unnest(hosts) FROM chosen)) IS TRUE GROUP BY host) d
      JOIN (SELECT DISTINCT name, unnest(hosts) AS host FROM chosen) h USING (host) GROUP BY h.name)
SELECT c.name AS domain, c.first_seen_at::date::text AS first_seen,
  COALESCE(k.software, '') AS software, COALESCE(k.version, '') AS version,
  to_char(k.reached_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS reached,
  COALESCE(p.accounts, 0) AS accounts, COALESCE(p.followed, 0) AS followed, COALESCE(p.followers, 0) AS followers,
  COALESCE(p.posts, 0) AS posts,
  d.waiting, d.failing, to_char(d.oldest AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS oldest,
  COALESCE(g.deliveries, 0) AS given_up,
  CASE WHEN t.failures IS NULL THEN 'reachable'
       WHEN t.failing_since < statement_timestamp() - %(unavailable)s THEN 'unavailable' ELSE 'backing off' END AS state,
  COALESCE(t.failures, 0) AS failures, to_char(t.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS failing_since,
  to_char(t.retry_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS next_try, COALESCE(t.last_error, '') AS last_error
FROM chosen c LEFT JOIN accounts_domain k ON k.name = c.name LEFT JOIN given_up g ON g.name = c.name LEFT JOIN (
    SELECT p.name, count(*) FILTER (WHERE p.exists) AS accounts, sum(s.statuses_count)::bigint AS posts,
           sum(s.followers_count)::bigint AS followed, sum(s.following_count)::bigint AS followers
      FROM people p LEFT JOIN accounts_accountstat s ON s.account_id = p.id GROUP BY p.name) p ON p.name = c.name
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting, count(*) FILTER (WHERE attempts > 0) AS failing, min(created_at) AS oldest
    FROM federation_delivery WHERE host = ANY(c.hosts) AND dead_at IS NULL) d LEFT JOIN LATERAL (
    SELECT failures, failing_since, retry_at, last_error FROM social_host h WHERE h.name = ANY(c.hosts) AND h.failures > 0
    ORDER BY h.failures DESC LIMIT 1) t ON TRUE
ORDER BY accounts DESC, c.name
"""


def load_servers(names: list[str] | None, *, limit: int, failing: bool = False) -> list[dict[str, Any]]:
    """Return the figures of the servers in `names`, or, without `names`, of the first `limit` servers by name; with `failing`,
    only of servers that are failing (`list_failing_hosts`).

    Servers are identified by the domain of their addresses; failing servers and `names` may also be hosts without accounts,
    such as relays. Deliveries to a host count for each server with documents on that host. `state` is `reachable`, `backing
    off` (retried at `next_try`) or `unavailable` (after a week of failures).
    """
    if failing:
        failed = load_names(list_failing_hosts().values_list("name", flat=True))
        troubled = {name for server_names in failed.values() for name in server_names}
        names = sorted(troubled if names is None else troubled.intersection(names))
    values: dict[str, Any] = {"names": names, "limit": limit, "unavailable": UNAVAILABLE_AFTER}
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES, values)
        columns = [column.name for column in cursor.description or ()]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def purge_server(*, by: Staff, domain: str) -> Iterator[Account]:
    """Delete every account of a server with all its data, the emojis of the server and its subdomains, and the row of the
    server.

    Yields the accounts: each is hidden immediately, and removed by the worker. The accounts come back when their posts arrive
    again, unless the server is blocked. Raises Forbidden at the first step.
    """
    require(by, Permission.DELETE_USER_DATA)
    last = 0
    while True:
        rows = Account.objects.filter(domain=domain, deleted_at=None, id__gt=last).order_by("id")[:BATCH]
        accounts = list(rows)
        for account in accounts:
            delete_account(by=by, account=account)
            yield account
        if len(accounts) < BATCH:
            break
        last = accounts[-1].id
    while remove_emojis(domain, BATCH):
        pass
    with transaction.atomic():
        Domain.objects.filter(name=domain).delete()
        record(by=by, action="purge", target_type="Domain", target_id=0, target_name=domain)


def begin_purge(*, by: Staff, domain: str) -> None:
    """Start `purge_server` in the background, BATCH_SIZE accounts at a time. Publishes ServerPurgeDue. Raises Forbidden."""
    require(by, Permission.DELETE_USER_DATA)
    with transaction.atomic():
        publish(ServerPurgeDue(domain=domain, account_id=by.account_id or 0, name=by.name))


def go_on_purging(events: Sequence[ServerPurgeDue]) -> None:
    """React to ServerPurgeDue: purge the next accounts, and publish the event again if accounts may remain. `begin_purge` has
    checked the permission.
    """
    for event in events:
        by = replace(OPERATOR, account_id=event.account_id or None, name=event.name)
        for number, _account in enumerate(purge_server(by=by, domain=event.domain), start=1):
            if number == BATCH_SIZE:
                with transaction.atomic():
                    publish(event)
                break
