"""The shape of every entity as JSON Schema, written from the contract (entities), strict about unknown keys.

    check("Status", body)                 # one
    check_all("Status", body)             # a list

Both also walk the ids of the whole body (SEED-041, SEED-042, SEED-043).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from tests.support.admin_entities import ADMIN_ENTITIES
from tests.support.instance_entities import INSTANCE_ENTITIES
from tests.support.quick_schema import Definitions
from tests.support.schema import (
    COUNT,
    DAY,
    FREE,
    ID,
    NULL,
    TRUE,
    URL,
    B,
    D,
    I,
    S,
    Schema,
    entity,
    exactly,
    extended,
    many,
    nullable,
    one_of,
)

_POLICY_WORDS = one_of("public", "followers", "following", "unsupported_policy", "disabled")
_VISIBILITY = one_of("public", "unlisted", "private", "direct")
_HISTORY = many(exactly({"day": S, "accounts": S, "uses": S}))
_HANDLING = one_of("accept", "filter", "drop")
_SUBJECTS = {
    "report": entity("Report"),
    "event": entity("RelationshipSeveranceEvent"),
    "moderation_warning": entity("AccountWarning"),
    "collection": entity("Collection"),
    "annual_report": exactly({"year": {"type": "string", "pattern": r"^\d{4}$"}}),
    "fallback": exactly({"title": S, "summary": nullable(S), "description": NULL}),
}
_REQUEST_SUMMARY = exactly({"pending_requests_count": COUNT, "pending_notifications_count": COUNT})
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

# As the columns are named; a draft of a scheduled post has null for what was left out.
_AUTHOR_COLUMNS: dict[str, Schema] = {"spoiler_text": S}
_STATUS: dict[str, Schema] = {
    **_AUTHOR_COLUMNS,
    "id": ID,
    "created_at": D,
    "in_reply_to_id": nullable(ID),
    "in_reply_to_account_id": nullable(ID),
    "sensitive": B,
    "visibility": _VISIBILITY,
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
    "tagged_collections": many(FREE),
    "quote": nullable({"anyOf": [entity("Quote"), entity("ShallowQuote")]}),
    "card": nullable(entity("PreviewCard")),
    "poll": nullable(entity("Poll")),
    "quote_approval": entity("QuoteApproval"),
}
_STATUS_OPTIONAL: dict[str, Schema] = {
    "application": nullable(exactly({"name": S, "website": nullable(URL)})),
    "favourited": B,
    "reblogged": B,
    "muted": B,
    "bookmarked": B,
    "pinned": B,
    "filtered": many(entity("FilterResult")),
}
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
_APPLICATION: dict[str, Schema] = {
    "id": ID,
    "name": S,
    "website": nullable(URL),
    "scopes": many(S),
    "redirect_uris": many(S),
    "redirect_uri": S,
    "vapid_key": S,
}
NOTIFICATION_TYPES = (
    "mention",
    "status",
    "reblog",
    "follow",
    "follow_request",
    "favourite",
    "poll",
    "update",
    "admin.sign_up",
    "admin.report",
    "severed_relationships",
    "moderation_warning",
    "annual_report",
    "quote",
    "quoted_update",
    "added_to_collection",
    "collection_update",
)

ENTITIES: dict[str, Schema] = {
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
    "WebPushSubscription": exactly(
        {
            "id": ID,
            "endpoint": URL,
            "standard": B,
            "alerts": exactly({}, dict.fromkeys(NOTIFICATION_TYPES, B)),
            "server_key": S,
            "policy": S,
        }
    ),
    "FeatureApproval": exactly(
        {
            "automatic": many(_POLICY_WORDS),
            "manual": many(_POLICY_WORDS),
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
        }
    ),
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
            "spoiler_text": S,
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
            "automatic": many(_POLICY_WORDS),
            "manual": many(_POLICY_WORDS),
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
        # A hashtag that nobody has used yet has no id.
        {
            "id": {"anyOf": [ID, {"const": ""}]},
            "name": S,
            "url": URL,
            "history": {**_HISTORY, "minItems": 7, "maxItems": 7},
        },
        {"following": B, "featuring": B},
    ),
    "Conversation": exactly(
        {
            "id": ID,
            "unread": B,
            "accounts": many(entity("Account")),
            "last_status": nullable(entity("StatusOfUser")),
        }
    ),
    "Search": exactly(
        {
            "accounts": many(entity("Account")),
            "statuses": many(entity("StatusOfUser")),
            "hashtags": many(entity("Tag")),
            "collections": many(entity("Collection")),
        }
    ),
    "List": exactly({"id": ID, "title": S, "replies_policy": one_of("list", "followed", "none"), "exclusive": B}),
    "Marker": exactly({"last_read_id": ID, "version": I, "updated_at": D}),
    "Markers": exactly({}, {"home": entity("Marker"), "notifications": entity("Marker")}),
    "Text": S,
    "Suggestion": exactly({"source": S, "sources": many(S), "account": entity("Account")}),
    "FeaturedTag": exactly({"id": ID, "name": S, "url": URL, "statuses_count": S, "last_status_at": nullable(S)}),
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
        {"missing_attribution": B, "history": _HISTORY},
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
    "GroupedNotificationsResults": exactly(
        {
            "accounts": many(entity("Account")),
            "statuses": many(entity("Status")),
            "notification_groups": many(entity("NotificationGroup")),
        },
        {"partial_accounts": many(entity("PartialAccount"))},
    ),
    "NotificationGroup": exactly(
        {
            "group_key": {"type": "string", "minLength": 1},
            "notifications_count": COUNT,
            "type": one_of(*NOTIFICATION_TYPES),
            "most_recent_notification_id": ID,
            "sample_account_ids": many(ID),
        },
        {
            "page_min_id": ID,
            "page_max_id": ID,
            "latest_page_notification_at": D,
            "status_id": ID,
            **_SUBJECTS,
        },
    ),
    "Notification": exactly(
        {
            "id": ID,
            "type": one_of(*NOTIFICATION_TYPES),
            "created_at": D,
            "group_key": {"type": "string", "minLength": 1},
            "account": entity("Account"),
        },
        {
            "filtered": TRUE,
            "status": nullable(entity("Status")),
            **_SUBJECTS,
        },
    ),
    "UnreadCount": exactly({"count": COUNT}),
    "NotificationPolicy": exactly(
        {
            "for_not_following": _HANDLING,
            "for_not_followers": _HANDLING,
            "for_new_accounts": _HANDLING,
            "for_private_mentions": _HANDLING,
            "for_limited_accounts": _HANDLING,
            "for_bots": _HANDLING,
            "summary": _REQUEST_SUMMARY,
        }
    ),
    "NotificationPolicyV1": exactly(
        {
            "filter_not_following": B,
            "filter_not_followers": B,
            "filter_new_accounts": B,
            "filter_private_mentions": B,
            "filter_bots": B,
            "summary": _REQUEST_SUMMARY,
        }
    ),
    "NotificationRequest": exactly(
        {
            "id": ID,
            "created_at": D,
            "updated_at": D,
            "notifications_count": {"type": "string", "pattern": r"^(0|[1-9]\d?|100)$"},
            "account": entity("Account"),
            "last_status": nullable(entity("StatusOfUser")),
        }
    ),
    "Merged": exactly({"merged": B}),
    "Report": exactly(
        {
            "id": ID,
            "action_taken": B,
            "action_taken_at": nullable(D),
            "category": one_of("spam", "legal", "violation", "other"),
            "comment": S,
            "forwarded": B,
            "created_at": D,
            "status_ids": nullable(many(ID)),
            "rule_ids": nullable(many(ID)),
            "collection_ids": many(ID),
            "target_account": entity("Account"),
        }
    ),
    "RelationshipSeveranceEvent": exactly(
        {
            "id": ID,
            "type": one_of("domain_block", "user_domain_block", "account_suspension"),
            "purged": B,
            "target_name": S,
            "followers_count": I,
            "following_count": I,
            "created_at": D,
        }
    ),
    "AnnualReports": exactly(
        {
            "annual_reports": many(
                exactly(
                    {
                        "year": I,
                        "data": exactly(
                            {
                                "archetype": one_of("lurker", "booster", "pollster", "replier", "oracle"),
                                "time_series": many(exactly({"month": I, "statuses": I, "followers": I})),
                                "top_hashtags": many(exactly({"name": S, "count": I})),
                                "top_statuses": exactly(
                                    {"by_reblogs": nullable(ID), "by_favourites": NULL, "by_replies": NULL}
                                ),
                            }
                        ),
                        "schema_version": I,
                        "share_url": nullable(URL),
                        "account_id": ID,
                    }
                )
            ),
            "accounts": many(entity("Account")),
            "statuses": many(entity("Status")),
        }
    ),
    "AnnualReportState": exactly({"state": one_of("available", "generating", "eligible", "ineligible")}),
    "AsyncRefresh": exactly(
        {"async_refresh": exactly({"id": S, "status": one_of("running", "finished")}, {"result_count": I})}
    ),
    "AccountWarning": exactly(
        {
            "id": ID,
            "action": one_of(
                "none", "disable", "mark_statuses_as_sensitive", "delete_statuses", "sensitive", "silence", "suspend"
            ),
            "text": S,
            "status_ids": nullable(many(ID)),
            "created_at": D,
            "target_account": entity("Account"),
            "appeal": nullable(exactly({"text": S, "state": one_of("approved", "rejected", "pending")})),
        }
    ),
    "Announcement": exactly(
        {
            "id": ID,
            "content": S,
            "starts_at": nullable(D),
            "ends_at": nullable(D),
            "all_day": B,
            "published_at": D,
            "updated_at": D,
            "mentions": many(entity("Mention")),
            "statuses": many(entity("Status")),
            "tags": many(entity("ShallowTag")),
            "emojis": many(entity("CustomEmoji")),
            "reactions": many(entity("Reaction")),
        },
        {"read": B},
    ),
    "Reaction": exactly({"name": S, "count": COUNT}, {"me": B, "url": URL, "static_url": URL, "announcement_id": ID}),
    "Application": exactly(_APPLICATION),
    "CredentialApplication": exactly(
        _APPLICATION | {"client_id": S, "client_secret": S, "client_secret_expires_at": {"const": 0}}
    ),
    "Token": exactly({"access_token": S, "token_type": {"const": "Bearer"}, "scope": S, "created_at": I}),
    "Introspection": exactly({"active": B}, {"scope": S, "client_id": S, "token_type": {"const": "Bearer"}, "iat": I}),
    "TokenInfo": exactly(
        {
            "resource_owner_id": nullable(ID),
            "scope": many(S),
            "expires_in": NULL,
            "application": exactly({"uid": S}),
            "created_at": I,
        }
    ),
    "UserInfo": exactly({"iss": URL, "sub": URL, "name": S, "preferred_username": S, "profile": URL, "picture": URL}),
    "DomainBlockPreview": exactly({"following_count": I, "followers_count": I}),
    "Preferences": exactly(
        {
            "posting:default:visibility": _VISIBILITY,
            "posting:default:sensitive": B,
            "posting:default:language": nullable(S),
            "posting:default:quote_policy": S,
            "reading:expand:media": one_of("default", "show_all", "hide_all"),
            "reading:expand:spoilers": B,
            "reading:autoplay:gifs": B,
        }
    ),
    "Rule": exactly(
        {
            "id": ID,
            "text": S,
            "hint": S,
            "translations": {"type": "object", "additionalProperties": exactly({"text": S, "hint": S})},
        }
    ),
    "Empty": exactly({}),
    "Boolean": B,
    "OpenApi": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
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
    "Error": {"type": "object", "properties": {"error": {"type": ["string", "object"]}}, "required": ["error"]},
}


ENTITIES |= INSTANCE_ENTITIES | ADMIN_ENTITIES
ENTITIES["AdminTrendsStatus"] = extended(ENTITIES["StatusOfUser"], {"requires_review": B})
ENTITIES["AdminTrendsLink"] = extended(ENTITIES["PreviewCard"], {"id": ID, "history": _HISTORY, "requires_review": B})


_DEFINITIONS = Definitions(ENTITIES)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": ENTITIES})


def check(name: str, body: Any) -> None:
    """Fail, naming the place, unless `body` is the entity `name`."""
    assert name in ENTITIES, f"the entity {name} has no shape: add it to ENTITIES in tests/support/entities.py"
    if not _DEFINITIONS.find(name)(body):
        found = [leaf for problem in _validator(name).iter_errors(body) for leaf in _leaves(problem)]
        problems = sorted(found, key=lambda problem: list(map(str, problem.absolute_path)))
        places = [f"{'.'.join(map(str, problem.absolute_path)) or '(top)'}: {problem.message}" for problem in problems]
        raise AssertionError(f"not the entity {name}:\n  " + "\n  ".join(places[:20]))
    if name != "OpenApi":  # whose ids are schemas of ids
        check_ids(body)


def _leaves(problem: ValidationError) -> list[ValidationError]:
    """The problem itself; of a value that is none of several alternatives, the problems of the alternative that it is most
    like: one of its type, then the one with the fewest problems.
    """
    alternatives: dict[int | str, list[ValidationError]] = {}
    for each in problem.context or ():
        alternatives.setdefault(each.relative_schema_path[0], []).append(each)
    if not alternatives:
        return [problem]
    nearest = min(alternatives.values(), key=lambda each: (any(_is_of_another_type(one) for one in each), len(each)))
    return [leaf for each in nearest for leaf in _leaves(each)]


def _is_of_another_type(problem: ValidationError) -> bool:
    return problem.validator == "type" and not problem.relative_path


def check_all(name: str, body: Any) -> None:
    """`check` for every item of a list."""
    assert isinstance(body, list), f"a list of {name} expected, not {type(body).__name__}"
    for item in body:
        check(name, item)


# Ids of other worlds: strings, but no 64-bit integers.
_FOREIGN_IDS = frozenset({"client_id", "device_id", "key_id", "group_key"})
_NUMERIC = re.compile(r"(?:[0-9]{1,19}|-99)\Z")


def check_ids(body: Any, place: str = "(top)") -> None:
    """Ids are decimal strings below 2**63 or null, and no number beside an id repeats it (SEED-041, 042, 043)."""
    if isinstance(body, list):
        for index, item in enumerate(body):
            check_ids(item, f"{place}[{index}]")
        return
    if not isinstance(body, dict):
        return
    for key, value in body.items():
        here = f"{place}.{key}"
        if key in _FOREIGN_IDS:
            continue
        if key == "id" and value == "" and "history" in body:
            continue  # a hashtag that nobody has used yet (contract, entities "Tag")
        if key == "id" or key.endswith("_id"):
            assert value is None or _is_id(value), f"{here} is no id: {value!r}"
        elif key.endswith("_ids"):
            assert value is None or (isinstance(value, list) and all(map(_is_id, value))), f"{here}: {value!r}"
        assert not f"_{key}".endswith("_id_int"), f"{here} repeats an id as a number"
        check_ids(value, here)
    own = body.get("id")
    if isinstance(own, str) and len(own) > 9:
        numeric = [key for key, value in body.items() if type(value) is int and str(value) == own]
        assert not numeric, f"{place}: {numeric} repeat the id as a number"


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _NUMERIC.match(value) is not None and int(value) < 2**63
