"""The entities of what this server says about itself beyond the instance documents (contract, entities)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse

from moderation.queries.documents import Document, ShownDomainBlock, ShownTerms, Week
from social.api.serializers import EntitySerializer
from social.kernel.text.documents import markdown_to_html


class DescriptionSerializer(EntitySerializer):
    """ExtendedDescription."""

    def to_representation(self, instance: Document) -> dict[str, Any]:
        """The entity."""
        return {"updated_at": _moment(instance.updated_at), "content": markdown_to_html(instance.markdown)}


class PrivacyPolicySerializer(EntitySerializer):
    """PrivacyPolicy: the words of staff, else those of this software, in the reader's language."""

    def to_representation(self, instance: Document) -> dict[str, Any]:
        """The entity."""
        if instance.markdown:
            content = markdown_to_html(instance.markdown)
        else:
            context = {"contact_email": instance.contact_email, "about_url": reverse("about")}
            content = render_to_string("moderation/privacy_text.html", context).strip()
        return {"updated_at": _moment(instance.updated_at), "content": content}


def _moment(moment: datetime | None) -> str | None:
    # To the second, unlike every other moment (contract, entities "PrivacyPolicy": a string of no particular form).
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


class TermsOfServiceSerializer(EntitySerializer):
    """TermsOfService."""

    def to_representation(self, instance: ShownTerms) -> dict[str, Any]:
        """The entity."""
        return {
            "effective_date": str(instance.terms.effective_date),
            "effective": instance.effective,
            "content": markdown_to_html(instance.terms.text),
            "succeeded_by": str(instance.succeeded_by) if instance.succeeded_by is not None else None,
        }


class ActivitySerializer(EntitySerializer):
    """InstanceActivity: every number is a string (SEED-047)."""

    def to_representation(self, instance: Week) -> dict[str, Any]:
        """The entity."""
        return {
            "week": str(int(instance.start.timestamp())),
            "statuses": str(instance.statuses),
            "logins": str(instance.logins),
            "registrations": str(instance.registrations),
        }


class DomainBlockSerializer(EntitySerializer):
    """DomainBlock."""

    def to_representation(self, instance: ShownDomainBlock) -> dict[str, Any]:
        """The entity."""
        return {
            "domain": instance.domain,
            "digest": instance.digest,
            "severity": instance.severity,
            "comment": instance.comment,
        }


class LanguageSerializer(EntitySerializer):
    """Language: a code and its name."""

    def to_representation(self, instance: tuple[str, str]) -> dict[str, Any]:
        """The entity."""
        return {"code": instance[0], "name": instance[1]}
