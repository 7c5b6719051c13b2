"""Access to the public and hashtag timelines (contract, behaviours section 11, "Access setting")."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class Openness(StrEnum):
    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    DISABLED = "disabled"


LIVE: Final = "live_feeds"
HASHTAG: Final = "hashtag_feeds"
TRENDING_LINK: Final = "trending_link_feeds"
"""Kinds of feeds, named as in `timelines_access` of the entity Instance."""


@dataclass(frozen=True, slots=True)
class FeedAccess:
    """The access setting of one kind of feed, for local and remote posts."""

    local: Openness = Openness.PUBLIC
    remote: Openness = Openness.PUBLIC

    @classmethod
    def of(cls, setting: Mapping[str, Any], kind: str) -> "FeedAccess":
        """Read the stored setting `{kind: {"local": .., "remote": ..}}`; a missing or unknown value means public."""
        stored = setting.get(kind)
        stored = stored if isinstance(stored, Mapping) else {}
        return cls(*(_openness(stored.get(name)) for name in ("local", "remote")))

    def wants_user(self, *, local: bool, remote: bool) -> bool:
        """Tell whether a request without a user's token is refused, because one of the requested origins is not public."""
        return (local and self.local is not Openness.PUBLIC) or (remote and self.remote is not Openness.PUBLIC)

    def opened(self, *, local: bool, remote: bool, may_view_all: bool) -> tuple[bool, bool]:
        """Return which of the requested origins are shown; `may_view_all` is the role's permission `view_feeds`."""
        return (
            local and (may_view_all or self.local is not Openness.DISABLED),
            remote and (may_view_all or self.remote is not Openness.DISABLED),
        )


def _openness(value: Any) -> Openness:
    return Openness(value) if value in set(Openness) else Openness.PUBLIC
