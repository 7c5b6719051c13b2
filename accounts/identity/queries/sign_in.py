"""Reads browser sessions, the identities with which their pages open streams, and second factors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from accounts.identity.policies.browsers import Browser, browser_of
from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.models import RecoveryCode, User
from social.api.identities import Identity
from social.kernel import clock

SESSIONS_SHOWN: Final = 100
#: Scopes of the identity with which pages open streams.
_SESSION_SCOPES: Final = frozenset({"read:statuses", "read:notifications"})


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """Browser in which a user is signed in. `last_seen` is stored once a day, with the IP `address` at that time."""

    id: int
    browser: Browser
    first_seen: datetime
    last_seen: datetime
    address: str
    current: bool


def all_live_sessions() -> QuerySet[UserSession]:
    """List all users' sessions that have neither ended nor expired."""
    stored = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=clock.now())
    sessions: QuerySet[UserSession] = UserSession.objects.filter(Exists(stored))
    return sessions


def live_sessions(user: User) -> QuerySet[UserSession]:
    """List the user's sessions that have neither ended nor expired."""
    return all_live_sessions().filter(user=user)


def find_session_identity(session_key: str) -> Identity | None:
    """Return the identity with which pages of this session open streams; None if the session or the account cannot be used.

    The `token_id` is the negative id of the session, so that it cannot be the id of a token.
    """
    request = HttpRequest()
    request.session = SessionStore(session_key)
    # `get_user` also checks that the password is still the same as when the session began.
    user = get_user(request)
    if not isinstance(user, User) or find_sign_in_state(user) is not SignInState.ACTIVE:
        return None
    session = live_sessions(user).filter(session_key=session_key).first()
    if session is None:
        return None
    return Identity(
        token_id=-session.pk,
        application_id=None,
        scopes=_SESSION_SCOPES,
        user_id=user.pk,
        account_id=user.account_id,
        locale=user.locale or "",
    )


def list_sessions(user: User, current_key: str | None) -> list[BrowserSession]:
    """List at most SESSIONS_SHOWN of the most recently used browsers, the one with `current_key` first. Needs one query."""
    latest = live_sessions(user).order_by("-last_seen_at", "-id")[:SESSIONS_SHOWN]
    sessions = [
        BrowserSession(
            id=session.pk,
            browser=browser_of(session.user_agent, str(session.data.get("brands", ""))),
            first_seen=session.created_at,
            last_seen=session.last_seen_at,
            address=session.ip,
            current=session.session_key == current_key,
        )
        for session in latest
    ]
    return sorted(sessions, key=lambda session: not session.current)


@dataclass(frozen=True, slots=True)
class Passkey:
    """Passkey of a user. `alone`: the passkey is known to work without the password."""

    id: int
    name: str
    added: datetime
    last_used: datetime | None
    alone: bool


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """Second factors of a user; `app` tells whether there is an authenticator app, `codes` is the number of recovery codes."""

    app: bool
    passkeys: tuple[Passkey, ...]
    codes: int

    @property
    def any(self) -> bool:
        """Tell whether a sign-in with the password requires a second factor."""
        return self.app or bool(self.passkeys)


def load_second_factors(user: User) -> SecondFactors:
    """Load the user's second factors, in two queries."""
    authenticators = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    return SecondFactors(
        app=any(one.type == Authenticator.Type.TOTP for one in authenticators),
        passkeys=tuple(_passkey(one) for one in authenticators if one.type == Authenticator.Type.WEBAUTHN),
        codes=RecoveryCode.objects.filter(user=user).count(),
    )


def find_app(user: User) -> Authenticator | None:
    return Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()


def _passkey(found: Authenticator) -> Passkey:
    wrapped = found.wrap()
    return Passkey(
        id=found.pk,
        name=wrapped.name,
        added=found.created_at,
        last_used=found.last_used_at,
        alone=bool(found.data.get("verified")) and bool(wrapped.is_passwordless),
    )


def load_identities(user: User) -> list[SocialAccount]:
    """Load the user's identities at issuers that the settings name. If the settings name no issuers, no query is made."""
    issuers = [issuer.id for issuer in settings.ISSUERS]
    return list(SocialAccount.objects.filter(user=user, provider__one_of=issuers).order_by("pk")) if issuers else []


def is_registered_passkey(credential_id: str) -> bool:
    """Tell whether any user has a passkey with this id, in the encoding of browsers."""
    passkeys = Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN)
    return bool(passkeys.filter(data__credential__rawId=credential_id).exists())
