"""Issues tokens and takes them back (contract, behaviours section 5)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import QuerySet

from accounts.events import TokenRevoked
from accounts.models import AccessToken, Application, Grant, RevokedToken, User
from social.api.admission import forget_tokens
from social.kernel import clock, streams
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from social.kernel.locks import lock

# Tokens end when they are revoked; the column cannot be empty.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
KILL = b'{"event":"kill"}'
REVOKED_KEPT = timedelta(days=1)
_REVOKED_AT_A_TIME = 500
_REMEMBER_REVOKED = """
INSERT INTO accounts_revokedtoken (token_checksum, revoked_at)
SELECT unnest(%(checksums)s::text[]), %(now)s ON CONFLICT DO NOTHING
"""


def channel_of(token_id: int) -> str:
    """The stream channel of one token. `{"event":"kill"}` on it means: close every connection opened with the token."""
    return f"token:{token_id}"


def issue_token(*, application: Application, user: User | None, scopes: Sequence[str]) -> AccessToken:
    """A token for a user, or with `user=None` for the application itself.

    The same application, user and set of scopes get the same token again, also when two ask at the same moment.
    Scopes of the staff may be among them for anybody: what they allow is asked of the role at every call, and whoever gets
    a role later goes on with the token of their sign-up. On the consent page nobody grants them who is not of the staff
    (security row 45).
    """
    wanted = tuple(dict.fromkeys(scopes))
    with transaction.atomic():
        lock(f"token:{application.pk}:{user.pk if user is not None else 'application'}")
        token: AccessToken
        for token in AccessToken.objects.filter(application=application, user=user).order_by("id"):
            if set(token.scope.split()) == set(wanted) and not token.is_expired():
                return token
        token = AccessToken.objects.create(
            application=application, user=user, token=secrets.token_urlsafe(32), scope=" ".join(wanted), expires=NEVER
        )
        return token


def revoke_tokens(tokens: QuerySet[AccessToken]) -> int:
    """Delete these tokens; returns how many. They are refused at once and their streams close.

    In steps, each a transaction of its own unless the caller has one: what is done stays done, and calling again goes on.
    Publishes TokenRevoked for each. What belongs to a token (its push subscription) goes with its row.
    """
    revoked = 0
    while step := _revoke_some(tokens):
        revoked += step
    return revoked


def _revoke_some(tokens: QuerySet[AccessToken]) -> int:
    with transaction.atomic():
        locked = tokens.select_for_update(of=("self",)).order_by("pk")[:_REVOKED_AT_A_TIME]
        doomed = dict(locked.values_list("pk", "token_checksum"))
        if not doomed:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_REMEMBER_REVOKED, {"checksums": list(doomed.values()), "now": clock.now()})
        publish(*(TokenRevoked(token_id=pk, token_checksum=checksum) for pk, checksum in doomed.items()))
        AccessToken.objects.filter(pk__one_of=doomed).delete()
        # Only after the commit: before it, another process would read the rows and cache them again.
        transaction.on_commit(partial(_announce, doomed), robust=True)
    return len(doomed)


def forget_ended_tokens() -> int:
    """Remove codes that ran out, and what is remembered of tokens revoked more than a day ago; how many of those there were.

    Run by the scheduler.
    """
    Grant.objects.filter(expires__lt=clock.now()).delete()
    removed, _by_model = RevokedToken.objects.filter(revoked_at__lt=clock.now() - REVOKED_KEPT).delete()
    return removed


def revoke_application_of_user(*, user: User, application: Application) -> None:
    """End what a user has authorized an application to do: its tokens and the codes it has not used yet."""
    with transaction.atomic():
        Grant.objects.filter(user=user, application=application).delete()
        revoke_tokens(AccessToken.objects.filter(user=user, application=application))


def forget_revoked(events: Sequence[TokenRevoked]) -> None:
    """Have every cache forget these tokens and every stream close. Raises Unavailable to be called again."""
    if not forget_tokens([event.token_checksum for event in events]):
        raise Unavailable
    for event in events:
        streams.publish(channel_of(event.token_id), KILL)


def refresh_identities(*, user_id: int) -> None:
    """Make every process ask the database again who holds the user's tokens: their state has changed.

    Call it in the transaction of the change, or after it; it acts after the commit.
    """

    def forget() -> None:
        forget_tokens(list(AccessToken.objects.filter(user_id=user_id).values_list("token_checksum", flat=True)))

    transaction.on_commit(forget, robust=True)


def close_streams(*, user: User) -> None:
    """Close every connection opened with the user's tokens, after the commit; the tokens stay."""
    token_ids = list(AccessToken.objects.filter(user=user).values_list("pk", flat=True))

    def close() -> None:
        for token_id in token_ids:
            streams.publish(channel_of(token_id), KILL)

    transaction.on_commit(close, robust=True)


def _announce(doomed: Mapping[int, str]) -> None:
    forget_tokens(list(doomed.values()))
    for token_id in doomed:
        streams.publish(channel_of(token_id), KILL)
