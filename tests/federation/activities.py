"""What the tests of received activities share: sending one, and who sent it."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from accounts.models import Account
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from tests.factories.statuses import follow
from tests.federation.remote_server import RemotePerson
from tests.support.work import work

_SENT = count(1)
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def remote(zoe: RemotePerson) -> Account:
    """Her account, as it is known here."""
    return Account.objects.get(uri=zoe.uri)


def deal(someone: RemotePerson, activity: dict[str, Any], path: str = "/inbox") -> str:
    """Send, work, and say what became of it.

    Two equal documents of one second would have one signature, and the second would be a replay: spaces make each body its own.
    """
    answer = someone.send(json.dumps(activity).encode() + b" " * (next(_SENT) % 100), path)
    assert answer.status_code == 202, answer.content
    work()
    return InboundActivity.objects.latest("id").outcome


def met(someone: RemotePerson) -> Account:
    """Their account, with everything read that a first meeting makes this server read."""
    account = fetch_actor(someone.uri)
    work()
    account.refresh_from_db()
    return account


def introduced(zoe: RemotePerson, alice: Account) -> Account:
    """Zoe is known here and followed by Alice."""
    account = fetch_actor(zoe.uri)
    follow(alice, account)
    return account


def follow_of(someone: RemotePerson, target: Account) -> dict[str, Any]:
    """An activity by which somebody there asks to follow somebody here."""
    return someone.activity("Follow", target.uri)


def stored() -> int:
    """How many activities were taken in."""
    return InboundActivity.objects.count()
