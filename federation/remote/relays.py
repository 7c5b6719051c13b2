"""Recognises the accounts of relays that this server is subscribed to (contract, federation sections 7 and 12)."""

from __future__ import annotations

from accounts.models import Account
from federation.documents.reading import same_origin
from federation.models import Relay, RelayState


def is_relay(account: Account) -> bool:
    """Tell whether the account belongs to a relay that has accepted this server's subscription. Any account can name the
    relay's inbox as its own, so that only an inbox on the account's own server counts.
    """
    inboxes = [inbox for inbox in (account.inbox_url, account.shared_inbox_url) if same_origin(inbox, account.uri)]
    return Relay.objects.filter(inbox_url__one_of=inboxes, state=RelayState.ACCEPTED).exists()
