"""What clients send to block a server."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientString, Input


@dataclass(frozen=True)
class DomainForm:
    """The name of a server."""

    domain: str = ""


class DomainInput(Input[DomainForm]):
    """In the query or in the body."""

    draft = DomainForm
    domain = ClientString()
