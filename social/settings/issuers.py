"""Issuers of OpenID Connect through which people sign in, read from the file that SIGN_IN_ISSUERS names."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class Issuer:
    """An issuer. `id` must never change, because it is part of URLs and of stored identities.

    `issuer` is the URL that the issuer's tokens name. `roles` maps values of the claim `role_claim` to names of roles on this
    server; the first one that matches counts. If `required_claim` is given, only people whose claim holds one of
    `required_values` may sign in. With `trusts_email`, an address that the issuer calls verified needs no confirmation.
    """

    id: str
    name: str
    issuer: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    username_claim: str = "preferred_username"
    role_claim: str = ""
    roles: Mapping[str, str] | None = None
    required_claim: str = ""
    required_values: tuple[str, ...] = ()
    trusts_email: bool = True

    @property
    def discovery_url(self) -> str:
        """Address of the issuer's configuration (OpenID Connect Discovery 1.0, section 4)."""
        return f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"


_TYPES: Final[Mapping[str, type]] = {"scopes": list, "roles": dict, "required_values": list, "trusts_email": bool}


def read_issuers(path: str, *, loopback: bool) -> tuple[Issuer, ...]:
    """Return the issuers of a file, which holds a JSON array of objects; none for an empty path. With `loopback`, the issuers'
    addresses may be http. Raises ImproperlyConfigured, whose message quotes no secret.
    """
    if not path:
        return ()
    try:
        found = json.loads(Path(path).read_text())
    except OSError as error:
        raise _refusal(f"{path} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise _refusal(f"{path} is not JSON ({error})") from None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise _refusal(f"{path} holds no array of objects")
    # Identifiers and secrets are often pasted together with spaces.
    items = [
        {name: value.strip() if isinstance(value, str) else value for name, value in item.items()} for item in found
    ]
    issuers = tuple(_issuer(item, number, loopback) for number, item in enumerate(items, 1))
    if len({issuer.id for issuer in issuers}) < len(issuers):
        raise _refusal("two issuers have the same id")
    return issuers


def _issuer(item: Mapping[str, Any], number: int, loopback: bool) -> Issuer:
    place = f"issuer {number}"
    unknown = item.keys() - {field.name for field in fields(Issuer)}
    if unknown:
        raise _refusal(f"{place} has unknown members: {', '.join(sorted(unknown))}")
    for name, value in item.items():
        if not isinstance(value, _TYPES.get(name, str)):
            raise _refusal(f"{name} of {place} is no {_TYPES.get(name, str).__name__}")
    missing = [name for name in ("id", "name", "issuer", "client_id") if not item.get(name)]
    if missing:
        raise _refusal(f"{place} has no {', '.join(missing)}")
    if not _ID.fullmatch(item["id"]):
        raise _refusal(f"the id of {place} is not made of a-z, 0-9 and hyphens")
    try:
        parts = urlsplit(item["issuer"])
        fine = bool(parts.hostname) and parts.scheme in (("https", "http") if loopback else ("https",))
        fine = fine and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        fine = False
    if not fine:
        raise _refusal(f"the address of {place} is not one as in https://login.example.org/realms/staff")
    roles = item.get("roles") or {}
    if not all(isinstance(role, str) for role in roles.values()) or bool(roles) != bool(item.get("role_claim")):
        raise _refusal(f"{place} needs role_claim and roles together, and names of roles in roles")
    required = item.get("required_values") or []
    if bool(required) != bool(item.get("required_claim")):
        raise _refusal(f"{place} needs required_claim and required_values together")
    if not all(isinstance(text, str) for text in (*required, *item.get("scopes", ()))):
        raise _refusal(f"scopes and required_values of {place} are lists of texts")
    given = {**item, "roles": roles, "required_values": tuple(required)}
    if "scopes" in item:
        given["scopes"] = tuple(dict.fromkeys(("openid", *item["scopes"])))
    return Issuer(**given)


def _refusal(reason: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"SIGN_IN_ISSUERS: {reason}. docs/operating.md has an example.")
