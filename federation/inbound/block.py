"""Acts upon a Block (contract, federation section 7)."""

from __future__ import annotations

from accounts.services.blocking import block_account
from federation.inbound.incoming import Incoming, local_account


def handle(incoming: Incoming) -> None:
    """Somebody elsewhere blocks one of us: follows both ways end."""
    block_account(account=incoming.actor, target=local_account(incoming.object_uri), uri=incoming.needed_uri())
