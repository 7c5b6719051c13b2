"""What clients send for markers (contract, parameters section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from social.api.inputs import ClientString, Input, StringListField
from social.kernel.errors import FieldError, Invalid
from social.kernel.ids import parse_id
from timelines.models import Timeline


@dataclass(frozen=True)
class TimelinesForm:
    """Which markers are asked for."""

    timeline: tuple[str, ...] = ()


class TimelinesInput(Input[TimelinesForm]):
    """Names of timelines; a single one counts as a list."""

    draft = TimelinesForm
    timeline = StringListField(scalar=True)


@dataclass(frozen=True)
class PositionForm:
    """The last item read of a timeline, as it was sent."""

    last_read_id: str = ""

    @property
    def position(self) -> int | None:
        """Its id; None when nothing was sent. Raises Invalid for what is no id."""
        if not self.last_read_id:
            return None
        found = parse_id(self.last_read_id.strip())
        if found is None:
            raise Invalid.of([FieldError("last_read_id", "ERR_INVALID", _("is invalid"))])
        return found


class PositionInput(Input[PositionForm]):
    """What is sent for one timeline."""

    draft = PositionForm
    last_read_id = ClientString()


@dataclass(frozen=True)
class MarkersForm:
    """By timeline: the last item read, None where nothing was sent of it."""

    positions: Mapping[str, int | None] = field(default_factory=dict)


class MarkersInput(Input[MarkersForm]):
    """Objects with `last_read_id` under the names of timelines; other names are ignored."""

    draft = MarkersForm

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> MarkersForm:
        """As of any input; what is no object is dropped."""
        sent = {timeline: values.get(timeline) for timeline in Timeline.values}
        return MarkersForm(
            {
                timeline: PositionInput.read_mapping(value).position
                for timeline, value in sent.items()
                if isinstance(value, dict)
            }
        )
