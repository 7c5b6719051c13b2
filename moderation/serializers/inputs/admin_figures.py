"""Parameters of the staff API for figures: keys, period, and subject."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, ClassVar, cast

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
#: Days are clamped to this range: no data are older, and `date` can still represent the day after the last.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
#: Maximum length of the period; only the end of a longer period is counted.
LONGEST_PERIOD = timedelta(days=366)


def day_of(text: str) -> date:
    """Return the day (UTC) of an ISO 8601 text, clamped to FIRST_DAY and LAST_DAY. Raises Invalid for any other text."""
    try:
        moment = datetime.fromisoformat(text.strip())
        day = (moment.astimezone(UTC) if moment.tzinfo is not None else moment).date()
        return min(max(day, FIRST_DAY), LAST_DAY)
    except (ValueError, OverflowError):
        raise Invalid(_("Invalid date supplied")) from None


def given_with(
    request: Request, keys: Iterable[str], declared: Mapping[str, str | None]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the keys that occur in `declared`, each with the parameter that it requires: `key[id]=..` or `key[domain]=..`.
    Raises BadRequest, which names the figure, if the parameter is missing.
    """
    return {key: _parameter(request, key, declared[key]) for key in keys if key in declared}


def _parameter(request: Request, key: str, parameter: str | None) -> Mapping[str, Any]:
    if parameter is None:
        return {}
    sent = parameters(request).get(key)
    value = sent.get(parameter) if isinstance(sent, dict) else None
    if value in (None, "") or isinstance(value, list | dict):
        raise BadRequest.missing(key)
    if parameter == "id":
        return {"id": parse_id(str(value)) or 0}
    return {"domain": str(value), "include_subdomains": as_boolean(cast(Any, sent).get("include_subdomains"))}


class MeasuresInput(Form):
    """The measures and the period; all parameters are required."""

    required_keys: ClassVar[tuple[str, ...]] = ("keys", "start_at", "end_at")
    keys: Annotated[tuple[str, ...], StringListField(max_items=KEYS_LIMIT)] = ()
    start_at: str = ""
    end_at: str = ""

    @property
    def days(self) -> tuple[date, date]:
        """Return the first and the last day, at most LONGEST_PERIOD apart, by default today. Raises Invalid."""
        today = clock.now().astimezone(UTC).date()
        start = day_of(self.start_at) if self.start_at.strip() else today
        end = day_of(self.end_at) if self.end_at.strip() else today
        return max(start, end - LONGEST_PERIOD), end


class DimensionsInput(MeasuresInput):
    """The dimensions, the period, and the maximum number of parts of each."""

    required_keys = ()
    limit: int = 10

    @property
    def parts(self) -> int:
        """Return the absolute value of `limit` (parameters section 0), at most PARTS_LIMIT."""
        return min(abs(self.limit), PARTS_LIMIT)


class RetentionInput(Form):
    """Period of the cohorts, by day or by month."""

    required_keys = ("start_at", "end_at")
    start_at: str = ""
    end_at: str = ""
    frequency: str = "day"

    @property
    def step(self) -> Frequency:
        """Return `month`, or `day` for any other value."""
        return "month" if self.frequency == "month" else "day"
