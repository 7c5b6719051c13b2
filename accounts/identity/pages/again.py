"""Reads from the records of allauth whether a user has reauthenticated with their OpenID Connect issuer."""

from __future__ import annotations

from typing import Final

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from django.http import HttpRequest

from accounts.models import User
from social.kernel import clock

#: Name of this method in allauth's records of a session.
ISSUER_METHOD: Final = "socialaccount"


def has_asked_issuer(request: HttpRequest, user: User) -> bool:
    """Tell whether the user has reauthenticated with their issuer within the last minutes."""
    since = clock.now().timestamp() - app_settings.REAUTHENTICATION_TIMEOUT
    return any(
        record["method"] == ISSUER_METHOD and record.get("reauthenticated") and record["at"] > since
        for record in get_authentication_records(request, user)
    )
