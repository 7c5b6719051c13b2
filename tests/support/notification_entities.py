"""JSON schemas of notifications and of entities in them (contract, entities)."""

from tests.support.schema import COUNT, ID, NULL, TRUE, URL, B, D, I, S, Schema, entity, exactly, many, nullable, one_of

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

NOTIFICATION_ENTITIES: dict[str, Schema] = {
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
}
