"""Reads how somebody proves at sign-in that it is them, besides the password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allauth.mfa.models import Authenticator

from accounts.models import RecoveryCode, User


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey. `alone`: it is known to work without the password."""

    id: int
    name: str
    added: datetime
    last_used: datetime | None
    alone: bool


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """What a user has set up; `app` is an authenticator app, `codes` how many recovery codes are left."""

    app: bool
    passkeys: tuple[Passkey, ...]
    codes: int

    @property
    def any(self) -> bool:
        """Whether a second factor is asked for when they sign in with their password."""
        return self.app or bool(self.passkeys)


def load_second_factors(user: User) -> SecondFactors:
    """What the user has set up, in two queries."""
    found = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    return SecondFactors(
        app=any(one.type == Authenticator.Type.TOTP for one in found),
        passkeys=tuple(_passkey(one) for one in found if one.type == Authenticator.Type.WEBAUTHN),
        codes=RecoveryCode.objects.filter(user=user).count(),
    )


def find_app(user: User) -> Authenticator | None:
    """The user's authenticator app."""
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
