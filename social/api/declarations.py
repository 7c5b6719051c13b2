"""Declarations of endpoints: access, parameters, entity and pagination.

From these declarations the program derives the checks of the caller, the pagination and the `Link` header. The battery of
tests, the table in docs/coverage.md and the OpenAPI document are derived from them as well.
"""

from dataclasses import KW_ONLY, dataclass

from social.api.access import Access
from social.api.inputs import Reading
from social.api.limits import Rule
from social.api.pagination import ByCursor, Paging
from social.api.parsers import DEFAULT_MAX_BODY

EMPTY = "Empty"  # the entity `{}`, for an action that returns no data


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Declaration of an action of a viewset: `endpoints = {"list": Endpoint(user("read:bookmarks"), "Status", ...)}`.

    `access`: who may call it. `entity`: the name of the entity in a 2xx answer (contract, entities). With `many` the answer is
    a list, and `entity` is the name of its items. `entity` is None for an answer without a JSON body. `input`: the class that
    reads query and body; `also` names further parameters, which the action reads itself. Paging parameters and tokens are not
    listed. `paging`: the pagination of a list, for `ApiViewSet.paginate`. `throttles`: rate limits in addition to the server's
    (`social.api.limits`). `max_body`: the maximum size of a body in bytes; `max_text`: a smaller maximum for a body that is
    held in memory because it is not a multipart form. `cache_control`: the `Cache-Control` of a successful GET; by default
    private for callers with a token, and public for 15 s for others (contract, behaviours section 1). `deprecated`: the unix
    time in seconds since which the endpoint is deprecated; every answer, errors included, states it in the header `Deprecation`
    (RFC 9745).
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
        names = set(self.also)
        if self.input is not None:
            names |= set(self.input.names())
        if self.paging is not None:
            names |= self.paging.parameters
        return frozenset(names)

    def is_repeated(self, name: str) -> bool:
        """Tell whether the links to other pages repeat a parameter of the query.

        The links repeat the parameters that the endpoint reads. A list parameter is repeated only if it was sent with brackets,
        because a value sent without brackets is dropped.
        """
        lists = self.input.lists() if self.input is not None else ()
        return name.partition("[")[0] in self.parameters and name not in lists

    @property
    def links(self) -> bool:
        return self.paging is not None and (isinstance(self.paging, ByCursor) or self.paging.links)
