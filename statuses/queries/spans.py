"""SQL for posts of some days: by their times, and by the ids that go with those, for which there are indexes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from social.kernel.ids import first_at

# A post of another server may have its id from another moment than its time, but not from another day.
_LEEWAY: Final = timedelta(days=2)
_TIMES: Final = "s.created_at >= %(from)s AND s.created_at < %(until)s"
POST_SPAN: Final = f"s.id >= %(first_id)s AND s.id < %(end_id)s AND {_TIMES}"
"""A condition on the post `s`, with the parameters of `span_of_ids`, and `from` and `until`."""
TAGGED_SPAN: Final = f"st.status_id >= %(first_id)s AND st.status_id < %(end_id)s AND {_TIMES}"
"""The same for a row `st` of a hashtag and its post `s`."""


def span_of_ids(start: date, end: date) -> dict[str, int]:
    """The ids that posts of these days, both included, can have: `first_id` and `end_id`."""
    first, last = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (start, end))
    return {"first_id": first_at(first - _LEEWAY), "end_id": first_at(last + timedelta(days=1) + _LEEWAY)}
