"""What staff send about figures: which, from when to when, and of what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request

from moderation.queries.retention import Frequency
from social.api.inputs import ClientInteger, ClientString, Input, StringListField, as_boolean, parameters
from social.kernel import clock
from social.kernel.errors import BadRequest, Invalid
from social.kernel.ids import parse_id

MOST_KEYS = 30
MOST_PARTS = 100
#: The days that can be asked for: nothing here is older, and after the last one there is still a day in the calendar.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
#: The longest time that is counted at once; of a longer one the end.
LONGEST = timedelta(days=366)


def day_of(text: str) -> date:
    """The day (UTC) of a date or a moment in ISO 8601, at least FIRST_DAY and at most LAST_DAY. Raises Invalid for what is
    none.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        day = (moment.astimezone(UTC) if moment.tzinfo is not None else moment).date()
        return min(max(day, FIRST_DAY), LAST_DAY)
    except (ValueError, OverflowError):
        raise Invalid(_("Invalid date supplied")) from None


def given_with(request: Request, key: str, parameter: str | None) -> Mapping[str, Any]:
    """What was sent with a figure: `key[id]=..`, `key[domain]=..`. Raises BadRequest that names the figure without it."""
    if parameter is None:
        return {}
    sent = parameters(request).get(key)
    if not isinstance(sent, dict) or sent.get(parameter) in (None, "") or isinstance(sent.get(parameter), list | dict):
        raise BadRequest.missing(key)
    if parameter == "id":
        return {"id": parse_id(str(sent["id"])) or 0}
    return {"domain": str(sent["domain"]), "include_subdomains": as_boolean(sent.get("include_subdomains"))}


@dataclass(frozen=True)
class FiguresForm:
    """Which figures, and the time that is counted."""

    keys: tuple[str, ...] = field(default=())
    start_at: str = ""
    end_at: str = ""
    limit: int = 10

    @property
    def parts(self) -> int:
        """How many parts of a dimension, as every `limit`: without its sign, at most MOST_PARTS (parameters section 0)."""
        return min(abs(self.limit), MOST_PARTS)

    @property
    def days(self) -> tuple[date, date]:
        """The first and the last day, at most LONGEST apart; without them today. Raises Invalid for what is no date."""
        today = clock.now().astimezone(UTC).date()
        start = day_of(self.start_at) if self.start_at.strip() else today
        end = day_of(self.end_at) if self.end_at.strip() else today
        return max(start, end - LONGEST), end


class _Keys(Input[FiguresForm]):
    def get_fields(self) -> Any:
        """With `keys`, which no attribute of a serializer's class can be called."""
        return {**super().get_fields(), "keys": StringListField(max_items=MOST_KEYS)}


class MeasuresInput(_Keys):
    """Which measures; everything has to be sent."""

    draft = FiguresForm
    required_keys = ("keys", "start_at", "end_at")
    start_at = ClientString()
    end_at = ClientString()


class DimensionsInput(_Keys):
    """Which dimensions, and how many parts of each."""

    draft = FiguresForm
    start_at = ClientString()
    end_at = ClientString()
    limit = ClientInteger()


@dataclass(frozen=True)
class RetentionForm:
    """The time that is counted, and in which steps."""

    start_at: str = ""
    end_at: str = ""
    frequency: str = "day"

    @property
    def step(self) -> Frequency:
        """`day` for any other word than `month`."""
        return "month" if self.frequency == "month" else "day"


class RetentionInput(Input[RetentionForm]):
    """From when to when, by day or by month."""

    draft = RetentionForm
    required_keys = ("start_at", "end_at")
    start_at = ClientString()
    end_at = ClientString()
    frequency = ClientString()
