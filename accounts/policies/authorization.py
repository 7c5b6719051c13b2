"""What people can grant to applications, and how errors of OAuth read (contract, parameters section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

RESPONSE_MODES: Final = ("query", "fragment", "form_post")
_ADMIN: Final = "admin:"
_SENTENCES: Final[dict[str, str | Promise]] = {
    "access_denied": _("The resource owner or authorization server denied the request."),
    "invalid_client": _(
        "Client authentication failed due to unknown client, no client authentication included, "
        "or unsupported authentication method."
    ),
    "invalid_grant": _(
        "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI "
        "used in the authorization request, or was issued to another client."
    ),
    "invalid_request": _("The request is missing a parameter, or one of them cannot be used."),
    "invalid_scope": _("The requested scope is invalid, unknown, or malformed."),
    "unauthorized_client": _("The client is not authorized to perform this request using this method."),
    "unsupported_grant_type": _("The authorization grant type is not supported by the authorization server."),
    "unsupported_response_type": _("This server only answers with a code."),
}


def sentence_of(error: str) -> str:
    """What an error of RFC 6749 (sections 4.1.2.1 and 5.2) says to the application's developer."""
    return str(_SENTENCES.get(error, ""))


def granted_scopes(wanted: Sequence[str], *, staff: bool) -> tuple[str, ...]:
    """What a person can grant: nobody hands out rights of the staff who is not of the staff (security row 45)."""
    return tuple(scope for scope in dict.fromkeys(wanted) if staff or not scope.startswith(_ADMIN))
