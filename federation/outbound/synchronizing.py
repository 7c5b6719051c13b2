"""Sends each server the digest of a local account's followers on that server, and ends follows that only the other server knows
(FEP-8fcf).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.db import connection

from accounts.models import Account, AccountStat, Follow, FollowRequest
from federation.documents import activities, reading, synchronization
from federation.events import UnknownFollowFound
from federation.outbound import audience, queueing
from social.kernel import links

_FOLLOWERS: Final = """
SELECT target_id, uri, inbox_host FROM (
  SELECT f.target_id, a.uri, lower(split_part(COALESCE(NULLIF(a.shared_inbox_url, ''), a.inbox_url), '/', 3)) AS inbox_host
    FROM accounts_follow f JOIN accounts_account a ON a.id = f.account_id
   WHERE f.target_id = ANY(%(accounts)s) AND f.follower_state = 'remote') found
 WHERE lower(split_part(uri, '/', 3)) = ANY(%(hosts)s) OR inbox_host = ANY(%(hosts)s)
"""


def load_headers(accounts_and_hosts: Iterable[tuple[Account, str]]) -> dict[tuple[int, str], str]:
    """Return the synchronization header for each account and host, keyed by the account's id and the host. Needs two queries.

    Accounts with FOLLOWERS_LIMIT followers or more are left out. Hosts whose inboxes also serve accounts of other hosts are
    left out too, because the digest covers the accounts of one host, and the server would end all other follows.
    """
    pairs = {(account.id, host): account for account, host in accounts_and_hosts}
    if not pairs or settings.DISABLE_FOLLOWERS_SYNCHRONIZATION:
        return {}
    ids = list({account_id for account_id, _host in pairs})
    many = AccountStat.objects.filter(account_id__one_of=ids, followers_count__gte=synchronization.FOLLOWERS_LIMIT)
    left_out = set(many.values_list("account_id", flat=True))
    followers: defaultdict[tuple[int, str | None], list[str]] = defaultdict(list)
    serving_others = set()
    with connection.cursor() as cursor:
        cursor.execute(_FOLLOWERS, {"accounts": ids, "hosts": list({host for _id, host in pairs})})
        for account_id, uri, inbox_host in cursor.fetchall():
            host = reading.origin_of(uri)
            followers[account_id, host].append(uri)
            if inbox_host != host:
                serving_others.add((account_id, inbox_host))
    return {
        pair: synchronization.synchronization_header(account, followers[pair])
        for pair, account in pairs.items()
        if account.id not in left_out and pair not in serving_others
    }


def send_unknown_follows_ended(events: Sequence[UnknownFollowFound]) -> None:
    """Send an Undo of each Follow that only the other server knows. The id of the Follow is unknown here, so the Undo contains
    a new id.
    """
    for _event, account, target in audience.load_pairs(events, "account_id", "target_id"):
        pair = {"account": account, "target": target}
        if not (Follow.objects.filter(**pair).exists() or FollowRequest.objects.filter(**pair).exists()):
            queueing.enqueue(
                account,
                activities.undo_follow(account, target.uri, links.web_url(f"/{uuid4()}")),
                audience.inbox_of(target),
                key=f"pair:{account.id}:{target.id}",
            )
