"""Changes passwords and ends what was opened with them: sessions in browsers, tokens, streams (security row 24)."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.db import transaction

from accounts.events import UserStateChanged
from accounts.models import AccessToken, Grant, User
from accounts.services.tokens import refresh_identities, revoke_tokens
from social.kernel.events import publish


def change_password(*, user: User, password: str) -> None:
    """Set a password and end everything that was opened with the old one.

    Sessions in browsers end because each carries a hash of the password; tokens, codes and streams end here.
    """
    hashed = make_password(password)
    with transaction.atomic():
        user.password = hashed
        user.save(update_fields=["password"])
        _end_tokens(user)


def sign_out_everywhere(*, user: User) -> None:
    """End all sessions, tokens, codes and streams of a user: disabling, suspension, a second factor taken away."""
    with transaction.atomic():
        end_sessions(user=user)
        _end_tokens(user)


def end_sessions(*, user: User, except_key: str | None = None) -> int:
    """End the user's sessions in browsers, but the one with this key; returns how many there were.

    Tokens stay: this is for what changes how one signs in (a second factor added, another e-mail address).
    """
    sessions = list(UserSession.objects.filter(user=user).exclude(session_key=except_key or ""))
    for session in sessions:
        session.end()
    return len(sessions)


def announce_state(*, user: User) -> None:
    """Tell everybody that the user was confirmed, approved, disabled, enabled or given another role.

    Announces UserStateChanged; the next request of each of their tokens sees the new state.
    """
    with transaction.atomic():
        publish(UserStateChanged(user_id=user.pk))
        refresh_identities(user_id=user.pk)


def _end_tokens(user: User) -> None:
    Grant.objects.filter(user=user).delete()
    revoke_tokens(AccessToken.objects.filter(user=user))
