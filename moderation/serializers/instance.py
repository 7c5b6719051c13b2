"""The instance documents, old and new (contract, entities "Instance (v2)" and "V1::Instance")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.html import escape
from django.utils.translation import gettext as _

from accounts.models.featured_tag import FEATURED_TAGS_LIMIT
from accounts.policies.relations import NOBODY
from accounts.serializers.account import AccountSerializer
from accounts.services.profiles import DESCRIPTION_LIMIT as PICTURE_DESCRIPTION_LIMIT
from accounts.services.profiles import DISPLAY_NAME_LIMIT, FIELD_LENGTH, FIELDS_LIMIT, NOTE_LIMIT
from moderation.models import InstanceRule
from moderation.queries.instance import InstanceDocument
from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.media import storage
from social.kernel.media.limits import FRAME_RATE_LIMIT, PIXEL_LIMIT, VIDEO_PIXEL_LIMIT
from social.kernel.text.documents import markdown_to_html
from social.kernel.text.length import URL_LENGTH
from statuses.models.media import DESCRIPTION_LIMIT
from statuses.policies.media import IMAGE_SIZE_LIMIT, SUPPORTED_TYPES, VIDEO_SIZE_LIMIT
from statuses.policies.polls import OPTION_LIMIT, OPTIONS, SECONDS
from statuses.policies.publishing import MEDIA_LIMIT, TEXT_LIMIT

ICON_SIZES = (36, 48, 72, 96, 144, 192, 256, 384, 512)
PINNED_STATUSES_LIMIT = 5


def version() -> str:
    """The line clients read capabilities from: the upstream version first, then who we are (docs/architecture.md)."""
    return f"{settings.UPSTREAM_VERSION} (compatible; Social {settings.VERSION})"


class RuleSerializer(EntitySerializer):
    """Rule."""

    def to_representation(self, instance: InstanceRule) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "text": instance.text,
            "hint": instance.hint,
            "translations": instance.translations,
        }


def _statuses() -> dict[str, int]:
    return {
        "max_characters": TEXT_LIMIT,
        "max_media_attachments": MEDIA_LIMIT,
        "characters_reserved_per_url": URL_LENGTH,
    }


def _media() -> dict[str, Any]:
    return {
        "supported_mime_types": list(SUPPORTED_TYPES),
        "image_size_limit": IMAGE_SIZE_LIMIT,
        "image_matrix_limit": PIXEL_LIMIT,
        "video_size_limit": VIDEO_SIZE_LIMIT,
        "video_frame_rate_limit": FRAME_RATE_LIMIT,
        "video_matrix_limit": VIDEO_PIXEL_LIMIT,
    }


def _polls() -> dict[str, int]:
    shortest, longest = SECONDS
    return {
        "max_options": OPTIONS[1],
        "max_characters_per_option": OPTION_LIMIT,
        "min_expiration": shortest,
        "max_expiration": longest,
    }


def _thumbnail(texts: Mapping[str, Any]) -> str:
    path = texts["site_thumbnail"]
    return storage.url(path) if path else links.web_url(f"{settings.STATIC_URL}thumbnail.png")


def _closed_message(texts: Mapping[str, Any]) -> str:
    written = texts["site_closed_message"]
    if written:
        return markdown_to_html(written)
    return f"<p>{escape(_('This server does not accept new people at the moment.'))}</p>"


def _contact(document: InstanceDocument) -> dict[str, Any] | None:
    if document.contact is None:
        return None
    context = {"emojis": document.emojis, "relations": NOBODY}
    found: dict[str, Any] = AccountSerializer(document.contact, context=context).data
    return found


class InstanceSerializer(EntitySerializer):
    """Instance (v2)."""

    def to_representation(self, instance: InstanceDocument) -> dict[str, Any]:
        """The whole document."""
        texts = instance.texts
        return {
            "domain": settings.LOCAL_DOMAIN,
            "title": texts["site_title"],
            "version": version(),
            "source_url": settings.SOURCE_URL,
            "description": texts["site_short_description"],
            # Where federation is limited, how many people are here is for those who are allowed in (contract, entities).
            "usage": {"users": {"active_month": 0 if settings.LIMITED_FEDERATION else instance.figures.active_month}},
            "thumbnail": {"url": _thumbnail(texts), "description": ""},
            "icon": [
                {"src": links.web_url(f"{settings.STATIC_URL}icons/icon-{size}.png"), "size": f"{size}x{size}"}
                for size in ICON_SIZES
            ],
            "languages": texts["site_languages"],
            "configuration": {
                "urls": {
                    "streaming": settings.STREAMING_URL,
                    "status": texts["site_status_page_url"] or None,
                    "about": links.web_url("/about"),
                    "privacy_policy": links.web_url("/privacy-policy"),
                    "terms_of_service": links.web_url("/terms-of-service") if instance.has_terms else None,
                },
                "vapid": {"public_key": settings.VAPID_PUBLIC_KEY},
                "accounts": {
                    "max_display_name_length": DISPLAY_NAME_LIMIT,
                    "max_note_length": NOTE_LIMIT,
                    "max_avatar_description_length": PICTURE_DESCRIPTION_LIMIT,
                    "max_header_description_length": PICTURE_DESCRIPTION_LIMIT,
                    "max_featured_tags": FEATURED_TAGS_LIMIT,
                    "max_pinned_statuses": PINNED_STATUSES_LIMIT,
                    "max_profile_fields": FIELDS_LIMIT,
                    "profile_field_name_limit": FIELD_LENGTH,
                    "profile_field_value_limit": FIELD_LENGTH,
                },
                "statuses": _statuses(),
                "media_attachments": {"description_limit": DESCRIPTION_LIMIT} | _media(),
                "polls": _polls(),
                "translation": {"enabled": False},
                "timelines_access": instance.timelines_access,
                "limited_federation": settings.LIMITED_FEDERATION,
            },
            "registrations": {
                "enabled": settings.REGISTRATIONS != "closed",
                "approval_required": settings.REGISTRATIONS == "approval",
                "reason_required": settings.REGISTRATIONS == "approval",
                "message": None if settings.REGISTRATIONS != "closed" else _closed_message(texts),
                "min_age": settings.MINIMUM_AGE or None,
                "url": None,
            },
            "api_versions": {"mastodon": settings.API_VERSION},
            "wrapstodon": None,
            "contact": {"email": texts["site_contact_email"], "account": _contact(instance)},
            "rules": RuleSerializer(instance.rules, many=True).data,
        }


class InstanceV1Serializer(EntitySerializer):
    """V1::Instance."""

    def to_representation(self, instance: InstanceDocument) -> dict[str, Any]:
        """The whole document."""
        texts = instance.texts
        return {
            "uri": settings.LOCAL_DOMAIN,
            "title": texts["site_title"],
            "short_description": texts["site_short_description"],
            "description": texts["site_short_description"],
            "email": texts["site_contact_email"],
            "version": version(),
            "urls": {"streaming_api": settings.STREAMING_URL},
            "stats": {
                "user_count": instance.figures.users,
                "status_count": instance.figures.statuses,
                "domain_count": instance.figures.domains,
            },
            "thumbnail": _thumbnail(texts),
            "languages": texts["site_languages"],
            "registrations": settings.REGISTRATIONS != "closed",
            "approval_required": settings.REGISTRATIONS == "approval",
            "invites_enabled": instance.invites_enabled,
            "max_toot_chars": TEXT_LIMIT,
            "configuration": {
                "accounts": {"max_featured_tags": FEATURED_TAGS_LIMIT},
                "statuses": _statuses(),
                "media_attachments": _media(),
                "polls": _polls(),
            },
            "contact_account": _contact(instance),
            "rules": RuleSerializer(instance.rules, many=True).data,
        }
