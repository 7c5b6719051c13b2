"""Parses search queries for posts (contract, behaviours section 15).

    cat "white dog" -mouse from:@bob has:image is:reply language:de after:2024-01-31 in:library

Every part must match; `-` means that it must not match, `+` has no effect. A part without a known operator is searched for as
text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from social.kernel.text.languages import known_language

PARTS_LIMIT: Final = 32
"""Limit on the parts of a query; further parts are ignored."""


class Scope(StrEnum):
    """Posts to search. `LIBRARY`: posts that the viewer wrote or marked, or that mention the viewer; `BOTH`: the public posts
    among these.
    """

    LIBRARY = "library"
    PUBLIC = "public"
    ALL = "all"
    BOTH = "library public"


class Fact(StrEnum):
    """Properties of a post that can be searched for; the values are those of the operators `has:` and `is:`."""

    MEDIA = "media"
    IMAGE = "image"
    VIDEO = "video"
    AUDIO = "audio"
    POLL = "poll"
    LINK = "link"
    EMBED = "embed"
    REPLY = "reply"
    SENSITIVE = "sensitive"
    QUOTE = "quote"


class InvalidDate(ValueError):
    """Error for a date operator whose value is not a date."""


@dataclass(frozen=True)
class Sides:
    """Values of one operator: the values that a post must have, and the values that it must not have."""

    wanted: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def joined(self, value: str, *, negated: bool) -> "Sides":
        """Return a copy with one more value."""
        if negated:
            return Sides(self.wanted, (*self.excluded, value))
        return Sides((*self.wanted, value), self.excluded)


@dataclass(frozen=True)
class StatusQuery:
    """Parsed query for posts. `texts` are words and phrases; `authors` are addresses as in the query, or `me` for the viewer.
    `since` is the first day (UTC), `until` the day after the last day. `impossible` means that no post can match.
    """

    texts: Sides = field(default_factory=Sides)
    authors: Sides = field(default_factory=Sides)
    facts: Sides = field(default_factory=Sides)
    languages: Sides = field(default_factory=Sides)
    scope: Scope = Scope.ALL
    since: date | None = None
    until: date | None = None
    excluded_days: tuple[date, ...] = ()
    impossible: bool = False


_PART: Final = re.compile(
    r"""(?P<sign>[-+])?(?:(?P<operator>from|has|is|in|before|after|during|language):(?P<value>"[^"]*"|\S+)
    |"(?P<phrase>[^"]*)(?:"|\Z)|(?P<word>\S+))""",
    re.VERBOSE | re.IGNORECASE,
)
_CONTENT_VALUES: Final = frozenset({Fact.MEDIA, Fact.IMAGE, Fact.VIDEO, Fact.AUDIO, Fact.POLL, Fact.LINK, Fact.EMBED})
_PROPERTY_VALUES: Final = frozenset({Fact.REPLY, Fact.SENSITIVE, Fact.QUOTE})


def parse_query(text: str) -> StatusQuery:
    """Parse a query. Raises InvalidDate."""
    parts: dict[str, Sides] = {"texts": Sides(), "authors": Sides(), "facts": Sides(), "languages": Sides()}
    places, days, impossible = Sides(), _Days(), False
    for place, found in enumerate(_PART.finditer(text)):
        if place == PARTS_LIMIT:
            break
        negated = found["sign"] == "-"
        operator = (found["operator"] or "").lower()
        value = (found["value"] or "").strip('"')
        if operator in ("before", "after", "during"):
            days = days.narrowed(operator, _date(value), negated=negated)
        elif operator == "in":
            places = places.joined(value.lower(), negated=negated)
        else:
            kind, read = _read(operator, value, found["phrase"] or found["word"] or "")
            impossible |= read is None and not negated
            if read:
                parts[kind] = parts[kind].joined(read, negated=negated)
    scope = _scope(places)
    impossible |= scope is None or (days.since is not None and days.until is not None and days.since >= days.until)
    return StatusQuery(
        **parts,
        scope=scope or Scope.ALL,
        since=days.since,
        until=days.until,
        excluded_days=days.excluded,
        impossible=impossible,
    )


def _read(operator: str, value: str, text: str) -> tuple[str, str | None]:
    # The value is None if no post can match.
    match operator:
        case "from":
            return "authors", value.removeprefix("@") or None
        case "has" | "is":
            values = _CONTENT_VALUES if operator == "has" else _PROPERTY_VALUES
            return "facts", value.lower() if value.lower() in values else None
        case "language":
            return "languages", known_language(value)
    return "texts", text


def _scope(places: Sides) -> Scope | None:
    # None if no post can match. A query that excludes one of the two places searches the other.
    one_place = {Scope.LIBRARY, Scope.PUBLIC}
    excluded = one_place.intersection(places.excluded)
    if Scope.ALL in places.excluded or excluded == one_place or not {*Scope}.issuperset(places.wanted):
        return None
    wanted_places = one_place.intersection(places.wanted) | (one_place - excluded if excluded else set())
    if wanted_places & excluded:
        return None
    return wanted_places.pop() if len(wanted_places) == 1 else Scope.BOTH if wanted_places else Scope.ALL


@dataclass(frozen=True)
class _Days:
    since: date | None = None
    until: date | None = None
    excluded: tuple[date, ...] = ()

    def narrowed(self, operator: str, day: date, *, negated: bool) -> "_Days":
        following = day + timedelta(days=1) if day < date.max else day
        if operator == "during":
            return replace(self, excluded=(*self.excluded, day)) if negated else self._restricted_to(day, following)
        if (operator == "before") is not negated:
            return self._restricted_to(None, day if operator == "before" else following)
        return self._restricted_to(following if operator == "after" else day, None)

    def _restricted_to(self, since: date | None, until: date | None) -> "_Days":
        return _Days(_chosen_date(max, self.since, since), _chosen_date(min, self.until, until), self.excluded)


def _chosen_date(choose: Callable[[date, date], date], one: date | None, other: date | None) -> date | None:
    if one is None or other is None:
        return one if other is None else other
    return choose(one, other)


def _date(value: str) -> date:
    try:
        # If the value has a time, only its day counts.
        return date.fromisoformat(value.partition("T")[0])
    except ValueError as error:
        raise InvalidDate(value) from error
