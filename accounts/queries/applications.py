"""Reads applications, and what people have authorized them to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.models import AccessToken, Application, User
from social.kernel import clock
from social.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Authorization:
    """What one user lets one application do, all its tokens taken together."""

    id: int
    name: str
    website: str | None
    scopes: str
    since: datetime
    last_used: datetime | None


def find_application(application_id: int | None) -> Application:
    """The application with this id. Raises NotFound."""
    found: Application | None = Application.objects.filter(pk=application_id).first()
    if found is None:
        raise NotFound
    return found


def find_by_client_id(client_id: str) -> Application | None:
    """The application that calls itself so, if there is one."""
    # PostgreSQL refuses NUL in text, and an address may hold one.
    found: Application | None = None
    if client_id:
        found = Application.objects.filter(client_id=client_id.replace("\0", "")).first()
    return found


def find_token(token_id: int) -> AccessToken:
    """The token with its application and user, in one query. Raises NotFound."""
    found: AccessToken | None = AccessToken.objects.select_related("application", "user").filter(pk=token_id).first()
    if found is None:
        raise NotFound
    return found


def has_token(*, user: User, application: Application, scopes: tuple[str, ...]) -> bool:
    """Whether the user has already authorized the application for exactly these scopes."""
    tokens = AccessToken.objects.filter(user=user, application=application, expires__gt=clock.now())
    return any(set(scope.split()) == set(scopes) for scope in tokens.values_list("scope", flat=True))


def list_authorizations(user: User) -> list[Authorization]:
    """The applications that hold a token of the user, the newest first, in one query."""
    by_application: dict[int, list[AccessToken]] = {}
    tokens = AccessToken.objects.filter(user=user, application__isnull=False, expires__gt=clock.now())
    for token in tokens.select_related("application").order_by("-created"):
        by_application.setdefault(token.application_id, []).append(token)
    return [
        Authorization(
            id=application_id,
            name=held[0].application.name,
            website=held[0].application.website,
            scopes=" ".join(dict.fromkeys(scope for token in held for scope in token.scope.split())),
            since=min(token.created for token in held),
            last_used=max((token.last_used_at for token in held if token.last_used_at), default=None),
        )
        for application_id, held in by_application.items()
    ]
