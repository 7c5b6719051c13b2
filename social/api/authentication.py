"""Authentication: reads the token of a request and finds its caller.

Source: contract, behaviours section 5 ("Token transport").
"""

import re
from typing import Any, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from social.api import languages, limits
from social.api.addresses import client_ip, rate_key
from social.api.admission import admit
from social.api.requests import ApiRequest, Caller
from social.kernel.errors import KernelError

_TOKEN_PARAMETERS = ("access_token", "bearer_token")
_PAGING = re.compile(rf"(?:^|&)(?:{'|'.join(limits.PAGING_PARAMETERS)})=[^&]")


ANONYMOUS = Caller()


class TokenAuthentication(BaseAuthentication):
    """Finds the caller, and sets `request.auth` (an Identity or None), `request.user` (a Caller) and `request.admission`.

    `counts`: whether requests count towards the rate limits of the whole API.
    """

    counts = True

    def authenticate(self, request: Request) -> tuple[Any, Any]:
        """Return the caller and their identity. Raises RateLimited (429). An invalid token raises no error here, because the
        action's access decides whether a token is needed.
        """
        # These attributes are read directly from Django's request, because DRF's request would take several times as long to
        # pass them on.
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
            # A request with an unreadable body is counted as well (security row 84).
            token, unreadable = None, error
        admission = admit(token, rate_key(client_ip(http)), rules, acts=acts)
        http.admission = admission  # type: ignore[attr-defined]  # read by `admission_of`
        limits.refuse_exceeded(admission.counts)
        if unreadable is not None:
            raise unreadable
        identity = admission.identity
        if identity is None:
            return ANONYMOUS, None
        if identity.locale and not languages.is_in_query(http):
            languages.activate(identity.locale)
        return Caller(identity.user_id, identity.account_id), identity

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class UncountedAuthentication(TokenAuthentication):
    """Authentication for images, which do not count as API requests, because one page shows many images."""

    counts = False


def token_of(request: Request) -> str | None:
    """Return the token of a request: from the Authorization header, or otherwise from `access_token` or `bearer_token` in query
    or body.

    A large body is not searched for a token, because uploads send the token in the header or the query.
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
