"""Declarations of endpoints: who may call them, what they read and answer, how answers are cut into pages.

Everything that is the same for all endpoints is made from this declaration: the checks of the caller, the page and its
`Link` header, and for developers the battery of tests, the table in docs/coverage.md and the OpenAPI document.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from social.api.access import Access
from social.api.inputs import Reading
from social.api.limits import Rule
from social.api.pagination import ByCursor, Paging
from social.api.parsers import DEFAULT_MAX_BODY

EMPTY = "Empty"
"""The entity `{}`: the act is done and there is nothing to show."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Declaration of an action of a viewset: `endpoints = {"list": Endpoint(user("read:bookmarks"), "Status", ...)}`.

    `access`: who may call it. `entity`: the name of what a 2xx holds (contract, entities), of each item with `many`; None
    for an answer without a body of JSON.
    `input`: what is read from query and body; `also` names parameters that the action reads beyond it by itself. Paging
    parameters and tokens are not named.
    `paging`: how a list is cut into pages, for `ApiViewSet.paginate`.
    `throttles`: limits beyond those of the server (`social.api.limits`). `max_body`: bytes that are read at most,
    and `max_text`, where it is less, of a body that is no multipart form: such a one is held in memory.
    `cache_control`: what a successful GET says to caches; by default private for callers with a token, else public for
    15 s (contract, behaviours section 1).
    `deprecated`: the unix time in seconds since which the endpoint is deprecated; every answer, errors too, says so in the
    header `Deprecation` (RFC 9745).
    """

    access: Access
    entity: str | None
    _: KW_ONLY
    many: bool = False
    input: type[Reading] | None = None
    also: tuple[str, ...] = ()
    paging: Paging | None = None
    throttles: tuple[Rule, ...] = ()
    max_body: int = DEFAULT_MAX_BODY
    max_text: int | None = None
    cache_control: str | None = None
    deprecated: int | None = None

    @property
    def parameters(self) -> frozenset[str]:
        """The names of all parameters that are read from query and body."""
        names = set(self.also)
        if self.input is not None:
            names |= set(self.input.names())
        if self.paging is not None:
            names |= self.paging.parameters
        return frozenset(names)

    def is_repeated(self, name: str) -> bool:
        """Tell whether the links to other pages keep a parameter of the query: one that is read; of a list with brackets only,
        since a single value is dropped.
        """
        lists = self.input.lists() if self.input is not None else ()
        return name.partition("[")[0] in self.parameters and name not in lists

    @property
    def links(self) -> bool:
        """Tell whether its answers have a `Link` header."""
        return self.paging is not None and (isinstance(self.paging, ByCursor) or self.paging.links)
