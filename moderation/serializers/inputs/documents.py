"""What clients send when they ask about this server."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientString, Input


@dataclass(frozen=True)
class SearchForm:
    """The beginning of a server's name; None when it was not sent."""

    q: str | None = None


class SearchInput(Input[SearchForm]):
    """What to look for among known servers."""

    draft = SearchForm
    q = ClientString()
