"""What clients send to vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from social.api.inputs import Input, StringListField
from social.kernel.errors import BadRequest

_NO_OPTION: Final = -1


@dataclass(frozen=True)
class VoteForm:
    """The places of the options that are voted for."""

    choices: tuple[int, ...] = ()


class PlacesField(StringListField):
    """Places of options; what is no number is the place of none."""

    def to_internal_value(self, data: Any) -> Any:
        """A tuple of ints."""
        return tuple(map(_place, self.items(data)))


class VoteInput(Input[VoteForm]):
    """`choices[]`, or a single place."""

    draft = VoteForm
    choices = PlacesField(scalar=True)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> VoteForm:
        """As of any input. Raises BadRequest without choices."""
        form = super().read_mapping(values)
        if not form.choices:
            raise BadRequest.missing("choices")
        return form


def _place(item: Any) -> int:
    text = str(item).strip() if isinstance(item, int | str) and not isinstance(item, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else _NO_OPTION
