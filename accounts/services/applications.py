"""Registers client applications and removes them."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import AccessToken, Application
from accounts.policies.redirects import TOTAL_LIMIT, redirect_uri_errors, split_redirect_uris
from accounts.queries.applications import find_by_client_id
from accounts.services.tokens import revoke_tokens
from social.api import scopes as tree
from social.api.gate import checksum_of
from social.kernel.errors import FieldError, Forbidden, Invalid, Unauthorized

NAME_LIMIT = 60
WEBSITE_LIMIT = 2000
COMMAND_LINE = "command-line"
_WEBSITE = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)


def _too_long(limit: int) -> str:
    return _("is too long (maximum is %(limit)d characters)") % {"limit": limit}


def _errors(
    name: str, redirect_uris: tuple[str, ...], scopes: tuple[str, ...], website: str | None
) -> list[FieldError]:
    errors = []
    if not name:
        errors.append(FieldError("name", "ERR_BLANK", _("can't be blank"), _("Application name")))
    if len(name) > NAME_LIMIT:
        errors.append(FieldError("name", "ERR_TOO_LONG", _too_long(NAME_LIMIT), _("Application name")))
    if not redirect_uris:
        errors.append(FieldError("redirect_uri", "ERR_BLANK", _("can't be blank"), _("Redirect URI")))
    errors += [
        FieldError("redirect_uri", "ERR_INVALID", message, _("Redirect URI"))
        for message in dict.fromkeys(message for uri in redirect_uris for message in redirect_uri_errors(uri))
    ]
    if len("\n".join(redirect_uris)) > TOTAL_LIMIT:
        errors.append(FieldError("redirect_uri", "ERR_TOO_LONG", _too_long(TOTAL_LIMIT), _("Redirect URI")))
    if tree.unknown(scopes):
        errors.append(
            FieldError("scopes", "ERR_INVALID", _("doesn't match those configured on the server."), _("Scopes"))
        )
    if website is not None and len(website) > WEBSITE_LIMIT:
        errors.append(FieldError("website", "ERR_TOO_LONG", _too_long(WEBSITE_LIMIT), _("Application website")))
    elif website is not None and not _WEBSITE.fullmatch(website):
        errors.append(FieldError("website", "ERR_INVALID", _("is not a valid URL"), _("Application website")))
    return errors


def register_application(
    *, name: str, redirect_uris: str | Iterable[str], scopes: str | None = None, website: str | None = None
) -> Application:
    """Make an application with a new id and secret; registering twice makes two.

    `redirect_uris` has one address per line, or is a list; without `scopes` it is `read`. Raises Invalid
    (contract, parameters section 1 "POST /api/v1/apps").
    """
    name, website = name.strip(), (website or "").strip() or None
    addresses, wanted = split_redirect_uris(redirect_uris), (tree.DEFAULT,) if scopes is None else tree.parse(scopes)
    if errors := _errors(name, addresses, wanted, website):
        raise Invalid.of(errors)
    made: Application = Application.objects.create(
        name=name,
        website=website,
        scopes=" ".join(wanted),
        redirect_uris=" ".join(addresses),
        registered_redirect_uris=list(addresses),
        client_id=secrets.token_urlsafe(32),
        client_secret=secrets.token_urlsafe(32),
        hash_client_secret=False,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    )
    return made


def authenticate_application(*, client_id: str, client_secret: str, secret_optional: bool = False) -> Application:
    """The application that knows this secret, compared in constant time.

    With `secret_optional` an application registered as public needs none (RFC 6749 section 2.1).
    Raises Unauthorized (`invalid_client`).
    """
    application = find_by_client_id(client_id)
    if application is not None:
        public = application.client_type == Application.CLIENT_PUBLIC
        if public and secret_optional and not client_secret:
            return application
        if application.client_secret and hmac.compare_digest(
            application.client_secret.encode(), client_secret.encode("utf-8", "surrogatepass")
        ):
            return application
    description = _(
        "Client authentication failed due to unknown client, no client authentication included, "
        "or unsupported authentication method."
    )
    raise Unauthorized("invalid_client", error_description=description)


def revoke_token(*, token: str, client_id: str, client_secret: str) -> None:
    """Revoke one token of the application that asks; one that is unknown or revoked already is no error, whoever asks.

    Raises Forbidden (`unauthorized_client`) for a living token when the application is another one, or does not show
    its secret (contract, parameters section 1 "POST /oauth/revoke").
    """
    found = AccessToken.objects.filter(token_checksum=checksum_of(token)).first()
    if found is None:
        return
    application: Application | None = None
    with suppress(Unauthorized):
        application = authenticate_application(client_id=client_id, client_secret=client_secret, secret_optional=True)
    if application is None or found.application_id != application.pk:
        description = _("You are not authorized to revoke this token")
        raise Forbidden("unauthorized_client", error_description=description)
    revoke_tokens(AccessToken.objects.filter(pk=found.pk))


def delete_application(*, application: Application) -> None:
    """Remove an application with its codes and tokens; their streams close (security row 23)."""
    with transaction.atomic():
        revoke_tokens(AccessToken.objects.filter(application=application))
        application.delete()


def command_line_application() -> Application:
    """The application in whose name operators' commands issue tokens; made when first needed."""
    application = find_by_client_id(COMMAND_LINE)
    if application is None:
        application, _made = Application.objects.get_or_create(
            client_id=COMMAND_LINE,
            defaults={
                "name": "Command line",
                "scopes": " ".join(tree.SCOPES),
                "redirect_uris": "urn:ietf:wg:oauth:2.0:oob",
                "registered_redirect_uris": ["urn:ietf:wg:oauth:2.0:oob"],
                "client_secret": secrets.token_urlsafe(32),
                "hash_client_secret": False,
                "client_type": Application.CLIENT_CONFIDENTIAL,
                "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
            },
        )
    return application
