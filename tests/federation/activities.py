"""Helpers that send activities to this server, and look up their senders."""

import json
from itertools import count
from typing import Any

from accounts.models import Account
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from statuses.models import Quote, Status
from tests.factories.statuses import follow
from tests.federation.remote_server import RemotePerson
from tests.support.work import work

_SENT = count(1)
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
#: The member of a note that allows every account to quote it.
QUOTABLE = {"interactionPolicy": {"canQuote": {"automaticApproval": [PUBLIC]}}}


def remote(zoe: RemotePerson) -> Account:
    """Return the local row of Zoe's account."""
    return Account.objects.get(uri=zoe.uri)


def deal(someone: RemotePerson, activity: dict[str, Any], path: str = "/inbox") -> str:
    """Send an activity, run all jobs, and return its outcome.

    Spaces are added to make each body different, because two equal requests within one second would have the same signature,
    and the server would refuse the later one as a replay.
    """
    answer = someone.send(json.dumps(activity).encode() + b" " * (next(_SENT) % 100), path)
    assert answer.status_code == 202, answer.content
    work()
    return InboundActivity.objects.latest("id").outcome


def met(someone: RemotePerson) -> Account:
    """Fetch the remote user's account, and run all jobs that a first fetch queues."""
    account = fetch_actor(someone.uri)
    work()
    account.refresh_from_db()
    return account


def introduced(zoe: RemotePerson, alice: Account) -> Account:
    """Fetch Zoe's account, and let Alice follow it."""
    account = fetch_actor(zoe.uri)
    follow(alice, account)
    return account


def follow_of(someone: RemotePerson, target: Account) -> dict[str, Any]:
    """Return an activity by which a remote user requests to follow a local account."""
    return someone.activity("Follow", target.uri)


def stored() -> int:
    """Return the number of stored activities."""
    return InboundActivity.objects.count()


def quote_state(status: Status) -> str:
    """Return the state of the quote that a post contains."""
    return Quote.objects.get(status=status).state
