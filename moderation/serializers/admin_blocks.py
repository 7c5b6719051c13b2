"""The entities of blocks: of servers, e-mail domains, addresses and networks (contract, entities "Admin")."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock
from moderation.models import DomainAllow, DomainRule
from moderation.policies.domain_rules import digest_of
from social.api.serializers import EntitySerializer
from social.kernel import clock


class DomainRuleSerializer(EntitySerializer):
    """Admin::DomainBlock."""

    def to_representation(self, instance: DomainRule) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "digest": digest_of(instance.domain),
            "created_at": clock.iso(instance.created_at),
            "severity": instance.severity,
            "reject_media": instance.reject_media,
            "reject_reports": instance.reject_reports,
            "private_comment": instance.private_comment,
            "public_comment": instance.public_comment,
            "obfuscate": instance.obfuscate,
        }


class DomainAllowSerializer(EntitySerializer):
    """Admin::DomainAllow."""

    def to_representation(self, instance: DomainAllow) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "created_at": clock.iso(instance.created_at),
        }


class EmailDomainBlockSerializer(EntitySerializer):
    """Admin::EmailDomainBlock. Context: `refusals`, days by the id of the block."""

    def to_representation(self, instance: EmailDomainBlock) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.pk),
            "domain": instance.domain,
            "created_at": clock.iso(instance.created_at),
            "history": [
                {
                    "day": str(int(datetime.combine(use.day, time(), UTC).timestamp())),
                    "accounts": str(use.accounts),
                    "uses": str(use.uses),
                }
                for use in self.context["refusals"][instance.pk]
            ],
            "allow_with_approval": instance.allow_with_approval,
        }


class IpBlockSerializer(EntitySerializer):
    """Admin::IpBlock."""

    def to_representation(self, instance: IpBlock) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.pk),
            "ip": instance.network,
            "severity": instance.severity,
            "comment": instance.comment,
            "created_at": clock.iso(instance.created_at),
            "expires_at": clock.iso(instance.expires_at) if instance.expires_at is not None else None,
        }


class CanonicalEmailBlockSerializer(EntitySerializer):
    """Admin::CanonicalEmailBlock."""

    def to_representation(self, instance: CanonicalEmailBlock) -> dict[str, Any]:
        """The entity."""
        return {"id": str(instance.pk), "canonical_email_hash": instance.digest}
