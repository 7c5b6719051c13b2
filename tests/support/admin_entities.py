"""JSON schemas of entities for staff (contract, entities "Admin entities")."""

from tests.support.schema import COUNT, ID, URL, B, D, S, Schema, entity, exactly, many, nullable, one_of

_HISTORY = many(exactly({"day": S, "accounts": S, "uses": S}))
_NUMBER: Schema = {"type": "string", "pattern": r"^-?\d+$"}
_DAY: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(T00:00:00Z)?$"}
_ISO: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT00:00:00\+00:00$"}

ADMIN_ENTITIES: dict[str, Schema] = {
    "AdminIp": exactly({"ip": S, "used_at": D}),
    "AdminAccount": exactly(
        {
            "id": ID,
            "username": {"type": "string", "minLength": 1},
            "domain": nullable(S),
            "created_at": D,
            "email": nullable(S),
            "ip": nullable(S),
            "ips": nullable(many(entity("AdminIp"))),
            "confirmed": nullable(B),
            "suspended": B,
            "silenced": B,
            "sensitized": B,
            "disabled": nullable(B),
            "approved": nullable(B),
            "locale": nullable(S),
            "invite_request": nullable(S),
            "role": nullable(entity("Role")),
            "account": entity("Account"),
        },
        {"created_by_application_id": ID, "invited_by_account_id": ID},
    ),
    "AdminReport": exactly(
        {
            "id": ID,
            "action_taken": B,
            "action_taken_at": nullable(D),
            "category": one_of("spam", "legal", "violation", "other"),
            "comment": S,
            "forwarded": nullable(B),
            "created_at": D,
            "updated_at": D,
            "account": entity("AdminAccount"),
            "target_account": entity("AdminAccount"),
            "assigned_account": nullable(entity("AdminAccount")),
            "action_taken_by_account": nullable(entity("AdminAccount")),
            "statuses": many(entity("Status")),
            "rules": many(entity("Rule")),
        }
    ),
    "AdminDomainAllow": exactly({"id": ID, "domain": S, "created_at": D}),
    "AdminDomainBlock": exactly(
        {
            "id": ID,
            "domain": S,
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "created_at": D,
            "severity": one_of("silence", "suspend", "noop"),
            "reject_media": B,
            "reject_reports": B,
            "private_comment": nullable(S),
            "public_comment": nullable(S),
            "obfuscate": B,
        }
    ),
    "DomainPermissionSubscription": exactly(
        {
            "id": ID,
            "priority": COUNT,
            "title": S,
            "permission_type": one_of("block"),
            "as_draft": B,
            "adopt_orphans": B,
            "remove_retracted": B,
            "created_at": D,
            "created_by": S,
            "uri": URL,
            "content_type": one_of("text/csv", "application/json", "text/plain"),
            "count": COUNT,
            "enabled": B,
        },
        {"fetch_username": S, "fetched_at": D, "successfully_fetched_at": D, "error": S},
    ),
    "DomainPermission": exactly(
        {"domain": S, "public_comment": S, "private_comment": S, "obfuscate": B},
        {
            "id": ID,
            "severity": one_of("silence", "suspend", "noop"),
            "permission_type": one_of("block"),
            "subscription_id": ID,
            "created_by": ID,
            "created_at": D,
        },
    ),
    "DomainPermissionTest": {"anyOf": [many(entity("DomainPermission")), exactly({"error": S})]},
    "AdminEmailDomainBlock": exactly(
        {"id": ID, "domain": S, "created_at": D, "history": _HISTORY, "allow_with_approval": B}
    ),
    "AdminIpBlock": exactly(
        {
            "id": ID,
            "ip": {"type": "string", "pattern": r"^[0-9a-f.:]+/\d+$"},
            "severity": one_of("sign_up_requires_approval", "sign_up_block", "no_access"),
            "comment": S,
            "created_at": D,
            "expires_at": nullable(D),
        }
    ),
    "AdminCanonicalEmailBlock": exactly({"id": ID, "canonical_email_hash": S}),
    "AdminMeasure": exactly(
        {
            "key": S,
            "unit": nullable(S),
            "total": _NUMBER,
            "data": many(exactly({"date": _DAY, "value": _NUMBER})),
        },
        {"human_value": S, "previous_total": _NUMBER},
    ),
    "AdminDimension": exactly(
        {
            "key": S,
            "data": many(exactly({"key": S, "human_key": S, "value": S}, {"unit": S, "human_value": S})),
        }
    ),
    "AdminCohort": exactly(
        {
            "period": _ISO,
            "frequency": one_of("day", "month"),
            "data": many(exactly({"date": _ISO, "rate": {"type": "number"}, "value": _NUMBER})),
        }
    ),
    "AdminTag": exactly(
        {
            "id": ID,
            "name": S,
            "url": S,
            "history": _HISTORY,
            "trendable": B,
            "usable": B,
            "requires_review": B,
            "listable": B,
        },
        {"following": B, "featuring": B},
    ),
    "PreviewCardProvider": exactly(
        {
            "id": ID,
            "domain": S,
            "trendable": nullable(B),
            "reviewed_at": nullable(D),
            "requested_review_at": nullable(D),
            "requires_review": B,
        }
    ),
    # Users who are not staff get the public lists of trends.
    "AnyTrendingTag": {"anyOf": [entity("AdminTag"), entity("Tag")]},
    "AnyTrendingStatus": {"anyOf": [entity("AdminTrendsStatus"), entity("Status")]},
    "AnyTrendingStatusOfUser": {"anyOf": [entity("AdminTrendsStatus"), entity("StatusOfUser")]},
    "AnyTrendingLink": {"anyOf": [entity("AdminTrendsLink"), entity("PreviewCard")]},
}
