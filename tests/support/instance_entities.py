"""JSON schemas of the instance documents and of the authorization server's metadata (contract, entities)."""

from tests.support.schema import COUNT, DAY, URL, WS_URL, B, I, S, Schema, entity, exactly, many, nullable, one_of

_ACCESS = one_of("public", "authenticated", "disabled")
_FEED = exactly({"local": _ACCESS, "remote": _ACCESS})

_STATUSES = exactly({"max_characters": I, "max_media_attachments": I, "characters_reserved_per_url": I})
_POLLS = exactly({"max_options": I, "max_characters_per_option": I, "min_expiration": I, "max_expiration": I})
_MEDIA: dict[str, Schema] = {
    "image_matrix_limit": I,
    "image_size_limit": I,
    "supported_mime_types": many(S, minItems=1),
    "video_frame_rate_limit": I,
    "video_matrix_limit": I,
    "video_size_limit": I,
}
_DEFINITION = r"^[0-9]+x[0-9]+$"

INSTANCE_ENTITIES: dict[str, Schema] = {
    "Peers": nullable(many(S)),
    "InstanceActivity": exactly({"week": S, "statuses": S, "logins": S, "registrations": S}),
    "DomainBlock": exactly(
        {
            "domain": S,
            "digest": {"type": "string", "pattern": r"^[0-9a-f]{64}$"},
            "severity": one_of("silence", "suspend"),
            "comment": nullable(S),
        }
    ),
    "ExtendedDescription": exactly({"updated_at": nullable(S), "content": S}),
    "PrivacyPolicy": exactly({"updated_at": S, "content": S}),
    "TermsOfService": exactly({"effective_date": DAY, "effective": B, "content": S, "succeeded_by": nullable(DAY)}),
    "TranslationLanguages": {"type": "object", "additionalProperties": many(S)},
    "Language": exactly({"code": S, "name": S}),
    "Instance": exactly(
        {
            "domain": S,
            "title": S,
            "version": {"type": "string", "pattern": r"^4\.6\.\d+\+social\.\d+\.\d+\.\d+$"},
            "source_url": S,
            "description": S,
            "usage": exactly({"users": exactly({"active_month": COUNT})}),
            "thumbnail": exactly(
                {"url": URL, "description": S},
                {"blurhash": S, "versions": {"type": "object", "additionalProperties": URL}},
            ),
            "icon": many(exactly({"src": URL, "size": {"type": "string", "pattern": _DEFINITION}})),
            "languages": many(S),
            "configuration": exactly(
                {
                    "urls": exactly(
                        {
                            "streaming": WS_URL,
                            "status": nullable(URL),
                            "about": URL,
                            "privacy_policy": nullable(URL),
                            "terms_of_service": nullable(URL),
                        }
                    ),
                    "vapid": exactly({"public_key": {"type": "string", "pattern": r"^[A-Za-z0-9_=-]+$"}}),
                    "accounts": exactly(
                        {
                            "max_display_name_length": I,
                            "max_note_length": I,
                            "max_avatar_description_length": I,
                            "max_header_description_length": I,
                            "max_featured_tags": I,
                            "max_pinned_statuses": I,
                            "max_profile_fields": I,
                            "profile_field_name_limit": I,
                            "profile_field_value_limit": I,
                        }
                    ),
                    "statuses": _STATUSES,
                    "media_attachments": exactly(_MEDIA | {"description_limit": I}),
                    "polls": _POLLS,
                    "translation": exactly({"enabled": B}),
                    "timelines_access": exactly(
                        {"live_feeds": _FEED, "hashtag_feeds": _FEED, "trending_link_feeds": _FEED}
                    ),
                    "limited_federation": B,
                }
            ),
            "registrations": exactly(
                {
                    "enabled": B,
                    "approval_required": B,
                    "reason_required": nullable(B),
                    "message": nullable(S),
                    "min_age": nullable(I),
                    "url": nullable(URL),
                }
            ),
            "api_versions": {"type": "object", "required": ["mastodon"], "additionalProperties": I},
            "wrapstodon": nullable(I),
            "contact": exactly({"email": S, "account": nullable(entity("Account"))}),
            "rules": many(entity("Rule")),
        }
    ),
    "InstanceV1": exactly(
        {
            "uri": {"type": "string", "pattern": r"^[^/\s]+$"},
            "title": S,
            "short_description": S,
            "description": S,
            "email": S,
            "version": {"type": "string", "pattern": r"^4\.6\.\d+\+social\.\d+\.\d+\.\d+$"},
            "urls": exactly({"streaming_api": WS_URL}),
            "stats": exactly({"user_count": COUNT, "status_count": COUNT, "domain_count": COUNT}),
            "thumbnail": URL,
            "languages": many(S),
            "registrations": B,
            "approval_required": B,
            "invites_enabled": B,
            "configuration": exactly(
                {
                    "accounts": exactly({"max_featured_tags": I}),
                    "statuses": _STATUSES,
                    "media_attachments": exactly(_MEDIA),
                    "polls": _POLLS,
                }
            ),
            "contact_account": nullable(entity("Account")),
            "rules": many(entity("Rule")),
        },
        {"max_toot_chars": I},
    ),
    "OAuthMetadata": exactly(
        {
            "issuer": URL,
            "authorization_endpoint": URL,
            "token_endpoint": URL,
            "revocation_endpoint": URL,
            "userinfo_endpoint": URL,
            "scopes_supported": many(S),
            "response_types_supported": {"const": ["code"]},
            "response_modes_supported": {"const": ["query", "fragment", "form_post"]},
            "grant_types_supported": {"const": ["authorization_code", "client_credentials"]},
            "token_endpoint_auth_methods_supported": {"const": ["client_secret_basic", "client_secret_post"]},
            "code_challenge_methods_supported": {"const": ["S256"]},
            "service_documentation": URL,
            "app_registration_endpoint": URL,
        }
    ),
}
