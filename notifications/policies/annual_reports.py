"""Rules of annual reports: archetypes and states (contract, entities "Annual reports", schema version 2)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SCHEMA_VERSION: Final = 2

AVERAGE_POSTS: Final = 113
"""Posts per year of an average active user (Mastodon's figure for 2023)."""

_MULTIPLE: Final = 2
_POLL_SHARE: Final = 0.1


class Archetype(StrEnum):
    """Kinds of users, according to what they post."""

    LURKER = "lurker"
    BOOSTER = "booster"
    POLLSTER = "pollster"
    REPLIER = "replier"
    ORACLE = "oracle"


class ReportState(StrEnum):
    """States of a year's report: the account can read it, is waiting for it, can request it, or cannot request it."""

    AVAILABLE = "available"
    GENERATING = "generating"
    ELIGIBLE = "eligible"
    INELIGIBLE = "ineligible"


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a year's posts: boosts, replies to others, posts with a poll, and standalone posts, which include replies to
    oneself. `total` counts each post once.
    """

    total: int
    boosts: int
    answers: int
    polls: int
    standalone: int


def archetype_of(tally: Tally) -> Archetype:
    if tally.standalone + tally.answers + tally.boosts < AVERAGE_POSTS:
        return Archetype.LURKER
    if tally.boosts > tally.standalone * _MULTIPLE:
        return Archetype.BOOSTER
    if tally.polls > tally.standalone * _POLL_SHARE:
        return Archetype.POLLSTER
    if tally.answers > tally.standalone * _MULTIPLE:
        return Archetype.REPLIER
    return Archetype.ORACLE
