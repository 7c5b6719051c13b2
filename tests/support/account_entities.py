"""JSON schemas of accounts, relations and settings (contract, entities)."""

from __future__ import annotations

from tests.support.schema import (
    COUNT,
    DAY,
    FREE,
    ID,
    POLICY_WORDS,
    TRUE,
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

_FIELD = exactly({"name": S, "value": S, "verified_at": nullable(D)})
_ACCOUNT: dict[str, Schema] = {
    "id": ID,
    "username": {"type": "string", "minLength": 1},
    "acct": {"type": "string", "minLength": 1},
    "display_name": S,
    "locked": B,
    "bot": B,
    "discoverable": nullable(B),
    "indexable": B,
    "group": B,
    "created_at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT00:00:00\.000Z$"},
    "note": S,
    "url": URL,
    "uri": URL,
    "avatar": URL,
    "avatar_static": URL,
    "avatar_description": S,
    "header": URL,
    "header_static": URL,
    "header_description": S,
    "followers_count": COUNT,
    "following_count": COUNT,
    "statuses_count": COUNT,
    "last_status_at": nullable(DAY),
    "hide_collections": nullable(B),
    "show_media": B,
    "show_media_replies": B,
    "show_featured": B,
    "feature_approval": entity("FeatureApproval"),
    "emojis": many(entity("CustomEmoji")),
    "fields": many(_FIELD),
}
_ACCOUNT_OPTIONAL: dict[str, Schema] = {
    "roles": many(exactly({"id": ID, "name": S, "color": S})),
    "noindex": B,
    "suspended": TRUE,
    "limited": TRUE,
    "memorial": TRUE,
    "email_subscriptions": B,
}
_MOVED: dict[str, Schema] = {"moved": nullable(entity("AccountNested"))}
_SOURCE = exactly(
    {
        "privacy": one_of("public", "unlisted", "private"),
        "sensitive": B,
        "language": nullable(S),
        "note": S,
        "fields": many(_FIELD),
        "follow_requests_count": {"type": "integer", "minimum": 0, "maximum": 40},
        "hide_collections": nullable(B),
        "discoverable": nullable(B),
        "indexable": B,
        "attribution_domains": many(S),
        "quote_policy": one_of("public", "followers", "nobody"),
    }
)

