"""What clients send to register an application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from social.api.inputs import ClientString, Input


@dataclass(frozen=True)
class RegistrationForm:
    """The parameters of `POST /api/v1/apps`."""

    client_name: str = ""
    scopes: str | None = None
    website: str | None = None
    redirect_uris: str | Sequence[str] = ""


class RegistrationInput(Input[RegistrationForm]):
    """What an application says of itself; the rules are the service's."""

    draft = RegistrationForm
    client_name = ClientString()
    scopes = ClientString()
    website = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> RegistrationForm:
        """As of any input, with `redirect_uris`."""
        return replace(super().read_mapping(values), redirect_uris=_redirect_uris(values.get("redirect_uris")))


def _redirect_uris(value: Any) -> str | Sequence[str]:
    """A string with one address per line, or a list in any spelling (clients.md, trap 2)."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""
