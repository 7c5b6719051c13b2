"""Which posts are in the public and hashtag timelines, for a row in memory; the SQL is in `queries.public`.

Source: contract, behaviours section 11 ("Public timeline", "Tag timeline").
"""

from __future__ import annotations

from statuses.policies.visibility import is_listed
from statuses.queries.rows import Row


def in_tag_timelines(row: Row) -> bool:
    """Whether a post may stand in timelines of its hashtags: public, no boost, its author not limited or suspended."""
    return (
        is_listed(row.visibility)
        and row.reblog_of_id is None
        and not (row.is_deleted or row.is_author_suspended or row.is_author_limited)
    )


def in_public_timeline(row: Row) -> bool:
    """Whether it may stand in public timelines: as above, and no reply but to its own author."""
    return in_tag_timelines(row) and (not row.is_reply or row.in_reply_to_account_id == row.account_id)
