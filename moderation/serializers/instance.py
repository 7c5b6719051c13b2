"""Instance documents (contract, entities "Instance (v2)" and "V1::Instance"), and other documents about this server."""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext as _

from accounts.models.tag import FEATURED_TAGS_LIMIT
from accounts.policies.relations import NO_RELATIONS
from accounts.serializers.account import AccountSerializer, file_url
from accounts.services.profiles import DESCRIPTION_LIMIT as PICTURE_DESCRIPTION_LIMIT
from accounts.services.profiles import DISPLAY_NAME_LIMIT, FIELD_LENGTH, FIELDS_LIMIT, NOTE_LIMIT
from moderation.models import ActivityWeek, DomainRule, InstanceRule
from moderation.policies.documents import obfuscated
from moderation.policies.domain_rules import digest_of
from moderation.queries.instance import Document, InstanceDocument, ShownTerms, offered_report_year
from social.api.inputs import Form
from social.api.serializers import EntitySerializer
from social.kernel import links, translation, versions
from social.kernel.identity import is_federation_limited
from social.kernel.media.limits import FRAME_RATE_LIMIT, PIXEL_LIMIT, VIDEO_PIXEL_LIMIT
from social.kernel.text.characters import URL_LENGTH
from social.kernel.text.markdown import markdown_to_html
from social.pages.frame import absolute
from social.pages.look import list_icons
from statuses.models.attachments import DESCRIPTION_LIMIT
from statuses.policies.media import IMAGE_SIZE_LIMIT, SUPPORTED_TYPES, VIDEO_SIZE_LIMIT
from statuses.policies.polls import DURATION_SECONDS, OPTION_COUNTS, OPTION_LIMIT
from statuses.policies.publishing import MEDIA_LIMIT, TEXT_LIMIT

PINNED_STATUSES_LIMIT = 5


class RuleSerializer(EntitySerializer):
    def to_representation(self, instance: InstanceRule) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "text": instance.text,
            "hint": instance.hint,
            "translations": instance.translations,
        }


def _limits() -> dict[str, dict[str, Any]]:
    """Return the limits on posts, files and polls, which both versions of the document have."""
    shortest, longest = DURATION_SECONDS
    return {
        "statuses": {
            "max_characters": TEXT_LIMIT,
            "max_media_attachments": MEDIA_LIMIT,
            "characters_reserved_per_url": URL_LENGTH,
        },
        "media_attachments": {
            "supported_mime_types": list(SUPPORTED_TYPES),
            "image_size_limit": IMAGE_SIZE_LIMIT,
            "image_matrix_limit": PIXEL_LIMIT,
            "video_size_limit": VIDEO_SIZE_LIMIT,
            "video_frame_rate_limit": FRAME_RATE_LIMIT,
            "video_matrix_limit": VIDEO_PIXEL_LIMIT,
        },
        "polls": {
            "max_options": OPTION_COUNTS[1],
            "max_characters_per_option": OPTION_LIMIT,
            "min_expiration": shortest,
            "max_expiration": longest,
        },
    }


def _closed_message(texts: Mapping[str, Any]) -> str:
    if message := texts["site_closed_message"]:
        return markdown_to_html(message)
    return f"<p>{escape(_('This server does not accept new people at the moment.'))}</p>"


def _contact(document: InstanceDocument) -> dict[str, Any] | None:
    if document.contact is None:
        return None
    context = {"emojis": document.emojis, "relations": NO_RELATIONS}
    entity: dict[str, Any] = AccountSerializer(document.contact, context=context).data
    return entity


class InstanceSerializer(EntitySerializer):
    """Instance (v2)."""

    def to_representation(self, instance: InstanceDocument) -> dict[str, Any]:
        texts = instance.texts
        registrations, limits = texts["site_registrations"], _limits()
        return {
            "domain": settings.LOCAL_DOMAIN,
            "title": texts["site_title"],
            "version": versions.CLIENT_VERSION,
            "source_url": settings.SOURCE_URL,
            "description": texts["site_short_description"],
            # Where federation is limited, the number of users is not public (contract, entities).
            "usage": {"users": {"active_month": 0 if is_federation_limited() else instance.figures.active_month}},
            "thumbnail": {"url": file_url(texts["site_thumbnail"], "", "thumbnail.png"), "description": ""},
            "icon": [{"src": absolute(icon.url), "size": icon.sizes} for icon in list_icons(instance.identity)],
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
                **limits,
                "media_attachments": {"description_limit": DESCRIPTION_LIMIT} | limits["media_attachments"],
                "translation": {"enabled": translation.is_on()},
                "timelines_access": instance.timelines_access,
                "limited_federation": is_federation_limited(),
            },
            "registrations": {
                "enabled": registrations != "closed",
                "approval_required": registrations == "approval",
                "reason_required": registrations == "approval",
                "message": None if registrations != "closed" else _closed_message(texts),
                "min_age": texts["site_minimum_age"] or None,
                "url": links.web_url(reverse("account_signup")) if settings.ISSUERS_ONLY else None,
            },
            "api_versions": {"mastodon": versions.API_VERSION},
            "wrapstodon": offered_report_year(),
            "contact": {"email": texts["site_contact_email"], "account": _contact(instance)},
            "rules": RuleSerializer(instance.rules, many=True).data,
        }


