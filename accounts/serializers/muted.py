"""The entity "MutedAccount" (contract, entities)."""

from __future__ import annotations

from datetime import datetime

import orjson

from social.api.serializers import EntitySerializer
from social.kernel import clock


class MutedAccountSerializer(EntitySerializer):
    """MutedAccount, encoded: the encoded entity of an account, with the moment its mute ends."""

    def to_representation(self, instance: tuple[orjson.Fragment, datetime | None]) -> orjson.Fragment:
        """The entity; null for a mute without an end."""
        account, expires_at = instance
        ending = orjson.dumps({"mute_expires_at": clock.iso_or_none(expires_at)})
        return orjson.Fragment(orjson.dumps(account)[:-1] + b"," + ending[1:])
