"""Decides what the report of a year says about somebody (contract, entities "Annual reports", schema version 2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SCHEMA_VERSION: Final = 2

AVERAGE_POSTS: Final = 113
"""Posts of an average year of somebody who posts (Mastodon's number, of 2023)."""

_MULTIPLE: Final = 2
_POLL_SHARE: Final = 0.1


class Archetype(StrEnum):
    """Kinds of people by what they post."""

    LURKER = "lurker"
    BOOSTER = "booster"
    POLLSTER = "pollster"
    REPLIER = "replier"
    ORACLE = "oracle"


class ReportState(StrEnum):
    """States of the report of a year: what a person can do about it."""

    AVAILABLE = "available"
    GENERATING = "generating"
    ELIGIBLE = "eligible"
    INELIGIBLE = "ineligible"


@dataclass(frozen=True, slots=True)
class Tally:
    """Posts of a year: boosts, answers to others, those with a poll, and those that stand alone, threads of one's own among
    them. `total` counts each once.
    """

    total: int
    boosts: int
    answers: int
    polls: int
    standalone: int


def archetype_of(tally: Tally) -> Archetype:
    """The kind of person, by what is more than usual of their posts."""
    if tally.standalone + tally.answers + tally.boosts < AVERAGE_POSTS:
        return Archetype.LURKER
    if tally.boosts > tally.standalone * _MULTIPLE:
        return Archetype.BOOSTER
    if tally.polls > tally.standalone * _POLL_SHARE:
        return Archetype.POLLSTER
    if tally.answers > tally.standalone * _MULTIPLE:
        return Archetype.REPLIER
    return Archetype.ORACLE
