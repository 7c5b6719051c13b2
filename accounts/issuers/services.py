"""Sends requests to issuers, links identities to accounts, and gives users the roles that issuers state."""

from __future__ import annotations

import logging
import time
from base64 import b64encode
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

import orjson
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.identity.queries.sign_in import load_identities
from accounts.identity.services.mails import IDENTITY_LINKED, IDENTITY_UNLINKED, report_security_change
from accounts.identity.services.staff import find_role, set_role
from accounts.issuers.policies import TokenRefused, read_id_token, usable_keys, with_user_info
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.staff import Staff
from social.kernel import fragments
from social.kernel.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable, require_found
from social.kernel.http import client as http

if TYPE_CHECKING:
    from social.settings.issuers import Issuer

logger = logging.getLogger(__name__)
_ANSWER_BYTES: Final = 512 * 1024
_DEADLINE_SECONDS: Final = 5.0
_CACHE_SECONDS: Final = 3600
#: Keys older than this number of seconds are fetched again when they do not verify a token, because issuers replace keys.
_KEYS_AGE: Final = 60
_BASIC: Final = "client_secret_basic"


def find_issuer(issuer_id: str) -> Issuer:
    """Return an issuer by its id. Raises NotFound."""
    return require_found(next((issuer for issuer in settings.ISSUERS if issuer.id == issuer_id), None))


def find_configuration(issuer: Issuer) -> Mapping[str, Any]:
    """Return an issuer's configuration, at most an hour old. Raises Unavailable, also if the document names another issuer."""
    key = _key("configuration", issuer)
    document: Mapping[str, Any] | None = fragments.load([key]).get(key)
    if document is None:
        document = _request_json(issuer, issuer.discovery_url)
        endpoints = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if document.get("issuer") != issuer.issuer or not all(_is_address(document.get(name)) for name in endpoints):
            raise _failure(
                issuer, f"its configuration lacks an endpoint, or is that of {document.get('issuer')!r:.300}"
            )
        fragments.save({key: document}, seconds=_CACHE_SECONDS)
    return document


def exchange_code(issuer: Issuer, *, code: str, verifier: str, redirect_uri: str) -> dict[str, Any]:
    """Exchange the code of a sign-in for tokens (RFC 6749 section 4.1.3, with RFC 7636). Raises Unavailable, Forbidden."""
    configuration = find_configuration(issuer)
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
        "client_id": issuer.client_id,
    }
    # RFC 6749 section 2.3.1: every issuer accepts HTTP Basic, unless its configuration lists only other methods.
    basic = _BASIC in (configuration.get("token_endpoint_auth_methods_supported") or [_BASIC])
    authorization = ""
    if issuer.client_secret and basic:
        pair = f"{quote(issuer.client_id, safe='')}:{quote(issuer.client_secret, safe='')}"
        authorization = f"Basic {b64encode(pair.encode()).decode()}"
    elif issuer.client_secret:
        sent["client_secret"] = issuer.client_secret
    return _request_json(issuer, configuration["token_endpoint"], form=sent, authorization=authorization)


