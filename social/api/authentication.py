"""Tokens in requests, and the caller once the token was looked up.

Source: contract, behaviours section 5 ("Token transport"). The port `TokenSource` and what belongs to the cache behind
it are re-exported here: `plug_in`, `forget_token`, `forget_tokens`, `checksum_of`.
"""

from __future__ import annotations

import re
from typing import Any, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from social.api import languages, limits
from social.api.addresses import client_ip, rate_key
from social.api.admission import Admission, admit, checksum_of, forget_token, forget_tokens
from social.api.identities import Identity, TokenSource, plug_in
from social.api.requests import ApiRequest, Caller
from social.kernel.errors import KernelError

__all__ = [
    "Admission",
    "Caller",
    "Identity",
    "TokenAuthentication",
    "TokenSource",
    "UncountedAuthentication",
    "checksum_of",
    "forget_token",
    "forget_tokens",
    "plug_in",
    "token_of",
]

_TOKEN_PARAMETERS = ("access_token", "bearer_token")
_PAGING = re.compile(rf"(?:^|&)(?:{'|'.join(limits.PAGING_PARAMETERS)})=[^&]")


ANONYMOUS = Caller()


class TokenAuthentication(BaseAuthentication):
    """Finds the caller: `request.auth` is an Identity or None, `request.user` a Caller, `request.admission` the counts.

    `counts`: whether the limits of the whole API hold.
    """

    counts = True

    def authenticate(self, request: Request) -> tuple[Any, Any]:
        """The caller. Raises RateLimited (429); whether a bad token matters is the action's access to say."""
        # DRF's request passes on what it has not got, which takes several times as long.
        http = request._request
        view = request.parser_context.get("view")
        rules = limits.GENERAL_RULES if self.counts else ()
        query = http.META.get("QUERY_STRING")
        if query and self.counts and _PAGING.search(query):
            rules += limits.PAGING
        declared = view.endpoints.get(view.action)  # type: ignore[union-attr]  # only viewsets ask
        if declared is not None:
            rules += declared.throttles
        acts, unreadable = http.method not in ("GET", "HEAD"), None
        try:
            token = token_of(request)
        except (APIException, KernelError) as error:
            # The body cannot be read. The request counts all the same (security row 84).
            token, unreadable = None, error
        admission = admit(token, rate_key(client_ip(http)), rules, acts=acts)
        http.admission = admission  # type: ignore[attr-defined]  # read by `admission_of`
        limits.refuse_exceeded(admission.counts)
        if unreadable is not None:
            raise unreadable
        identity = admission.identity
        if identity is None:
            return ANONYMOUS, None
        if identity.locale and not languages.was_asked_for(http):
            languages.activate(identity.locale)
        return Caller(identity.user_id, identity.account_id), identity

    def authenticate_header(self, request: Request) -> str:
        """The scheme of a 401."""
        return "Bearer"


class UncountedAuthentication(TokenAuthentication):
    """Authentication for pictures: a page is full of them, so they do not count as requests of the API."""

    counts = False


def token_of(request: Request) -> str | None:
    """The token a request carries: Authorization header, then `access_token` or `bearer_token` of query or body.

    A large body is not read for it: uploads carry it in the header or the query.
    """
    http = request._request
    meta = http.META
    scheme, _, credentials = meta.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return cast(str, credentials).strip()
    query = meta.get("QUERY_STRING", "")
    if "_token" not in query:
        if http.method in ("GET", "HEAD") and not meta.get("CONTENT_LENGTH"):
            return None
        if not cast(ApiRequest, request).may_carry_token():
            return None
    values = cast(ApiRequest, request).parameters
    for name in _TOKEN_PARAMETERS:
        value = values.get(name)
        if isinstance(value, str) and value:
            return value
    return None
