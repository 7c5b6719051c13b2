"""Checks and reads an issuer's response (OpenID Connect Core 1.0, sections 3.1.3.7 and 5.3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson
from django.utils.crypto import salted_hmac
from jwcrypto.common import JWException
from jwcrypto.jwk import JWKSet
from jwcrypto.jwt import JWT

from accounts.identity.policies.sign_up import USERNAME_LIMIT

if TYPE_CHECKING:
    from social.settings.issuers import Issuer

#: Accepted algorithms. All are asymmetric, so that only the issuer can create the signatures.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
#: Seconds by which the clocks of this server and an issuer may differ.
CLOCK_SKEW: Final = 60
_TOKEN_LIMIT: Final = 64 * 1024
#: Longest identifier of a person that is stored; the standard allows 255 characters, allauth's table 191.
_SUBJECT_LIMIT: Final = 191
_NAME_LIMIT: Final = 100
_TEXT_LIMIT: Final = 1000
_USERNAME_GAPS: Final = re.compile(r"[^A-Za-z0-9_]+")


class TokenRefused(Exception):
    """Raised when an ID token is refused; contains the reason for the log."""


def nonce_of(state: str) -> str:
    """Return the nonce of the sign-in with this state, which only this server can compute."""
    return salted_hmac("accounts.issuers.nonce", state, algorithm="sha256").hexdigest()


def usable_keys(document: Any) -> JWKSet:
    """Return the public signing keys of an issuer; shared secrets are left out. Raises TokenRefused."""
    try:
        keys = [key for key in document["keys"] if key.get("kty") in ("RSA", "EC", "OKP") and key.get("use") != "enc"]
        return JWKSet.from_json(orjson.dumps({"keys": keys}).decode())
    except (JWException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise TokenRefused(f"the keys cannot be read ({error})") from None


def read_id_token(token: Any, *, keys: JWKSet, issuer: Issuer, nonce: str) -> dict[str, Any]:
    """Return the claims of an ID token that the issuer has signed for this sign-in. Raises TokenRefused."""
    if not isinstance(token, str) or len(token) > _TOKEN_LIMIT:
        raise TokenRefused("there is no ID token, or a very long one")
    expected = {"iss": issuer.issuer, "aud": issuer.client_id, "nonce": nonce, "sub": None, "exp": None, "iat": None}
    try:
        checked = JWT(jwt=token, key=keys, algs=list(ALGORITHMS), check_claims=expected, expected_type="JWS")
        claims = orjson.loads(checked.claims)
    except (JWException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise TokenRefused(str(error)) from None
    audience = claims["aud"]
    party = claims.get("azp", issuer.client_id)
    if party != issuer.client_id or (isinstance(audience, list) and len(audience) > 1 and "azp" not in claims):
        raise TokenRefused("it was made for another application")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _SUBJECT_LIMIT or not subject.isprintable():
        raise TokenRefused("it names nobody")
    return dict(claims)


def with_user_info(claims: Mapping[str, Any], info: Any) -> dict[str, Any]:
    """Return the claims, completed with the user info. Raises TokenRefused if the user info describes another person."""
    if not isinstance(info, dict) or info.get("sub") != claims["sub"]:
        raise TokenRefused("the user info is about somebody else")
    return {**info, **claims}


def text_of(claims: Mapping[str, Any], name: str) -> str:
    """Return the claim `name` without non-printable characters; empty if it is not a text or is longer than _TEXT_LIMIT."""
    value = claims.get(name)
    if not isinstance(value, str) or len(value) > _TEXT_LIMIT:
        return ""
    return "".join(letter for letter in value if letter.isprintable()).strip()


def confirmed_email(claims: Mapping[str, Any], issuer: Issuer) -> str:
    """Return the person's e-mail address if the issuer has verified it and the settings trust the issuer; otherwise ""."""
    verified = issuer.trusts_email and claims.get("email_verified") is True
    return text_of(claims, "email").lower() if verified else ""


def shown_name(claims: Mapping[str, Any], issuer: Issuer) -> str:
    """Return the name by which people recognise one of their identities."""
    names = (text_of(claims, name) for name in (issuer.username_claim, "email", "name", "sub"))
    return next((name for name in names if name), "")[:_NAME_LIMIT]


def role_of(claims: Mapping[str, Any], issuer: Issuer) -> str:
    """Return the name of the role that the settings assign to the person's claims; an empty string for none."""
    values = _values(claims, issuer.role_claim)
    return next((role for value, role in (issuer.roles or {}).items() if value in values), "")


def may_sign_in(claims: Mapping[str, Any], issuer: Issuer) -> bool:
    """Tell whether the person's claims contain one of the values that the settings require, if they require any."""
    values = _values(claims, issuer.required_claim)
    return not issuer.required_claim or any(value in values for value in issuer.required_values)


def _values(claims: Mapping[str, Any], name: str) -> list[Any]:
    values = claims.get(name)
    return values if isinstance(values, list) else [values]


def has_just_signed_in(claims: Mapping[str, Any], *, seconds: float, now: float) -> bool:
    """Tell whether the person signed in at the issuer within the last `seconds`; True if the claims have no `auth_time`."""
    at = claims.get("auth_time")
    return not isinstance(at, int | float) or at > now - seconds - CLOCK_SKEW


def suggested_username(name: str) -> str:
    """Return a username based on a name or an e-mail address; characters that usernames cannot have become underscores."""
    return _USERNAME_GAPS.sub("_", name.partition("@")[0]).strip("_")[:USERNAME_LIMIT]
