"""Reads hashtags, their recent uses, and their places on profiles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS
from django.db.models import BigIntegerField, QuerySet

from accounts.models import Account, FeaturedTag, Tag, TagFollow
from accounts.models.tag import TAG_LIMIT
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.plans import IDS, Plan, Slot
from social.kernel.statements import rows_of
from social.kernel.text.names import is_hashtag, normalise_hashtag

HISTORY_DAYS: Final = 7
_VIEWER: Final = Slot("viewer", BigIntegerField())
_FOLLOWED: Final = Plan(
    lambda: TagFollow.objects.filter(account_id=_VIEWER, tag_id__one_of=IDS).values_list("tag_id", flat=True)
)
_FEATURED: Final = Plan(
    lambda: FeaturedTag.objects.filter(account_id=_VIEWER, tag_id__one_of=IDS).values_list("tag_id", flat=True)
)
_USES: Final = """
SELECT tag_id, day, count(*), sum(uses) FROM accounts_taguse
 WHERE tag_id = ANY(%(ids)s) AND day >= %(since)s GROUP BY tag_id, day
"""


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """Use of a hashtag on one day (UTC): number of accounts, and of uses."""

    day: date
    accounts: int = 0
    uses: int = 0


@dataclass(frozen=True, slots=True)
class TagView:
    """Histories of hashtags, and which of them the viewer follows and features."""

    viewer_id: int | None
    histories: Mapping[int | None, Sequence[DayOfUse]]
    followed: frozenset[int] = frozenset()
    featured: frozenset[int] = frozenset()


def named_tag(name: str) -> Tag:
    """Build a hashtag, unsaved and without an id, from its name in a URL. Raises NotFound for an invalid name."""
    shown = name.removeprefix("#")
    normalised = normalise_hashtag(shown)
    if not is_hashtag(shown) or not normalised or len(normalised) > TAG_LIMIT:
        raise NotFound("Not Found")
    return Tag(name=normalised, display_name=shown)


def list_followed_tags(account_id: int) -> QuerySet[TagFollow]:
    """List the account's follows of hashtags, with the `tag` loaded."""
    return TagFollow.objects.filter(account_id=account_id).select_related("tag")


def view_tags(tags: Iterable[Tag], viewer_id: int | None) -> TagView:
    """Load the view of these hashtags for a viewer: three queries, or one for an anonymous viewer."""
    ids = list({tag.id for tag in tags if tag.id is not None})
    histories: dict[int | None, list[DayOfUse]] = {None: [DayOfUse(day) for day in _days()]}
    for number, days in load_histories(ids).items():
        histories[number] = days
    if viewer_id is None:
        return TagView(None, histories)
    if not ids:
        return TagView(viewer_id, histories)
    followed, featured = (plan.run(viewer=viewer_id, ids=ids) for plan in (_FOLLOWED, _FEATURED))
    return TagView(viewer_id, histories, frozenset(followed), frozenset(featured))


def _days() -> list[date]:
    today = clock.now().date()
    return [today - timedelta(days=number) for number in range(HISTORY_DAYS)]


def load_histories(tag_ids: Iterable[int]) -> dict[int, list[DayOfUse]]:
    """Load the last HISTORY_DAYS days of each hashtag, today first, in one query; days without use are included."""
    ids, days = list(tag_ids), _days()
    rows = rows_of(_USES, {"ids": ids, "since": days[-1].isoformat()}) if ids else []
    known = {(number, day): DayOfUse(day, accounts, uses) for number, day, accounts, uses in rows}
    return {number: [known.get((number, day), DayOfUse(day)) for day in days] for number in ids}


# The range has no upper bound, for the reason given in `accounts.queries.discovery`.
_SEARCH: Final = """
SELECT t.id, t.name, t.display_name
  FROM (SELECT * FROM accounts_tag WHERE name ~>=~ %(name)s ORDER BY name USING ~<~ LIMIT 500) t
 WHERE starts_with(t.name, %(name)s) AND t.listable AND NOT t.private
   AND (t.name = %(name)s OR t.reviewed_at IS NOT NULL OR %(all)s = 1)
 ORDER BY t.name <> %(name)s, length(t.name), t.name LIMIT %(limit)s OFFSET %(offset)s
"""


def search_tags(text: str, *, limit: int, offset: int = 0, exclude_unreviewed: bool = False) -> list[Tag]:
    """Find hashtags that begin with a text, among the first 500 matches by name; the exact match comes first, then the
    shortest.

    Private hashtags, and hashtags that staff exclude from search, are left out. With `exclude_unreviewed`, hashtags that staff
    have not reviewed are left out as well, except for the exact match (behaviours section 15). Takes one query.
    """
    name = normalise_hashtag(text.strip().removeprefix("#"))
    if not name or "\0" in name:
        return []
    values: dict[str, Any] = {"name": name, "all": int(not exclude_unreviewed), "limit": limit, "offset": offset}
    return [Tag.from_db(DEFAULT_DB_ALIAS, ("id", "name", "display_name"), row) for row in rows_of(_SEARCH, values)]


def list_featured_tags(account: Account) -> QuerySet[FeaturedTag]:
    """List the hashtags that the account features, most used first; none if it is suspended."""
    featured = FeaturedTag.objects.filter(account=account).select_related("tag").order_by("-statuses_count", "id")
    return featured.none() if account.suspended else featured
