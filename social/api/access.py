"""Kinds of access that viewsets declare for their endpoints, and the order in which access is checked.

Source: contract, behaviours section 3 ("Order of checks"), endpoints.tsv columns auth and scope.
"""

from dataclasses import dataclass, replace
from enum import Enum, IntFlag

from django.utils.translation import gettext as _

from social.api import scopes as tree
from social.api.identities import Identity
from social.kernel import errors


class AccessKind(Enum):
    ANYONE = "anyone"
    OPTIONAL_USER = "optional_user"
    ANY_TOKEN = "any_token"  # noqa: S105  # a kind of caller
    APP_TOKEN = "app_token"  # noqa: S105  # a kind of caller
    USER = "user"
    STAFF = "staff"


@dataclass(frozen=True, slots=True)
class Access:
    """Requirements that the caller of an action must meet. Create an instance with the functions below, not directly.

    `permission`: the caller's role must grant at least one of these permissions. The viewset's `require_permission` checks the
    role, because this module does not know roles.
    """

    kind: AccessKind
    scopes: tuple[str, ...] = ()
    sufficient_scopes: frozenset[str] = frozenset()
    permission: IntFlag | None = None

    def check(self, identity: Identity | None, *, refusal: errors.Unauthorized | None = None) -> None:
        """Raise an error unless the caller has access. The contract's order of checks is: token, scope, user, user's state.

        `refusal` is the error for a token that is no longer valid. An action that needs no token ignores a token that was
        never valid (contract, behaviours section 5). Raises Unauthorized (401), Forbidden (403) or Invalid (422).
        """
        kind = self.kind
        if kind is AccessKind.ANYONE:
            return
        if identity is None:
            if refusal is not None:
                raise refusal
            if kind is AccessKind.OPTIONAL_USER:
                return
            raise errors.Forbidden if kind is AccessKind.STAFF else errors.Unauthorized
        if self.sufficient_scopes and self.sufficient_scopes.isdisjoint(identity.scopes):
            raise errors.Forbidden(_("This action is outside the authorized scopes"))
        if kind is AccessKind.USER:
            self._check_user(identity)
        elif identity.suspended:
            raise errors.Forbidden(_("Your login is currently disabled"))
        elif kind is AccessKind.STAFF:
            if identity.user_id is None:
                raise errors.Forbidden
            self._check_user(identity)
        elif kind is AccessKind.APP_TOKEN and identity.user_id is not None:
            raise errors.Forbidden(_("This method requires an client credentials authentication"))

    def effective_caller(self, identity: Identity | None) -> Identity | None:
        """Return the caller on whose behalf the action runs; call this after `check`. A disabled user counts as an anonymous
        caller or, where any token is enough, as the application (contract, behaviours section 5; security row 80).
        """
        if identity is None or not identity.disabled:
            return identity
        return replace(identity, user_id=None, account_id=None) if self.kind is AccessKind.ANY_TOKEN else None

    def _check_user(self, identity: Identity) -> None:
        if identity.user_id is None:
            raise errors.Invalid(_("This method requires an authenticated user"))
        if identity.disabled or identity.suspended:
            raise errors.Forbidden(_("Your login is currently disabled"))
        if not identity.confirmed:
            raise errors.Forbidden(_("Your login is missing a confirmed e-mail address"))
        if not identity.approved:
            raise errors.Forbidden(_("Your login is currently pending approval"))
        if identity.moved:
            raise errors.Forbidden(_("Your login is currently disabled"))


def _access(kind: AccessKind, scopes: tuple[str, ...], permission: IntFlag | None = None) -> Access:
    strange = tree.unknown(scopes)
    if strange:
        raise ValueError(f"unknown scopes: {', '.join(strange)}")
    return Access(kind, scopes, tree.sufficient_for_any(scopes), permission)


def anyone() -> Access:
    """Public access: no token is needed, and an invalid one is ignored (instance documents, application registration)."""
    return _access(AccessKind.ANYONE, ())


def optional_user(*scopes: str) -> Access:
    """Public access; a signed-in user gets a fuller answer (`user?`).

    A valid token needs one of the scopes; an invalid token is ignored.
    """
    return _access(AccessKind.OPTIONAL_USER, scopes)


def any_token(*scopes: str) -> Access:
    """Access with any valid token; an application's own token is enough (`app`)."""
    return _access(AccessKind.ANY_TOKEN, scopes)


def app_token(*scopes: str) -> Access:
    """Access with an application's own token only (sign-up): a user's token gets 403."""
    return _access(AccessKind.APP_TOKEN, scopes)


def user(*scopes: str) -> Access:
    """Access with a user's token that has one of the scopes or the parent of one of them."""
    return _access(AccessKind.USER, scopes)


def staff(scope: str, permission: IntFlag) -> Access:
    """Access for moderators only. Callers without a token, and callers whose role does not grant the permission, get 403."""
    return _access(AccessKind.STAFF, (scope,), permission)
