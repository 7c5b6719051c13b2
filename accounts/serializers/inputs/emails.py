"""What clients send for confirmation mails."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientString, Input


@dataclass(frozen=True)
class ResendForm:
    """The parameters of asking for the confirmation mail again."""

    email: str | None = None


class ResendInput(Input[ResendForm]):
    """Another address, if the first one was wrong."""

    draft = ResendForm
    email = ClientString()
