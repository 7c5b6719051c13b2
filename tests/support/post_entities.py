"""JSON schemas of posts and their files, polls, quotes, hashtags, previews and filters (contract, entities)."""

from tests.support.schema import (
    COUNT,
    FREE,
    HISTORY,
    ID,
    NULL,
    POLICY_WORDS,
    URL,
    VISIBILITY,
    B,
    D,
    I,
    S,
    Schema,
    entity,
    exactly,
    many,
    nullable,
    one_of,
)

# The members have the names of the columns; in the draft of a scheduled post, missing values are null.
_AUTHOR_COLUMNS: dict[str, Schema] = {"spoiler_text": S}
_STATUS: dict[str, Schema] = {
    **_AUTHOR_COLUMNS,
    "id": ID,
    "created_at": D,
    "in_reply_to_id": nullable(ID),
    "in_reply_to_account_id": nullable(ID),
    "sensitive": B,
    "visibility": VISIBILITY,
    "local_only": B,
    "language": nullable(S),
    "uri": URL,
    "url": nullable(URL),
    "replies_count": COUNT,
    "reblogs_count": COUNT,
    "favourites_count": COUNT,
    "quotes_count": COUNT,
    "edited_at": nullable(D),
    "content": S,
    "reblog": nullable(entity("Status")),
    "account": entity("Account"),
    "media_attachments": many(entity("MediaAttachment"), maxItems=4),
    "mentions": many(entity("Mention")),
    "tags": many(entity("ShallowTag")),
    "emojis": many(entity("CustomEmoji")),
    "tagged_collections": many(entity("Collection")),
    "quote": nullable({"anyOf": [entity("Quote"), entity("ShallowQuote")]}),
    "card": nullable(entity("PreviewCard")),
    "poll": nullable(entity("Poll")),
    "quote_approval": entity("QuoteApproval"),
    "interaction_policy": entity("InteractionPolicy"),
}
_STATUS_OPTIONAL: dict[str, Schema] = {
    "application": nullable(exactly({"name": S, "website": nullable(URL)})),
    # An extension of this server.
    "imported_from": exactly({"url": nullable(URL), "domain": nullable(S)}),
    "favourited": B,
    "reblogged": B,
    "muted": B,
    "bookmarked": B,
    "pinned": B,
    "filtered": many(entity("FilterResult")),
}
_RULE = exactly({name: many(S) for name in ("always", "with_approval", "automatic_approval", "manual_approval")})
_OF_A_USER = ("favourited", "reblogged", "muted", "bookmarked", "filtered")
_QUOTE_STATE = one_of(
    "pending",
    "accepted",
    "rejected",
    "revoked",
    "deleted",
    "unauthorized",
    "blocked_account",
    "blocked_domain",
    "muted_account",
)
_FILTER: dict[str, Schema] = {
    "id": ID,
    "title": S,
    "context": many(one_of("home", "notifications", "public", "thread", "account")),
    "expires_at": nullable(D),
    "filter_action": one_of("warn", "hide", "blur"),
}

