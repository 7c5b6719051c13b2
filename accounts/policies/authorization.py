"""Knows what an application may ask a person for, without asking the database (contract, parameters section 1)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from social.api import scopes as tree

RESPONSE_MODES = ("query", "fragment", "form_post")
_CHALLENGE = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_ADMIN = "admin:"


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What an application sent a person to `/oauth/authorize` with; absent parameters are empty."""

    client_id: str
    redirect_uri: str
    response_type: str
    scope: str = ""
    state: str | None = None
    code_challenge: str = ""
    code_challenge_method: str = ""
    response_mode: str = ""
    force_login: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of RFC 6749 section 4.1.2.1 and a sentence for the application's developer."""

    error: str
    description: str


def requested_scopes(request: AuthorizationRequest) -> tuple[str, ...]:
    """The scopes asked for; without any it is `read`."""
    return tree.parse(request.scope) or (tree.DEFAULT,)


def refusal(request: AuthorizationRequest, registered_scopes: Sequence[str]) -> Refusal | None:
    """Why the application gets no code, or None when the person may be asked.

    A scope counts as registered when the application has it or its parent. PKCE (RFC 7636) is optional and always S256.
    """
    if not request.response_type:
        return Refusal("invalid_request", _("The parameter response_type is missing."))
    if request.response_type != "code":
        return Refusal("unsupported_response_type", _("This server only answers with a code."))
    if request.response_mode and request.response_mode not in RESPONSE_MODES:
        return Refusal("invalid_request", _("This response_mode is not supported."))
    wanted = requested_scopes(request)
    if tree.unknown(wanted) or not tree.covers(registered_scopes, wanted):
        return Refusal("invalid_scope", _("The requested scope is invalid, unknown, or malformed."))
    if request.code_challenge:
        if not request.code_challenge_method:
            return Refusal("invalid_request", _("The parameter code_challenge_method is missing."))
        if request.code_challenge_method != "S256":
            return Refusal("invalid_code_challenge_method", _("The code_challenge_method must be S256."))
        if not _CHALLENGE.fullmatch(request.code_challenge):
            return Refusal("invalid_request", _("The parameter code_challenge is malformed."))
    return None


def granted_scopes(wanted: Sequence[str], *, staff: bool) -> tuple[str, ...]:
    """What a person can grant: nobody hands out rights of the staff who is not of the staff (security row 45)."""
    return tuple(scope for scope in dict.fromkeys(wanted) if staff or not scope.startswith(_ADMIN))


def verifier_matches(challenge: str, verifier: str) -> bool:
    """Whether a PKCE verifier belongs to a challenge of method S256 (RFC 7636 section 4.6)."""
    if not _CHALLENGE.fullmatch(verifier):
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())
