"""Registers client applications, issues and revokes tokens (contract, behaviours section 5), and finds their holders."""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.events import TokenRevoked
from accounts.identity.policies.authorization import TOTAL_LIMIT, redirect_uri_errors, split_redirect_uris
from accounts.identity.queries.tokens import find_by_client_id, find_holder
from accounts.models import AccessToken, Application, Grant, RevokedToken, User
from social.api import scopes as tree
from social.api.admission import forget_tokens
from social.api.identities import Identity
from social.kernel import clock, streams
from social.kernel.errors import FieldError, Unavailable, require_valid
from social.kernel.events import publish
from social.kernel.locks import lock

# This time stands for "never", because tokens do not expire, but the column cannot be NULL.
NO_EXPIRY = datetime(9999, 1, 1, tzinfo=UTC)
END_OF_STREAM = b'{"event":"kill"}'
REVOKED_RETENTION = timedelta(days=1)
TOKENS_LIMIT = 10
"""Maximum number of tokens with different scopes for one application and user, or for the application itself; a further
token revokes the oldest, so that limits per token stay effective (security row 69).
"""
_BATCH_SIZE = 500
_REMEMBER_REVOKED = """
INSERT INTO accounts_revokedtoken (token_checksum, revoked_at)
SELECT unnest(%(checksums)s::text[]), %(now)s ON CONFLICT DO NOTHING
"""


def channel_of(token_id: int) -> str:
    """Return the stream channel of one token. The message `{"event":"kill"}` closes every connection opened with the token."""
    return f"token:{token_id}"


def issue_token(*, application: Application, user: User | None, scopes: Sequence[str]) -> AccessToken:
    """Return a token for a user, or with `user=None` for the application itself.

    A repeated call with the same application, user and scopes returns the same token. Any user's token may have staff scopes,
    because the role is checked at every call; on the consent page only staff can grant them (security row 45).
    """
    scope_names = tuple(dict.fromkeys(scopes))
    with transaction.atomic():
        lock(f"token:{application.pk}:{user.pk if user is not None else 'application'}")
        token: AccessToken
        for token in AccessToken.objects.filter(application=application, user=user).order_by("id"):
            if set(token.scope.split()) == set(scope_names) and not token.is_expired():
                return token
        token = AccessToken.objects.create(
            application=application,
            user=user,
            token=secrets.token_urlsafe(32),
            scope=" ".join(scope_names),
            expires=NO_EXPIRY,
        )
        latest = AccessToken.objects.filter(application=application, user=user).order_by("-id")[:TOKENS_LIMIT]
        revoke_tokens(
            AccessToken.objects.filter(application=application, user=user).exclude(
                id__one_of=[each.pk for each in latest]
            )
        )
        return token


def revoke_tokens(tokens: QuerySet[AccessToken]) -> int:
    """Delete these tokens and return how many there were. The tokens are refused immediately, and their streams close.

    Works in batches, each in a transaction of its own unless the caller has opened one. Publishes TokenRevoked for each token.
    A push subscription is deleted with its token.
    """
    revoked = 0
    while step := _revoke_some(tokens):
        revoked += step
    return revoked


def _revoke_some(tokens: QuerySet[AccessToken]) -> int:
    with transaction.atomic():
        locked = tokens.select_for_update(of=("self",)).order_by("pk")[:_BATCH_SIZE]
        doomed = dict(locked.values_list("pk", "token_checksum"))
        if not doomed:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_REMEMBER_REVOKED, {"checksums": list(doomed.values()), "now": clock.now()})
        publish(*(TokenRevoked(token_id=pk, token_checksum=checksum) for pk, checksum in doomed.items()))
        AccessToken.objects.filter(pk__one_of=doomed).delete()
        # This is done after the commit, because before it another process could read the rows and cache them again.
        transaction.on_commit(lambda: _announce(doomed), robust=True)
    return len(doomed)


def forget_ended_tokens() -> int:
    """Delete expired codes and old records of revoked tokens; return how many records. Run by the scheduler."""
    Grant.objects.filter(expires__lt=clock.now()).delete()
    removed, _by_model = RevokedToken.objects.filter(revoked_at__lt=clock.now() - REVOKED_RETENTION).delete()
    return removed


def revoke_application_of_user(*, user: User, application: Application) -> None:
    """Revoke a user's authorization of an application: its tokens and unused authorization codes."""
    with transaction.atomic():
        Grant.objects.filter(user=user, application=application).delete()
        revoke_tokens(AccessToken.objects.filter(user=user, application=application))


def forget_revoked(events: Sequence[TokenRevoked]) -> None:
    """Handle TokenRevoked: remove the tokens from caches and close their streams. Raises Unavailable, so that it is retried."""
    if not forget_tokens([event.token_checksum for event in events]):
        raise Unavailable
    end_streams(event.token_id for event in events)