POST_ENTITIES: dict[str, Schema] = {
    "Status": exactly(_STATUS, _STATUS_OPTIONAL),
    "StatusOfUser": exactly(
        _STATUS | {name: _STATUS_OPTIONAL[name] for name in _OF_A_USER},
        {name: schema for name, schema in _STATUS_OPTIONAL.items() if name not in _OF_A_USER},
    ),
    "DeletedStatus": exactly(
        {name: schema for name, schema in _STATUS.items() if name != "content"} | {"text": S},
        _STATUS_OPTIONAL | {"content_type": one_of("text/markdown")},
    ),
    "StatusSource": exactly({"id": ID, "text": S, "spoiler_text": S}, {"content_type": one_of("text/markdown")}),
    "StatusEdit": exactly(
        {
            "account": entity("Account"),
            "content": S,
            **_AUTHOR_COLUMNS,
            "sensitive": B,
            "created_at": D,
            "media_attachments": many(entity("MediaAttachment")),
            "emojis": many(entity("CustomEmoji")),
        },
        {"quote": entity("Quote"), "poll": exactly({"options": many(exactly({"title": S}))})},
    ),
    "Translation": exactly(
        {
            "content": S,
            "spoiler_text": S,
            "language": S,
            "detected_source_language": S,
            "provider": S,
            "poll": nullable(exactly({"id": ID, "options": many(exactly({"title": S}))})),
            "media_attachments": many(exactly({"id": ID, "description": S})),
        }
    ),
    "Context": exactly({"ancestors": many(entity("Status")), "descendants": many(entity("Status"))}),
    "Quote": exactly({"state": _QUOTE_STATE, "quoted_status": nullable(entity("Status"))}),
    "ShallowQuote": exactly({"state": _QUOTE_STATE, "quoted_status_id": nullable(ID)}),
    "QuoteApproval": exactly(
        {
            "automatic": many(POLICY_WORDS),
            "manual": many(POLICY_WORDS),
            "current_user": one_of("automatic", "manual", "denied", "unknown"),
        }
    ),
    "MediaAttachment": exactly(
        {
            "id": ID,
            "type": one_of("image", "gifv", "video", "audio", "unknown"),
            "url": nullable(URL),
            "preview_url": nullable(URL),
            "remote_url": nullable(URL),
            "preview_remote_url": nullable(URL),
            "text_url": nullable(URL),
            "meta": nullable(FREE),
            "description": nullable(S),
            "blurhash": nullable(S),
        }
    ),
    "Mention": exactly({"id": ID, "username": S, "url": URL, "acct": S}),
    "ShallowTag": exactly({"name": S, "url": URL}),
    "Tag": exactly(
        # A hashtag that has not been used yet has no id.
        {
            "id": {"anyOf": [ID, {"const": ""}]},
            "name": S,
            "url": URL,
            "history": {**HISTORY, "minItems": 7, "maxItems": 7},
        },
        {"following": B, "featuring": B},
    ),
    "FilterKeyword": exactly({"id": ID, "keyword": S, "whole_word": B}),
    "FilterStatus": exactly({"id": ID, "status_id": ID}),
    "FilterV1": exactly(
        {
            "id": ID,
            "phrase": S,
            "context": _FILTER["context"],
            "whole_word": B,
            "expires_at": nullable(D),
            "irreversible": B,
        }
    ),
    "CustomEmoji": exactly(
        {"shortcode": S, "url": URL, "static_url": URL, "visible_in_picker": B}, {"category": S, "featured": B}
    ),
    "ScheduledStatus": exactly(
        {
            "id": ID,
            "scheduled_at": D,
            "params": exactly(
                {
                    "text": S,
                    "poll": nullable(FREE),
                    "media_ids": nullable(many(ID)),
                    **{name: nullable(schema) for name, schema in _AUTHOR_COLUMNS.items()},
                    "sensitive": nullable(B),
                    "visibility": nullable(S),
                    "local_only": B,
                    "language": nullable(S),
                    "in_reply_to_id": nullable(ID),
                    "allowed_mentions": nullable(many(ID)),
                    "quote_approval_policy": S,
                    "scheduled_at": NULL,
                    "idempotency": NULL,
                    "application_id": nullable(ID),
                    "with_rate_limit": B,
                },
                {"quoted_status_id": nullable(ID)},
            ),
            "media_attachments": many(entity("MediaAttachment")),
        }
    ),
    "InteractionPolicy": exactly({f"can_{name}": _RULE for name in ("favourite", "reply", "reblog", "quote")}),
    "DefaultPolicies": exactly(
        {name: entity("InteractionPolicy") for name in ("public", "unlisted", "private", "direct")}
    ),
    "InteractionRequest": exactly(
        {
            "id": ID,
            "type": one_of("favourite", "reply", "reblog"),
            "created_at": D,
            "account": entity("Account"),
            "status": entity("Status"),
            "reply": nullable(entity("Status")),
            "accepted_at": nullable(D),
            "rejected_at": nullable(D),
        }
    ),
    "PublishedStatus": {"anyOf": [entity("Status"), entity("ScheduledStatus")]},
    "Poll": exactly(
        {
            "id": ID,
            "expires_at": nullable(D),
            "expired": B,
            "multiple": B,
            "votes_count": COUNT,
            "voters_count": nullable(COUNT),
            "options": many(exactly({"title": S, "votes_count": nullable(COUNT)})),
            "emojis": many(entity("CustomEmoji")),
        },
        {"voted": B, "own_votes": many(COUNT)},
    ),
    "PreviewCard": exactly(
        {
            "url": URL,
            "title": S,
            "description": S,
            "language": nullable(S),
            "type": one_of("link", "photo", "video", "rich"),
            "author_name": S,
            "author_url": S,
            "provider_name": S,
            "provider_url": S,
            "html": S,
            "width": I,
            "height": I,
            "image": nullable(URL),
            "image_description": S,
            "embed_url": S,
            "blurhash": nullable(S),
            "published_at": nullable(D),
            "authors": many(exactly({"name": S, "url": S, "account": nullable(entity("Account"))})),
        },
        {"missing_attribution": B, "history": HISTORY},
    ),
    "OEmbed": exactly(
        {
            "type": one_of("rich"),
            "version": one_of("1.0"),
            "author_name": S,
            "author_url": URL,
            "provider_name": S,
            "provider_url": URL,
            "cache_age": COUNT,
            "html": S,
            "width": I,
            "height": nullable(I),
        }
    ),
    "Filter": exactly(
        _FILTER,
        {
            "keywords": many(entity("FilterKeyword")),
            "statuses": many(entity("FilterStatus")),
        },
    ),
    "FilterResult": exactly(
        {"filter": exactly(_FILTER), "keyword_matches": nullable(many(S)), "status_matches": nullable(many(ID))}
    ),
}
