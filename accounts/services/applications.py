"""Registers client applications and removes them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import AccessToken, Application
from accounts.policies.redirects import TOTAL_LIMIT, redirect_uri_errors, split_redirect_uris
from accounts.queries.applications import find_by_client_id
from accounts.services.tokens import revoke_tokens
from social.api import scopes as tree
from social.kernel.errors import FieldError, Invalid

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
        client_id=secrets.token_urlsafe(32),
        client_secret=secrets.token_urlsafe(32),
        hash_client_secret=False,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    )
    return made


def delete_application(*, application: Application) -> None:
    """Remove an application with its codes and tokens; their streams close (security row 23).

    In steps: when it fails, some tokens may be gone, and calling again goes on.
    """
    tokens = AccessToken.objects.filter(application=application)
    revoke_tokens(tokens)
    with transaction.atomic():
        # From here on nobody is issued a token of it; those that came meanwhile are few.
        if Application.objects.select_for_update().filter(pk=application.pk).first() is None:
            return
        revoke_tokens(tokens)
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
                "client_secret": secrets.token_urlsafe(32),
                "hash_client_secret": False,
                "client_type": Application.CLIENT_CONFIDENTIAL,
                "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
            },
        )
    return application
