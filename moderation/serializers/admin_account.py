"""The entity "Admin::Account" (contract, entities)."""

from __future__ import annotations

from typing import Any

from accounts.serializers.account import RoleSerializer
from moderation.queries.admin_accounts import AdminAccount
from social.api.serializers import EntitySerializer
from social.kernel import clock


class AdminAccountSerializer(EntitySerializer):
    """Admin::Account. Context: `accounts`, encoded entities by id. What users alone have is null for other servers' people."""

    def to_representation(self, instance: AdminAccount) -> dict[str, Any]:
        """The entity."""
        account, user = instance.account, instance.user
        found: dict[str, Any] = {
            "id": str(account.id),
            "username": account.username,
            "domain": account.domain,
            "created_at": clock.iso(account.created_at),
            "email": None,
            "ip": None,
            "ips": None,
            "confirmed": None,
            "suspended": account.suspended,
            "silenced": account.limited,
            "sensitized": account.sensitized_at is not None,
            "disabled": None,
            "approved": None,
            "locale": None,
            "invite_request": None,
            "account": self.context["accounts"][account.id],
        }
        if user is None:
            return found | {"role": None}
        found |= {
            "email": user.email,
            "ip": instance.ips[0].ip if instance.ips else None,
            "ips": [{"ip": one.ip, "used_at": clock.iso(one.used_at)} for one in instance.ips],
            "confirmed": instance.confirmed,
            "disabled": user.disabled_at is not None,
            "approved": user.approved,
            "locale": user.locale,
            "invite_request": user.sign_up_reason or None,
            "role": RoleSerializer(user.role).data,
        }
        if user.created_by_application_id is not None:
            found["created_by_application_id"] = str(user.created_by_application_id)
        if user.invite is not None and user.invite.inviter is not None:
            found["invited_by_account_id"] = str(user.invite.inviter.account_id)
        return found