def read_claims(issuer: Issuer, tokens: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    """Return the issuer's claims about the person who signs in. Raises Unavailable; Forbidden for a refused token."""
    token = tokens.get("id_token")
    try:
        try:
            claims = read_id_token(token, keys=usable_keys(_keys(issuer)), issuer=issuer, nonce=nonce)
        except TokenRefused:
            if time.time() - _keys(issuer)["read_at"] <= _KEYS_AGE:
                raise
            claims = read_id_token(token, keys=usable_keys(_keys(issuer, anew=True)), issuer=issuer, nonce=nonce)
        address, access = find_configuration(issuer).get("userinfo_endpoint"), tokens.get("access_token")
        if _is_address(address) and isinstance(access, str):
            claims = with_user_info(claims, _request_json(issuer, str(address), authorization=f"Bearer {access}"))
    except TokenRefused as refusal:
        logger.warning("a sign-in by the issuer %s was refused: %s", issuer.id, refusal)
        raise Forbidden(_("The sign-in by %(name)s was refused.") % {"name": issuer.name}) from None
    return claims


def sign_out_url(issuer_id: str, token: str, back: str) -> str:
    """Return the URL that ends the issuer's session and redirects to `back` (OpenID RP-Initiated Logout), or an empty text."""
    try:
        issuer = find_issuer(issuer_id)
        address = find_configuration(issuer).get("end_session_endpoint")
    except (NotFound, Unavailable):
        return ""
    if not _is_address(address):
        return ""
    query = {"client_id": issuer.client_id, "post_logout_redirect_uri": back} | (
        {"id_token_hint": token} if token else {}
    )
    return f"{address}{'&' if '?' in str(address) else '?'}{urlencode(query)}"


def link_identity(*, user: User, issuer: Issuer, subject: str, name: str, address: str) -> None:
    """Let a user sign in with this identity, and send the user a mail. Raises Conflict for an identity of another account."""
    with transaction.atomic():
        identity, is_new = SocialAccount.objects.get_or_create(
            provider=issuer.id, uid=subject, defaults={"user": user, "extra_data": {"name": name}}
        )
        if identity.user_id != user.pk:
            raise Conflict(_("This identity belongs to another account here."))
        if is_new:
            report_security_change(user=user, kind=IDENTITY_LINKED, address=address)


def unlink_identity(*, user: User, identity_id: int, address: str) -> None:
    """Remove an identity of a user, who gets a mail about it. Raises NotFound; Conflict for the only way to sign in."""
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        identity = require_found(SocialAccount.objects.filter(user=locked, pk=identity_id).first())
        if [way.pk for way in load_identities(locked)] == [identity.pk]:
            if settings.ISSUERS_ONLY:
                raise Conflict(_("This is the only way you can sign in."))
            if not locked.has_usable_password():
                raise Conflict(_("This is the only way you can sign in: set a password first."))
        identity.delete()
        report_security_change(user=user, kind=IDENTITY_UNLINKED, address=address)


def follow_role(*, user: User, issuer: Issuer, wanted: str) -> None:
    """Give a user the role that their issuer states (`wanted`), or remove the issuer's earlier role if `wanted` is empty.

    A role that the issuer's settings do not name was given by staff, and is not changed. A role with all permissions is neither
    given nor removed. Writes the audit row.
    """
    if not issuer.roles:
        return
    current = user.role
    given_by_issuer = current.name.lower() in {role.lower() for role in issuer.roles.values()}
    if current.name.lower() == wanted.lower() or not (current.id == EVERYONE_ROLE_ID or given_by_issuer):
        return
    if current.can(Permission.ADMINISTRATOR):
        return
    try:
        set_role(by=_issuer_as_staff(issuer), user=user, role=_find_given_role(wanted) if wanted else None)
    except (Invalid, Conflict, NotFound) as refusal:
        logger.warning("the role that the issuer %s says was not given: %s", issuer.id, refusal.message)


def check_roles(issuer: Issuer) -> list[str]:
    """Return sentences about roles in an issuer's settings that do not exist here or have all permissions."""
    refusals = []
    for name in (issuer.roles or {}).values():
        try:
            _find_given_role(name)
        except Invalid as refusal:
            refusals.append(refusal.message)
    return refusals


def _find_given_role(name: str) -> Role:
    role = find_role(name)
    if role.can(Permission.ADMINISTRATOR):
        raise Invalid(_("The role %(name)s has all permissions: no issuer can give it.") % {"name": role.name})
    return role


def _issuer_as_staff(issuer: Issuer) -> Staff:
    return Staff(None, f"issuer {issuer.id}", Permission.ADMINISTRATOR, None)


def _keys(issuer: Issuer, *, anew: bool = False) -> Any:
    key = _key("keys", issuer)
    cached = None if anew else fragments.load([key]).get(key)
    if cached is None:
        document = _request_json(issuer, find_configuration(issuer)["jwks_uri"])
        cached = {"read_at": time.time(), "keys": document.get("keys")}
        fragments.save({key: cached}, seconds=_CACHE_SECONDS)
    return cached


def _key(what: str, issuer: Issuer) -> str:
    return f"issuer_{what}:{blake2b(issuer.issuer.encode(), digest_size=12).hexdigest()}"


def _is_address(value: Any) -> bool:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
    except ValueError:
        return False
    schemes = ("https", "http") if settings.ISSUERS_LOOPBACK else ("https",)
    return parts is not None and parts.scheme in schemes and bool(parts.hostname)


def _request_json(
    issuer: Issuer, url: str, *, form: Mapping[str, str] | None = None, authorization: str = ""
) -> dict[str, Any]:
    """Return the JSON object that an endpoint returns. Raises Unavailable; Forbidden for a code that the issuer refuses."""
    headers = {"Accept": "application/json"}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    if authorization:
        headers["Authorization"] = authorization
    try:
        answer = http.ask_service(
            url,
            method="GET" if form is None else "POST",
            body=None if form is None else urlencode(form).encode(),
            headers=headers,
            max_bytes=_ANSWER_BYTES,
            deadline=_DEADLINE_SECONDS,
            loopback=settings.ISSUERS_LOOPBACK,
        )
        document = orjson.loads(answer.body) if answer.status == 200 else None
    except (http.FetchError, ValueError) as error:
        raise _failure(issuer, str(error)) from None
    if form is not None and answer.status == 400:
        logger.warning("the issuer %s has refused a code: %s", issuer.id, answer.body[:200])
        raise Forbidden(_("The sign-in by %(name)s was refused.") % {"name": issuer.name})
    if not isinstance(document, dict):
        raise _failure(issuer, f"{urlsplit(url).path} answered {answer.status}, or no object")
    return document


def _failure(issuer: Issuer, reason: str) -> Unavailable:
    logger.warning("the issuer %s failed: %s", issuer.id, reason)
    return Unavailable(_("%(name)s is not working at the moment. Try again later.") % {"name": issuer.name})
