"""Acts upon a Block (contract, federation section 7)."""

from __future__ import annotations

from django.db import transaction

from accounts.queries.relations import find_block
from accounts.services.blocking import block_account
from federation.documents.reading import Rejected
from federation.inbound.incoming import Incoming, local_account
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """Somebody elsewhere blocks one of us: follows both ways end."""
    uri, target = incoming.needed_uri(), local_account(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        known = find_block(uri)
        if known is not None and (known.account_id, known.target_id) != (incoming.actor.id, target.id):
            raise Rejected("the id of the block is another one's")
        block_account(account=incoming.actor, target=target, uri=uri)
