"""Takes apart what somebody who searches for posts has typed (contract, behaviours section 15).

    cat "white dog" -mouse from:@bob has:image is:reply language:de after:2024-01-31 in:library

Every part must fit; `-` says that it must not, `+` is the same as nothing. What has no known operator is looked for as it
stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from social.kernel.text.languages import known_language

PARTS_LIMIT: Final = 32
"""Further parts of a query are passed over."""


class Scope(StrEnum):
    """Posts to search: those that concern the searcher, those that everybody may find, either, or those that are both."""

    LIBRARY = "library"
    PUBLIC = "public"
    ALL = "all"
    BOTH = "library public"


class Fact(StrEnum):
    """Properties that can be asked of a post besides its words; the values are those of the operators `has:` and `is:`."""

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
    """A date operator whose value is no date."""


@dataclass(frozen=True)
class Sides:
    """Values of one kind that a post must have, all of them, and those that it must not have."""

    wanted: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def joined(self, value: str, *, negated: bool) -> Sides:
        """Return the same with one value more."""
        if negated:
            return Sides(self.wanted, (*self.excluded, value))
        return Sides((*self.wanted, value), self.excluded)


@dataclass(frozen=True)
class StatusQuery:
    """Query for posts. `texts` are words and phrases; `authors` addresses as written, `me` for the searcher.

    `since` is the first day (UTC) and `until` the day behind the last one. `impossible`: nothing can fit.
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
    """Take a query apart. Raises InvalidDate."""
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
    """Kind of the part, and its value: None when no post can fit."""
    match operator:
        case "from":
            return "authors", value.removeprefix("@") or None
        case "has" | "is":
            known: dict[str, Fact] = {
                fact.value: fact for fact in (_CONTENT_VALUES if operator == "has" else _PROPERTY_VALUES)
            }
            return "facts", known.get(value.lower())
        case "language":
            return "languages", known_language(value)
    return "texts", text


def _scope(places: Sides) -> Scope | None:
    """Return where to search; None when no post can be there. To exclude one place means to search in the other."""
    one_place = {Scope.LIBRARY, Scope.PUBLIC}
    excluded = one_place.intersection(places.excluded)
    if Scope.ALL in places.excluded or excluded == one_place or not {*Scope}.issuperset(places.wanted):
        return None
    wanted = one_place.intersection(places.wanted) | (one_place - excluded if excluded else set())
    if wanted & excluded:
        return None
    return wanted.pop() if len(wanted) == 1 else Scope.BOTH if wanted else Scope.ALL


@dataclass(frozen=True)
class _Days:
    since: date | None = None
    until: date | None = None
    excluded: tuple[date, ...] = ()

    def narrowed(self, operator: str, day: date, *, negated: bool) -> _Days:
        following = day + timedelta(days=1) if day < date.max else day
        if operator == "during":
            return replace(self, excluded=(*self.excluded, day)) if negated else self._within(day, following)
        if (operator == "before") is not negated:
            return self._within(None, day if operator == "before" else following)
        return self._within(following if operator == "after" else day, None)

    def _within(self, since: date | None, until: date | None) -> _Days:
        return _Days(_of(max, self.since, since), _of(min, self.until, until), self.excluded)


def _of(choose: Callable[[date, date], date], one: date | None, other: date | None) -> date | None:
    if one is None or other is None:
        return one if other is None else other
    return choose(one, other)


def _date(value: str) -> date:
    try:
        # Of a moment its day counts.
        return date.fromisoformat(value.partition("T")[0])
    except ValueError as error:
        raise InvalidDate(value) from error
