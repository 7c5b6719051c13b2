"""What clients send for the directory."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientBoolean, ClientString, Input


@dataclass(frozen=True)
class DirectoryForm:
    """What of the directory is wanted."""

    order: str = "active"
    local: bool = False


class DirectoryInput(Input[DirectoryForm]):
    """`order` is "active" or "new"."""

    draft = DirectoryForm
    order = ClientString()
    local = ClientBoolean()
