"""Rules of OAuth: scopes that people can grant, texts of errors, and redirect URIs (parameters section 1; RFC 6749)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode, urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext
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
    "invalid_request": _("The request is missing a parameter, or one of its parameters cannot be used."),
    "invalid_scope": _("The requested scope is invalid, unknown, or malformed."),
    "unauthorized_client": _("The client is not authorized to perform this request using this method."),
    "unsupported_grant_type": _("The authorization grant type is not supported by the authorization server."),
    "unsupported_response_type": _("This server only answers with a code."),
}


def sentence_of(error: str) -> str:
    """Return the text of an error of RFC 6749 (sections 4.1.2.1 and 5.2) for the application's developer."""
    return str(_SENTENCES.get(error, ""))


def granted_scopes(wanted: Sequence[str], *, staff: bool) -> tuple[str, ...]:
    """Return the scopes that a person can grant; only staff can grant staff scopes (security row 45)."""
    return tuple(scope for scope in dict.fromkeys(wanted) if staff or not scope.startswith(_ADMIN))


# Redirect URI of applications for which a page of this server shows the code (contract, behaviours section 5 "Out of band").
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
TOTAL_LIMIT = 2000

# Schemes that run as a script, and schemes that open local resources of the browser (security row 63).
_FORBIDDEN_SCHEMES = frozenset(
    ["about", "blob", "chrome", "data", "file", "filesystem", "javascript", "vbscript", "view-source"]
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII | re.IGNORECASE)
_CSP_HOST = re.compile(r"[a-z0-9._-]+(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


def split_redirect_uris(raw: str | Iterable[str]) -> tuple[str, ...]:
    """Return the redirect URIs of a registration: the items of a list, or the parts of a text between white space."""
    return tuple(raw.split() if isinstance(raw, str) else (part for item in raw for part in str(item).split()))


def redirect_uri_errors(uri: str) -> list[str]:
    """List the errors of a redirect URI, in words that follow "Redirect URI" (contract, parameters section 1).

    A redirect URI must be an absolute URI without a fragment, in any scheme that cannot run as a script; schemes of apps need
    no host. Browsers read a backslash as a slash and would open a different host from the one shown (security row 62).
    """
    if uri == OUT_OF_BAND:
        return []
    scheme, colon, rest = uri.partition(":")
    if colon and scheme.lower() in _FORBIDDEN_SCHEMES:
        return [gettext("is forbidden by the server."), gettext("must specify a scheme.")]
    unreadable = "\\" in uri or any(ord(letter) <= 0x20 or ord(letter) == 0x7F for letter in uri)
    if unreadable or not colon or not rest or not _SCHEME.fullmatch(scheme) or not _has_host(uri, scheme):
        return [gettext("must be an absolute URI.")]
    return [gettext("cannot contain a fragment.")] if "#" in uri else []


def _has_host(uri: str, scheme: str) -> bool:
    if scheme.lower() not in ("http", "https"):
        return True
    try:
        parts = urlsplit(uri)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def with_answer(uri: str, answer: Mapping[str, str | None], *, fragment: bool = False) -> str:
    """Return the redirect URI with the response parameters in its query or fragment. The rest of the URI stays unchanged,
    because clients compare it.
    """
    encoded = urlencode({name: value for name, value in answer.items() if value is not None})
    if fragment:
        return f"{uri}#{encoded}"
    if "?" not in uri:
        return f"{uri}?{encoded}"
    return f"{uri}{encoded}" if uri.endswith(("?", "&")) else f"{uri}&{encoded}"


def form_action_source(uri: str) -> str | None:
    """Return the Content-Security-Policy source for a form that redirects to this URI; None if the URI stays on this server.

    Browsers check `form-action` also on redirects after a form (security row 46). If the host cannot be a source (an IPv6
    address), only the scheme of the URI is returned. Nothing in the URI can add another directive.
    """
    if uri == OUT_OF_BAND:
        return None
    scheme = uri.partition(":")[0].lower()
    if not _SCHEME.fullmatch(scheme):
        return None
    if scheme not in ("http", "https"):
        return f"{scheme}:"
    host = urlsplit(uri).netloc.rpartition("@")[2].lower()
    return f"{scheme}://{host}" if _CSP_HOST.fullmatch(host) else f"{scheme}:"