def refresh_identities(*, user_id: int) -> None:
    """Remove the user's tokens from every cache after the commit, because the user's state has changed."""

    def forget() -> None:
        forget_tokens(list(AccessToken.objects.filter(user_id=user_id).values_list("token_checksum", flat=True)))

    transaction.on_commit(forget, robust=True)


def close_streams(*, user: User) -> None:
    """Close every connection opened with the user's tokens, after the commit; the tokens stay."""
    token_ids = list(AccessToken.objects.filter(user=user).values_list("pk", flat=True))
    transaction.on_commit(lambda: end_streams(token_ids), robust=True)


def _announce(doomed: Mapping[int, str]) -> None:
    forget_tokens(list(doomed.values()))
    end_streams(doomed)


def end_streams(token_ids: Iterable[int]) -> None:
    """Immediately close every connection opened with these tokens."""
    for token_id in token_ids:
        streams.publish(channel_of(token_id), END_OF_STREAM)


NAME_LIMIT = 60
WEBSITE_LIMIT = 2000
COMMAND_LINE = "command-line"
_WEBSITE = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)


def _errors(
    name: str, redirect_uris: tuple[str, ...], scopes: tuple[str, ...], website: str | None
) -> list[FieldError]:
    errors = []
    if not name:
        errors.append(FieldError.blank("name", _("Application name")))
    if len(name) > NAME_LIMIT:
        errors.append(FieldError.too_long("name", NAME_LIMIT, _("Application name")))
    if not redirect_uris:
        errors.append(FieldError.blank("redirect_uri", _("Redirect URI")))
    errors += [
        FieldError("redirect_uri", "ERR_INVALID", message, _("Redirect URI"))
        for message in dict.fromkeys(message for uri in redirect_uris for message in redirect_uri_errors(uri))
    ]
    if len("\n".join(redirect_uris)) > TOTAL_LIMIT:
        errors.append(FieldError.too_long("redirect_uri", TOTAL_LIMIT, _("Redirect URI")))
    if tree.unknown(scopes):
        errors.append(
            FieldError("scopes", "ERR_INVALID", _("doesn't match those configured on the server."), _("Scopes"))
        )
    if website is not None and len(website) > WEBSITE_LIMIT:
        errors.append(FieldError.too_long("website", WEBSITE_LIMIT, _("Application website")))
    elif website is not None and not _WEBSITE.fullmatch(website):
        errors.append(FieldError("website", "ERR_INVALID", _("is not a valid URL"), _("Application website")))
    return errors


def register_application(
    *, name: str, redirect_uris: str | Iterable[str], scopes: str | None = None, website: str | None = None
) -> Application:
    """Register an application with a new id and secret.

    `redirect_uris` is a list or has one URI per line; `scopes` default to `read`. Raises Invalid (parameters section 1).
    """
    name, website = name.strip(), (website or "").strip() or None
    addresses = split_redirect_uris(redirect_uris)
    scope_names = (tree.DEFAULT,) if scopes is None else tree.parse(scopes)
    require_valid(_errors(name, addresses, scope_names, website))
    application: Application = Application.objects.create(
        name=name,
        website=website,
        scopes=" ".join(scope_names),
        redirect_uris=" ".join(addresses),
        client_id=secrets.token_urlsafe(32),
        client_secret=secrets.token_urlsafe(32),
        hash_client_secret=False,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    )
    return application


def command_line_application() -> Application:
    """Return the application for which operators' commands issue tokens; the first call creates it."""
    application = find_by_client_id(COMMAND_LINE)
    if application is None:
        application, _made = Application.objects.get_or_create(
            client_id=COMMAND_LINE,
            defaults={
                "name": "Command line",
                "scopes": " ".join(tree.SCOPES),
                "redirect_uris": "urn:ietf:wg:oauth:2.0:oob",
                "client_secret": secrets.token_urlsafe(32),
                "hash_client_secret": False,
                "client_type": Application.CLIENT_CONFIDENTIAL,
                "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
            },
        )
    return application


USE_NOTE_INTERVAL: Final = timedelta(days=1)


class TokenIdentities:
    """Implementation of the API layer's `TokenSource` with the tables of this app."""

    def find_identity(self, token: str) -> Identity | None:
        """Return the identity of a token, in one query; once a day, a write records its use."""
        holder = find_holder(token)
        if holder is None:
            return None
        now = clock.now()
        if holder.last_used_at is None or holder.last_used_at <= now - USE_NOTE_INTERVAL:
            AccessToken.objects.filter(pk=holder.identity.token_id).update(last_used_at=now)
        return holder.identity
