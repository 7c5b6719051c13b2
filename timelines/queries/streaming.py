"""Reads what open streams depend on: who the viewer blocks and mutes, and whose tokens are still good."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from allauth.account.models import EmailAddress
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.models import AccessToken
from social.kernel import clock
from timelines.policies.streams import Viewer

_VIEWER = """
SELECT 'blocking', target_id, NULL::timestamptz, NULL FROM accounts_block WHERE account_id = %(viewer)s
UNION ALL
SELECT 'blocked_by', account_id, NULL, NULL FROM accounts_block WHERE target_id = %(viewer)s
UNION ALL
SELECT 'muting', target_id, expires_at, NULL FROM accounts_mute
 WHERE account_id = %(viewer)s AND (expires_at IS NULL OR expires_at > now())
UNION ALL
SELECT 'chosen', NULL, NULL, jsonb_array_elements_text(preferences->'chosen_languages') FROM accounts_user
 WHERE account_id = %(viewer)s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
"""


def load_viewer(account_id: int) -> Viewer:
    """The viewer's sets, whole, in one query."""
    sets: dict[str, set[int]] = {"blocking": set(), "blocked_by": set()}
    muting: dict[int, datetime | None] = {}
    languages: set[str] = set()
    with connection.cursor() as cursor:
        cursor.execute(_VIEWER, {"viewer": account_id})
        for kind, other, expires_at, language in cursor.fetchall():
            if kind == "muting":
                muting[other] = expires_at
            elif kind == "chosen":
                languages.add(language)
            else:
                sets[kind].add(other)
    return Viewer(account_id, frozenset(sets["blocking"]), frozenset(sets["blocked_by"]), muting, frozenset(languages))


def list_good_tokens(token_ids: Collection[int]) -> set[int]:
    """Those of these tokens that still exist and whose user may use the API: enabled, approved,
    confirmed, neither suspended nor moved.

    One query; the same conditions as at the door (contract, behaviours section 3).
    """
    confirmed = EmailAddress.objects.filter(user_id=OuterRef("user_id"), primary=True, verified=True)
    found = AccessToken.objects.filter(
        Q(user__disabled_at=None, user__approved=True, user__account__suspended_at=None),
        Q(user__account__moved_to=None),
        Exists(confirmed),
        id__in=list(token_ids),
        expires__gt=clock.now(),
    )
    return set(found.values_list("id", flat=True))
