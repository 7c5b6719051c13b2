"""Changes passwords, and ends browser sessions, tokens and streams (security row 24)."""

from functools import partial
from typing import Final

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.events import UserStateChanged
from accounts.identity.services.tokens import end_streams, refresh_identities, revoke_tokens
from accounts.models import AccessToken, Grant, User
from social.api import admission, limits
from social.kernel import clock
from social.kernel.errors import require_found
from social.kernel.events import publish

_USER_AGENT_LENGTH: Final = 200
_BATCH_SIZE: Final = 1000


def change_password(*, user: User, password: str, asking_key: str | None = None) -> None:
    """Set a password and end everything opened with the old one: sessions, tokens, authorization codes and streams.

    The caller deletes the session `asking_key`, which the new password makes invalid. Counts of failed attempts are cleared.
    """
    hashed = make_password(password)
    with transaction.atomic():
        user.password = hashed
        # Somebody else who had the old password may have requested this change.
        user.new_email = None
        user.save(update_fields=["password", "new_email"])
        end_sessions(user=user, except_key=asking_key)
        close_streams_of_sessions(UserSession.objects.filter(user=user)).delete()
        _end_tokens(user)
        for rule, subject in ((limits.SIGN_IN_EMAIL, user.email.lower()), (limits.REAUTHENTICATION, str(user.pk))):
            transaction.on_commit(partial(admission.forget, rule, subject=subject))


def sign_out_everywhere(*, user: User) -> None:
    """End all sessions, tokens, authorization codes and streams of a user, as after a reset of the second factor."""
    with transaction.atomic():
        end_sessions(user=user)
        _end_tokens(user)


def end_sessions(*, user: User, except_key: str | None = None) -> int:
    """End the user's browser sessions, except the one with this key; return how many were ended. Tokens stay."""
    ending = UserSession.objects.filter(user=user).exclude(session_key=except_key or "")
    with transaction.atomic():
        Session.objects.filter(session_key__in=ending.values("session_key")).delete()
        ended, _by_model = close_streams_of_sessions(ending).delete()
    return int(ended)


def end_session(*, user: User, session_id: int) -> str:
    """End one of the user's browser sessions; return its key. Raises NotFound, also for another user's session."""
    with transaction.atomic():
        session = require_found(UserSession.objects.select_for_update().filter(user=user, pk=session_id).first())
        key = str(session.session_key)
        Session.objects.filter(session_key=key).delete()
        close_streams_of_sessions(UserSession.objects.filter(pk=session_id))
        session.delete()
    return key


def close_streams_of_sessions(sessions: QuerySet[UserSession]) -> QuerySet[UserSession]:
    """Close every stream that pages of these sessions have opened, after the commit; return the sessions."""
    token_ids = [-session_id for session_id in sessions.values_list("pk", flat=True)]
    transaction.on_commit(lambda: end_streams(token_ids), robust=True)
    return sessions


def record_visit(*, user: User, session_key: str, address: str, user_agent: str, brands: str) -> None:
    """Record that a session was just used, with its network address and browser."""
    UserSession.objects.update_or_create(
        session_key=session_key,
        defaults={
            "user": user,
            "ip": address,
            "user_agent": user_agent[:_USER_AGENT_LENGTH],
            "data": {"brands": brands} if brands else {},
            "last_seen_at": clock.now(),
        },
    )


def forget_ended_sessions() -> int:
    """Delete expired sessions and records of ended sessions, in batches; return how many rows. Run by the scheduler."""
    expired = Session.objects.filter(expire_date__lt=clock.now())
    over = UserSession.objects.filter(~Exists(Session.objects.filter(session_key=OuterRef("session_key"))))
    removed = 0
    for rows in (expired, over):
        first = rows.order_by("pk").values("pk")[:_BATCH_SIZE]
        while step := rows.model.objects.filter(pk__in=first).delete()[0]:
            removed += step
    return removed


def publish_user_state(*, user: User) -> None:
    """Publish UserStateChanged (confirmation, approval, role or access), and remove the user's tokens from caches."""
    with transaction.atomic():
        publish(UserStateChanged(user_id=user.pk))
        refresh_identities(user_id=user.pk)


def _end_tokens(user: User) -> None:
    Grant.objects.filter(user=user).delete()
    revoke_tokens(AccessToken.objects.filter(user=user))
