"""Reads the data on which open streams depend: blocks, mutes and filters of viewers, and which tokens are still valid."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from allauth.account.models import EmailAddress
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.identity.queries.sign_in import all_live_sessions
from accounts.models import AccessToken
from accounts.policies.audience import is_present
from accounts.queries.relations import load_hidden
from social.kernel import clock
from statuses.queries.filters import load_active_filters
from timelines.policies.streams import Viewer

_CHOSEN_LANGUAGES: Final = """
SELECT jsonb_array_elements_text(preferences->'chosen_languages') FROM accounts_user
 WHERE account_id = %s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
"""


def load_viewer(account_id: int) -> Viewer:
    """Return the viewer's blocks, mutes, languages and active filters, in three queries."""
    with connection.cursor() as cursor:
        cursor.execute(_CHOSEN_LANGUAGES, [account_id])
        languages = frozenset(language for (language,) in cursor.fetchall())
    return Viewer(account_id, load_hidden(account_id), languages, load_active_filters(account_id))


def list_valid_tokens(token_ids: Collection[int]) -> set[int]:
    """Return the ids of the tokens that still exist and whose user may use the API: enabled, approved, confirmed, neither
    suspended nor moved, as for an API request (contract, behaviours section 3). Negative ids are those of browser sessions
    (`find_session_identity`). One query for each kind.
    """
    confirmed = EmailAddress.objects.filter(user_id=OuterRef("user_id"), primary=True, verified=True)
    usable = (
        is_present("user__account"),
        Q(user__disabled_at=None, user__approved=True),
        Q(user__account__moved_to=None),
        Exists(confirmed),
    )
    good: set[int] = set()
    if tokens := [number for number in token_ids if number > 0]:
        found = AccessToken.objects.filter(*usable, id__one_of=tokens, expires__gt=clock.now())
        good |= set(found.values_list("id", flat=True))
    if browsers := [-number for number in token_ids if number < 0]:
        sessions = all_live_sessions().filter(*usable, id__one_of=browsers)
        good |= {-number for number in sessions.values_list("id", flat=True)}
    return good
