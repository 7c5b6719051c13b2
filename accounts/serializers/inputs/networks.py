"""What clients send about people they know."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientString, IdListField, Input


@dataclass(frozen=True)
class NoteForm:
    """The parameters of a note."""

    comment: str = ""


class NoteInput(Input[NoteForm]):
    """A private note about somebody."""

    draft = NoteForm
    comment = ClientString()


@dataclass(frozen=True)
class FamiliarForm:
    """The parameters of familiar followers."""

    ids: tuple[int, ...] = ()


class FamiliarInput(Input[FamiliarForm]):
    """Whose followers are wanted: `id[]`, or a single `id`."""

    draft = FamiliarForm
    id = IdListField(scalar=True, source="ids")
