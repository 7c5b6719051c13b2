"""Issues codes and tokens and takes them back (contract, behaviours section 5)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.events import TokenRevoked
from accounts.models import AccessToken, Application, Grant, RevokedToken, User
from accounts.policies.authorization import granted_scopes, verifier_matches
from social.api import scopes as tree
from social.api.gate import forget_tokens
from social.kernel import clock, streams
from social.kernel.errors import BadRequest, Unavailable
from social.kernel.events import publish
from social.kernel.locks import lock

CODE_LIFETIME = timedelta(minutes=10)
# Tokens end when they are revoked; the column cannot be empty.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
KILL = b'{"event":"kill"}'
REVOKED_KEPT = timedelta(days=1)
_REMEMBER_REVOKED = """
INSERT INTO accounts_revokedtoken (token_checksum, revoked_at)
SELECT unnest(%(checksums)s::text[]), %(now)s ON CONFLICT DO NOTHING
"""


def channel_of(token_id: int) -> str:
    """The stream channel of one token. `{"event":"kill"}` on it means: close every connection opened with the token."""
    return f"token:{token_id}"


def _invalid_grant() -> BadRequest:
    description = _(
        "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI "
        "used in the authorization request, or was issued to another client."
    )
    return BadRequest("invalid_grant", error_description=description)


def missing_parameter(name: str) -> BadRequest:
    """The `invalid_request` for a parameter that was not sent (RFC 6749 section 5.2)."""
    description = _("Missing required parameter: %(name)s.") % {"name": name}
    return BadRequest("invalid_request", error_description=description)


def issue_code(
    *, application: Application, user: User, redirect_uri: str, scopes: Sequence[str], code_challenge: str = ""
) -> str:
    """A new authorization code: 10 minutes, one use, for this redirect URI and (with a challenge) this verifier.

    `scopes` are stored as they will be granted: without those of the staff for everybody else.
    """
    Grant.objects.filter(application=application, user=user, expires__lte=clock.now()).delete()
    code = secrets.token_hex(16)
    Grant.objects.create(
        application=application,
        user=user,
        code=code,
        expires=clock.now() + CODE_LIFETIME,
        redirect_uri=redirect_uri,
        scope=" ".join(granted_scopes(scopes, staff=user.is_staff)),
        code_challenge=code_challenge,
        code_challenge_method=Grant.CODE_CHALLENGE_S256 if code_challenge else "",
    )
    return code


def exchange_code(*, application: Application, code: str, redirect_uri: str, verifier: str = "") -> AccessToken:
    """The token for a code; the code is used up.

    Two exchanges at the same moment: the row lock lets one through. A failed attempt does not use the code up. Using a
    code again ends the token it was exchanged for: one of the two was not the application (RFC 6749 section 4.1.2).
    Raises BadRequest (`invalid_grant`, `invalid_request`).
    """
    with transaction.atomic():
        grant = (
            Grant.objects.select_for_update(of=("self",))
            .select_related("user__role")
            .filter(code=code.replace("\0", ""), application=application)
            .first()
        )
        if grant is not None and grant.access_token_id is not None:
            revoke_tokens(AccessToken.objects.filter(pk=grant.access_token_id))
        else:
            return _exchange(grant, application, redirect_uri, verifier)
    # Outside: an error inside the transaction would undo the revocation.
    raise _invalid_grant()


def _exchange(grant: Grant | None, application: Application, redirect_uri: str, verifier: str) -> AccessToken:
    if grant is None or grant.is_expired() or grant.redirect_uri != redirect_uri or not grant.user.is_active:
        raise _invalid_grant()
    if grant.code_challenge:
        if not verifier:
            raise missing_parameter("code_verifier")
        if not verifier_matches(grant.code_challenge, verifier):
            raise _invalid_grant()
    elif verifier or application.client_type == Application.CLIENT_PUBLIC:
        # A verifier whose challenge somebody took out of the request (RFC 9700 section 4.8.2); or neither secret nor
        # PKCE, so that nothing ties the code to who asked for it (section 2.1.1).
        raise _invalid_grant()
    token = issue_token(application=application, user=grant.user, scopes=grant.scope.split())
    grant.access_token = token
    grant.save(update_fields=["access_token"])
    return token


def issue_token(*, application: Application, user: User | None, scopes: Sequence[str]) -> AccessToken:
    """A token for a user, or with `user=None` for the application itself.

    The same application, user and set of scopes get the same token again, also when two ask at the same moment.
    Scopes of the staff are dropped for users who are not of the staff (security row 45).
    """
    wanted = tuple(dict.fromkeys(scopes)) if user is None else granted_scopes(scopes, staff=user.is_staff)
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


def issue_application_token(*, application: Application, scope: str = "") -> AccessToken:
    """The application's own token (client credentials), by default for `read`.

    Raises BadRequest (`invalid_scope`) for what the application has not registered word for word, and
    `unauthorized_client` for an application that has no secret to show.
    """
    if application.client_type == Application.CLIENT_PUBLIC:
        description = _("The client is not authorized to perform this request using this method.")
        raise BadRequest("unauthorized_client", error_description=description)
    wanted = tree.parse(scope) or (tree.DEFAULT,)
    if not set(wanted) <= set(application.scope_list):
        description = _("The requested scope is invalid, unknown, or malformed.")
        raise BadRequest("invalid_scope", error_description=description)
    return issue_token(application=application, user=None, scopes=wanted)


def revoke_tokens(tokens: QuerySet[AccessToken]) -> int:
    """Delete these tokens; returns how many. They are refused at once and their streams close.

    Announces TokenRevoked for each. What hangs on a token (its push subscription) goes with its row.
    """
    with transaction.atomic():
        doomed = dict(tokens.select_for_update(of=("self",)).order_by("pk").values_list("pk", "token_checksum"))
        with connection.cursor() as cursor:
            cursor.execute(_REMEMBER_REVOKED, {"checksums": list(doomed.values()), "now": clock.now()})
        publish(*(TokenRevoked(token_id=pk, token_checksum=checksum) for pk, checksum in doomed.items()))
        AccessToken.objects.filter(pk__one_of=doomed).delete()
        # Only after the commit: before it, another process would read the rows and cache them again.
        transaction.on_commit(partial(_announce, doomed), robust=True)
    return len(doomed)


def forget_revoked_tokens() -> int:
    """Remove what is remembered of tokens revoked more than a day ago; how many there were. Run by the scheduler."""
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