ACCOUNT_ENTITIES: dict[str, Schema] = {
    "Account": exactly(_ACCOUNT, _ACCOUNT_OPTIONAL | _MOVED),
    "AccountNested": exactly(_ACCOUNT, _ACCOUNT_OPTIONAL),
    "Profile": exactly(
        {
            "id": ID,
            "display_name": S,
            "note": S,
            "fields": many(_FIELD),
            "formatted_note": S,
            "formatted_fields": many(_FIELD),
            "avatar": nullable(URL),
            "avatar_static": nullable(URL),
            "avatar_description": S,
            "header": nullable(URL),
            "header_static": nullable(URL),
            "header_description": S,
            "locked": B,
            "bot": B,
            "hide_collections": nullable(B),
            "discoverable": nullable(B),
            "indexable": B,
            "show_media": B,
            "show_media_replies": B,
            "show_featured": B,
            "attribution_domains": many(S),
            "featured_tags": many(entity("FeaturedTag")),
        }
    ),
    "CredentialAccount": exactly(
        _ACCOUNT | {"source": _SOURCE, "role": entity("Role")},
        _ACCOUNT_OPTIONAL | _MOVED,
    ),
    "FollowedAccount": exactly(
        _ACCOUNT
        | dict.fromkeys(
            (
                "following",
                "requested",
                "showing_reblogs",
                "notifying",
                "followed_by",
                "blocking",
                "muting",
                "muting_notifications",
                "domain_blocking",
            ),
            B,
        ),
        _ACCOUNT_OPTIONAL | _MOVED,
    ),
    "MutedAccount": exactly(_ACCOUNT | {"mute_expires_at": nullable(D)}, _ACCOUNT_OPTIONAL | _MOVED),
    "FeatureApproval": exactly(
        {
            "automatic": many(POLICY_WORDS),
            "manual": many(POLICY_WORDS),
            "current_user": one_of("automatic", "manual", "missing", "unknown", "denied"),
        }
    ),
    "Role": exactly(
        {
            "id": ID,
            "name": S,
            "permissions": {"type": "string", "pattern": r"^\d+$"},
            "color": S,
            "highlighted": B,
            "collection_limit": I,
            "media_limit": I,
            "daily_posts_limit": I,
        }
    ),
    "PastImport": exactly(
        {
            "id": ID,
            "state": one_of("reading", "ready", "unreadable", "running", "finished", "undoing", "undone"),
            "file_name": S,
            "size": COUNT,
            "software": nullable(S),
            "source": nullable(S),
            "visibility": nullable(one_of("unlisted", "private")),
            "total": COUNT,
            "position": COUNT,
            "imported": COUNT,
            "left_out": COUNT,
            "counts": FREE,
            "reasons": many(exactly({"reason": S, "description": S, "count": COUNT})),
            "problem": nullable(exactly({"reason": S, "description": S})),
            "created_at": D,
            "finished_at": nullable(D),
            "undoable_until": nullable(D),
        }
    ),
    "PastLine": exactly({"line": I, "url": nullable(S), "reason": S, "description": S}),
    "Relationship": exactly(
        {
            "id": ID,
            "following": B,
            "showing_reblogs": B,
            "notifying": B,
            "languages": nullable(many(S)),
            "followed_by": B,
            "blocking": B,
            "blocked_by": B,
            "muting": B,
            "muting_notifications": B,
            "muting_expires_at": nullable(D),
            "requested": B,
            "requested_by": B,
            "domain_blocking": B,
            "endorsed": B,
            "note": S,
        }
    ),
    "Suggestion": exactly({"source": S, "sources": many(S), "account": entity("Account")}),
    "FeaturedTag": exactly({"id": ID, "name": S, "url": URL, "statuses_count": S, "last_status_at": nullable(S)}),
    "PartialAccount": exactly(
        {
            "id": ID,
            "acct": S,
            "locked": B,
            "bot": B,
            "url": URL,
            "avatar": URL,
            "avatar_static": URL,
            "avatar_description": S,
        }
    ),
    "UserInfo": exactly({"iss": URL, "sub": URL, "name": S, "preferred_username": S, "profile": URL, "picture": URL}),
    "Preferences": exactly(
        {
            "posting:default:visibility": VISIBILITY,
            "posting:default:sensitive": B,
            "posting:default:language": nullable(S),
            "posting:default:quote_policy": S,
            "reading:expand:media": one_of("default", "show_all", "hide_all"),
            "reading:expand:spoilers": B,
            "reading:autoplay:gifs": B,
        }
    ),
    "FamiliarFollowers": exactly({"id": ID, "accounts": many(entity("Account"))}),
    "NoProofs": {"type": "array", "maxItems": 0},
    "Device": exactly({"device_id": S, "name": S, "identity_key": S, "fingerprint_key": S}),
    "QueryResult": exactly({"account_id": ID, "devices": many(entity("Device"))}),
    "ClaimResult": exactly({"account_id": ID, "device_id": S, "key_id": S, "key": S, "signature": S}),
    "OneTimeKeyCount": exactly({"one_time_keys": COUNT}),
    "EncryptedMessage": exactly(
        {
            "id": ID,
            "account_id": ID,
            "device_id": S,
            "type": I,
            "body": S,
            "digest": S,
            "message_franking": S,
            "created_at": D,
        }
    ),
    "Collection": exactly(
        {
            "id": ID,
            "uri": URL,
            "name": S,
            "description": nullable(S),
            "language": nullable(S),
            "account_id": ID,
            "local": B,
            "sensitive": B,
            "discoverable": B,
            "url": nullable(URL),
            "item_count": COUNT,
            "created_at": D,
            "updated_at": D,
            "tag": nullable(entity("ShallowTag")),
            "items": many(entity("CollectionItem")),
        }
    ),
    "CollectionItem": exactly(
        {"id": ID, "state": one_of("pending", "accepted", "rejected", "revoked"), "created_at": D}, {"account_id": ID}
    ),
    "WrappedCollection": exactly({"collection": entity("Collection")}),
    "WrappedCollectionItem": exactly({"collection_item": entity("CollectionItem")}),
    "Collections": exactly({"collections": many(entity("Collection"))}),
    "CollectionWithAccounts": exactly({"collection": entity("Collection"), "accounts": many(entity("Account"))}),
}
