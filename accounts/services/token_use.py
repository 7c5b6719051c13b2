"""Finds who holds a token, for the API layer, and keeps on which day it was last used."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from accounts.models import AccessToken
from accounts.queries.identities import find_token
from social.api.identities import Identity
from social.kernel import clock

NOTED_EVERY: Final = timedelta(days=1)


class TokenIdentities:
    """The API layer's `TokenSource`, answered from the tables of this app."""

    def find_identity(self, token: str) -> Identity | None:
        """As `find_token`: one query, and once a day for each token a statement that notes its use."""
        found = find_token(token)
        if found is None:
            return None
        now = clock.now()
        if found.last_used_at is None or found.last_used_at <= now - NOTED_EVERY:
            AccessToken.objects.filter(pk=found.identity.token_id).update(last_used_at=now)
        return found.identity
