"""To whom a post is addressed, and what an addressing means (contract, federation section 6)."""

from __future__ import annotations

from collections.abc import Sequence

from federation.documents.context import PUBLIC, PUBLIC_NAMES
from statuses.models import Visibility
from statuses.policies.visibility import FOR_ANYBODY, FOR_FOLLOWERS, is_listed, received_visibility


def addresses(visibility: str, followers_url: str, mentioned: Sequence[str]) -> tuple[list[str], list[str]]:
    """`to` and `cc` of a post; `mentioned` are the ids of the accounts it addresses."""
    people = list(dict.fromkeys(mentioned))
    if is_listed(visibility):
        return [PUBLIC], [followers_url, *people]
    if visibility in FOR_ANYBODY:
        return [followers_url], [PUBLIC, *people]
    if visibility in FOR_FOLLOWERS:
        return [followers_url], people
    return people, []


def visibility_of(to: Sequence[str], cc: Sequence[str], followers_url: str) -> Visibility:
    """What an addressing means: direct, unless it names everybody or the author's followers."""
    return received_visibility(
        in_to=not PUBLIC_NAMES.isdisjoint(to),
        in_cc=not PUBLIC_NAMES.isdisjoint(cc),
        followers=bool(followers_url) and (followers_url in to or followers_url in cc),
    )
