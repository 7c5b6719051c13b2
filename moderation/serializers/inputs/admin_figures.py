"""Parameters of staff about figures: which, from when to when, and of what."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, ClassVar

from django.utils.translation import gettext as _
from rest_framework.request import Request

from moderation.queries.measures import Frequency
from social.api.fields import StringListField, as_boolean
from social.api.inputs import Form, parameters
from social.kernel import clock
from social.kernel.errors import BadRequest, Invalid
from social.kernel.ids import parse_id

KEYS_LIMIT = 30
PARTS_LIMIT = 100
#: The days that can be asked for: nothing here is older, and after the last one there is still a day in the calendar.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
#: The longest time that is counted at once; of a longer one the end.
LONGEST_PERIOD = timedelta(days=366)


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
    """The parameter of a figure: `key[id]=..`, `key[domain]=..`. Raises BadRequest that names the figure without it."""
    if parameter is None:
        return {}
    sent = parameters(request).get(key)
    if not isinstance(sent, dict) or sent.get(parameter) in (None, "") or isinstance(sent.get(parameter), list | dict):
        raise BadRequest.missing(key)
    if parameter == "id":
        return {"id": parse_id(str(sent["id"])) or 0}
    return {"domain": str(sent["domain"]), "include_subdomains": as_boolean(sent.get("include_subdomains"))}


class MeasuresInput(Form):
    """The measures, and the time that is counted; everything has to be sent."""

    required_keys: ClassVar[tuple[str, ...]] = ("keys", "start_at", "end_at")
    keys: Annotated[tuple[str, ...], StringListField(max_items=KEYS_LIMIT)] = ()
    start_at: str = ""
    end_at: str = ""

    @property
    def days(self) -> tuple[date, date]:
        """The first and the last day, at most LONGEST_PERIOD apart; without them today. Raises Invalid for what is no date."""
        today = clock.now().astimezone(UTC).date()
        start = day_of(self.start_at) if self.start_at.strip() else today
        end = day_of(self.end_at) if self.end_at.strip() else today
        return max(start, end - LONGEST_PERIOD), end


class DimensionsInput(MeasuresInput):
    """The dimensions, the time that is counted, and how many parts of each are shown."""

    required_keys = ()
    limit: int = 10

    @property
    def parts(self) -> int:
        """The number of parts of a dimension, like every `limit`: without its sign, at most PARTS_LIMIT (parameters
        section 0).
        """
        return min(abs(self.limit), PARTS_LIMIT)


class RetentionInput(Form):
    """Period of the figures, by day or by month."""

    required_keys = ("start_at", "end_at")
    start_at: str = ""
    end_at: str = ""
    frequency: str = "day"

    @property
    def step(self) -> Frequency:
        """`day` for any other word than `month`."""
        return "month" if self.frequency == "month" else "day"