class InstanceV1Serializer(EntitySerializer):
    """V1::Instance."""

    def to_representation(self, instance: InstanceDocument) -> dict[str, Any]:
        texts = instance.texts
        return {
            "uri": settings.LOCAL_DOMAIN,
            "title": texts["site_title"],
            "short_description": texts["site_short_description"],
            "description": texts["site_short_description"],
            "email": texts["site_contact_email"],
            "version": versions.CLIENT_VERSION,
            "urls": {"streaming_api": settings.STREAMING_URL},
            "stats": {
                "user_count": instance.figures.users,
                "status_count": instance.figures.statuses,
                "domain_count": instance.figures.domains,
            },
            "thumbnail": file_url(texts["site_thumbnail"], "", "thumbnail.png"),
            "languages": texts["site_languages"],
            "registrations": texts["site_registrations"] != "closed",
            "approval_required": texts["site_registrations"] == "approval",
            "invites_enabled": instance.invites_enabled,
            "max_toot_chars": TEXT_LIMIT,
            "configuration": {"accounts": {"max_featured_tags": FEATURED_TAGS_LIMIT}} | _limits(),
            "contact_account": _contact(instance),
            "rules": RuleSerializer(instance.rules, many=True).data,
        }


class DescriptionSerializer(EntitySerializer):
    """ExtendedDescription."""

    def to_representation(self, instance: Document) -> dict[str, Any]:
        return {"updated_at": _moment(instance.updated_at), "content": markdown_to_html(instance.markdown)}


class PrivacyPolicySerializer(EntitySerializer):
    """PrivacyPolicy: the text written by staff, or the text that comes with this software, in the viewer's language."""

    def to_representation(self, instance: Document) -> dict[str, Any]:
        if instance.markdown:
            content = markdown_to_html(instance.markdown)
        else:
            context = {"contact_email": instance.contact_email, "about_url": reverse("about")}
            content = render_to_string("moderation/privacy_text.html", context).strip()
        return {"updated_at": _moment(instance.updated_at), "content": content}


def _moment(moment: datetime | None) -> str | None:
    # This time has no fractions of a second, unlike all other times (contract, entities "PrivacyPolicy": a string in any form).
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


class TermsOfServiceSerializer(EntitySerializer):
    def to_representation(self, instance: ShownTerms) -> dict[str, Any]:
        return {
            "effective_date": str(instance.terms.effective_date),
            "effective": instance.effective,
            "content": markdown_to_html(instance.terms.text),
            "succeeded_by": str(instance.succeeded_by) if instance.succeeded_by is not None else None,
        }


class ActivitySerializer(EntitySerializer):
    """InstanceActivity: every number is a string (SEED-047)."""

    def to_representation(self, instance: ActivityWeek) -> dict[str, Any]:
        return {
            "week": str(int(datetime.combine(instance.start, time.min, UTC).timestamp())),
            "statuses": str(instance.statuses),
            "logins": str(instance.logins),
            "registrations": str(instance.registrations),
        }


class DomainBlockSerializer(EntitySerializer):
    """DomainBlock. Context: `rationale`, whether the reason is shown."""

    def to_representation(self, instance: DomainRule) -> dict[str, Any]:
        return {
            "domain": obfuscated(instance.domain) if instance.obfuscate else instance.domain,
            "digest": digest_of(instance.domain),
            "severity": instance.severity,
            "comment": (instance.public_comment or "") if self.context["rationale"] else None,
        }


class SearchInput(Form):
    """Prefix of the names of known servers; None if it was not sent."""

    q: str | None = None


class LanguageSerializer(EntitySerializer):
    """Language: a code and its name."""

    def to_representation(self, instance: tuple[str, str]) -> dict[str, Any]:
        return {"code": instance[0], "name": instance[1]}
