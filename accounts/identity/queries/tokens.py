"""Reads applications, their authorizations, the holders of tokens, and whether users may use their account."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from allauth.account.models import EmailAddress
from django.db.models import CharField, DateTimeField, FilteredRelation, Q
from django.utils.translation import gettext as _

from accounts.models import AccessToken, Application, RevokedToken, User
from accounts.queries.accounts import has_address, split_address
from social.api.admission import checksum_of
from social.api.identities import Identity
from social.kernel import clock
from social.kernel.errors import Unauthorized, require_found
from social.kernel.plans import Plan, Slot


@dataclass(frozen=True, slots=True)
class Authorization:
    """Authorization of an application by a user, with the scopes of all tokens that the application has for the user."""

    id: int
    name: str
    website: str | None
    scopes: str
    since: datetime
    last_used: datetime | None


def find_application(application_id: int | None) -> Application:
    """Return the application with this id. Raises NotFound."""
    application: Application | None = Application.objects.filter(pk=application_id).first()
    return require_found(application)


def find_by_client_id(client_id: str) -> Application | None:
    """Return the application with this client id, if there is one."""
    # A URL may contain NUL, which PostgreSQL refuses in text.
    application: Application | None = None
    if client_id:
        application = Application.objects.filter(client_id=client_id.replace("\0", "")).first()
    return application


def find_token(token_id: int) -> AccessToken:
    """Return the token with its application and user, in one query. Raises NotFound."""
    token: AccessToken | None = AccessToken.objects.select_related("application", "user").filter(pk=token_id).first()
    return require_found(token)


def has_token(*, user: User, application: Application, scopes: tuple[str, ...]) -> bool:
    """Tell whether the user has already authorized the application for exactly these scopes."""
    tokens = AccessToken.objects.filter(user=user, application=application, expires__gt=clock.now())
    return any(set(scope.split()) == set(scopes) for scope in tokens.values_list("scope", flat=True))


def list_authorizations(user: User) -> list[Authorization]:
    """List the applications that hold a token of the user, the newest token first, in one query."""
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


_COLUMNS = (
    "pk",
    "application_id",
    "scope",
    "user_id",
    "user__account_id",
    "user__approved",
    "user__disabled_at",
    "user__locale",
    "user__account__suspended_at",
    "user__account__moved_to_id",
    "primary_email__verified",
    "last_used_at",
)
_IDENTITY = Plan(
    lambda: (
        AccessToken.objects.annotate(
            primary_email=FilteredRelation("user__emailaddress", condition=Q(user__emailaddress__primary=True))
        )
        .filter(token_checksum=Slot("checksum", CharField()), expires__gt=Slot("now", DateTimeField()))
        .values_list(*_COLUMNS)
    )
)


@dataclass(frozen=True, slots=True)
class FoundToken:
    """Valid token: its holder, and the stored time of its last use, precise to a day."""

    identity: Identity
    last_used_at: datetime | None


def find_holder(token: str) -> FoundToken | None:
    """Return the holder of a token, in one query; None for an unknown token. Raises Unauthorized for a revoked token."""
    row = _IDENTITY.first(checksum=checksum_of(token), now=clock.now())
    if row is None:
        if RevokedToken.objects.filter(token_checksum=checksum_of(token)).exists():
            raise Unauthorized(_("The access token was revoked"))
        return None
    token_id, application_id, scope, user_id, account_id, *state, last_used_at = row
    approved, disabled, locale, suspended, moved, email = state
    scopes = frozenset(scope.split())
    if user_id is None:
        return FoundToken(Identity(token_id=token_id, application_id=application_id, scopes=scopes), last_used_at)
    identity = Identity(
        token_id=token_id,
        application_id=application_id,
        scopes=scopes,
        user_id=user_id,
        account_id=account_id,
        confirmed=bool(email),
        approved=approved,
        disabled=disabled is not None,
        suspended=suspended is not None,
        moved=moved is not None,
        locale=locale or "",
    )
    return FoundToken(identity, last_used_at)


class SignInState(Enum):
    """State of a user: whether they may use their account, and if not, why."""

    ACTIVE = "active"
    DISABLED = "disabled"
    SUSPENDED = "suspended"
    UNCONFIRMED = "unconfirmed"
    UNAPPROVED = "unapproved"
    MOVED = "moved"


def find_sign_in_state(user: User) -> SignInState:
    """Return the first reason why the account cannot be used, in the order of the API (contract, behaviours section 3)."""
    if user.disabled_at is not None:
        return SignInState.DISABLED
    if user.account.suspended:
        return SignInState.SUSPENDED
    if not (user.confirmed or EmailAddress.objects.filter(user=user, primary=True, verified=True).exists()):
        return SignInState.UNCONFIRMED
    if not user.approved:
        return SignInState.UNAPPROVED
    return SignInState.MOVED if user.account.moved_to_id is not None else SignInState.ACTIVE


def find_email_of(name: str) -> str | None:
    """Return the e-mail address of the local account with this username: `anna`, `@anna`, `@anna@this.server`."""
    if "@" in name.removeprefix("@") and not name.startswith("@"):
        return None
    pair = split_address(name.replace("\0", ""))
    if pair is None or pair[1] is not None:
        return None
    return User.objects.filter(has_address(pair[0], None, "account__")).values_list("email", flat=True).first()
