"""How accounts become the entity "Admin::Account" by way of encoded bodies that may be in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accounts.serializers.presenting import present_accounts
from moderation.queries.admin_accounts import load_admin_accounts
from moderation.serializers.admin_account import AdminAccountSerializer


def present_admin_accounts(account_ids: Iterable[int], viewer_id: int | None) -> dict[int, dict[str, Any]]:
    """The entities of these accounts by id, each once and in their order; unknown ids are left out."""
    wanted = list(dict.fromkeys(account_ids))
    found = load_admin_accounts(wanted)
    serializer = AdminAccountSerializer(
        [found[number] for number in wanted if number in found],
        many=True,
        context={"accounts": present_accounts(wanted, viewer_id)},
    )
    return {int(entity["id"]): entity for entity in serializer.data}
