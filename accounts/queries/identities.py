"""Finds who is behind a token, for the reception."""

from __future__ import annotations

from django.db.models import FilteredRelation, Q

from accounts.models import AccessToken
from social.api.gate import checksum_of
from social.api.identities import Identity
from social.kernel import clock

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
)


class TokenIdentities:
    """The reception's `TokenSource`, answered from the tables of this floor."""

    def find_identity(self, token: str) -> Identity | None:
        """Who holds a token, in one query; None for an unknown, revoked or expired one.

        A user is confirmed when their primary e-mail address is: that is allauth's to know.
        """
        row = (
            AccessToken.objects.annotate(
                primary_email=FilteredRelation("user__emailaddress", condition=Q(user__emailaddress__primary=True))
            )
            .filter(token_checksum=checksum_of(token), expires__gt=clock.now())
            .values_list(*_COLUMNS)
            .first()
        )
        if row is None:
            return None
        token_id, application_id, scope, user_id, account_id, approved, disabled, locale, suspended, moved, email = row
        scopes = frozenset(scope.split())
        if user_id is None:
            return Identity(token_id=token_id, application_id=application_id, scopes=scopes)
        return Identity(
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
