"""The paths of the API, in Django's URL patterns.

    urlpatterns = [
        endpoint("api/v1/bookmarks", BookmarksViewSet, {"get": "list"}),
        endpoint("api/v1/statuses/<id>/bookmark", StatusesViewSet, {"post": "bookmark"}),
    ]

A slash at the end is accepted on every path, without a redirect (clients.md, trap 15); a suffix such as `.json` is not
(contract, behaviours section 3). `<id>` and `<..._id>` are ids, any other `<name>` is one segment of text.
`api_urls("accounts.urls", ...)` returns the endpoints of the apps, and `other_urls` returns their pages.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path
from django.urls.resolvers import RoutePattern
from django.views.decorators.csrf import csrf_exempt

from social.api.access import Access
from social.api.declarations import Endpoint
from social.api.parsers import DEFAULT_MAX_BODY
from social.api.viewsets import ApiViewSet, NowhereViewSet

_API = "api/"
_SMALLEST_GROUP = 4
# The paths that clients request most, tried before the other groups, because each group that is tried takes 3 us.
_BUSIEST = ("api/v1/timelines", "api/v1/statuses", "api/v1/accounts", "api/v1/notifications", "api/v2/notifications")


class _EndpointRoute(RoutePattern):
    """Route of Django's `path()` that also matches with a slash at the end."""

    def match(self, path: str) -> Any:
        return super().match(path.removesuffix("/"))


class EndpointPattern(URLPattern):
    """Django URL pattern with the declaration of its endpoint. `prefix`: the part of `path` that an `include` matches."""

    def __init__(self, path: str, viewset: type[ApiViewSet], actions: Mapping[str, str], prefix: str = "") -> None:
        self.path = path
        self.viewset = viewset
        self.actions = dict(actions)
        if "put" in self.actions:
            # Clients use both PUT and PATCH for a change (contract, parameters section 0).
            self.actions.setdefault("patch", self.actions["put"])
        route = _EndpointRoute(path.removeprefix(prefix), is_endpoint=True)
        super().__init__(route, viewset.as_view(self.actions))

    def below(self, prefix: str) -> "EndpointPattern":
        """Return the same endpoint for an `include` that matches `prefix`."""
        return EndpointPattern(self.path, self.viewset, self.actions, prefix)

    def declared(self, method: str) -> Endpoint:
        """Return the declaration of the action that an HTTP method (lower case) runs."""
        return self.viewset.endpoints[self.actions[method]]

    def access(self, method: str) -> Access:
        """Return the access of the action that an HTTP method (lower case) runs."""
        return self.declared(method).access


def endpoint(path: str, viewset: type[ApiViewSet], actions: Mapping[str, str]) -> EndpointPattern:
    """Return a path of the API: `path` has no slashes at its ends, `actions` maps HTTP methods in lower case to names of
    actions. A path that takes PUT takes PATCH as well. Raises ImproperlyConfigured for an action that is missing or not
    declared.
    """
    if path != path.strip("/"):
        raise ImproperlyConfigured(f"{path}: no slashes at the ends")
    return EndpointPattern(path, viewset, actions)


def endpoints(patterns: Iterable[URLPattern | URLResolver]) -> list[EndpointPattern]:
    """Return the endpoints among URL patterns, including those of included URL modules; the tests iterate over them."""
    found: list[EndpointPattern] = []
    for pattern in patterns:
        if isinstance(pattern, EndpointPattern):
            found.append(pattern)
        elif isinstance(pattern, URLResolver):
            found += endpoints(pattern.url_patterns)
    return found


def upload_limits(patterns: Iterable[URLPattern | URLResolver]) -> Callable[[str, str], int | None]:
    """Return a function that returns the size limit of the body, in bytes, for a method and a path; None for the default limit.

    Endpoints declare `max_body`; the view function of a page has an attribute of this name, which applies to POST.
    """
    found: list[tuple[str, Callable[[str], Any], int]] = [
        (method.upper(), _EndpointRoute(pattern.path, is_endpoint=True).match, pattern.declared(method).max_body)
        for pattern in endpoints(patterns)
        for method in pattern.actions
        if pattern.declared(method).max_body > DEFAULT_MAX_BODY
    ]
    found += [
        ("POST", re.compile(regex).match, pattern.callback.max_body)  # type: ignore[attr-defined]  # set by `takes`
        for regex, pattern in _pages(patterns)
        if getattr(pattern.callback, "max_body", 0) > DEFAULT_MAX_BODY
    ]

    def limit(method: str, path: str) -> int | None:
        for wanted, matches, size in found:
            if method == wanted and matches(path.removeprefix("/")) is not None:
                return size
        return None

    return limit


def _pages(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> list[tuple[str, URLPattern]]:
    """Return the pages, including those of the admin, as pairs: the regular expression for the whole path, and the pattern."""
    found: list[tuple[str, URLPattern]] = []
    for pattern in patterns:
        regex = prefix + pattern.pattern.regex.pattern.removeprefix("^")
        if isinstance(pattern, URLResolver):
            found += _pages(pattern.url_patterns, regex)
        elif not isinstance(pattern, EndpointPattern):
            found.append((regex, pattern))
    return found


@csrf_exempt
def unknown_path(request: HttpRequest) -> HttpResponseBase:
    """Return a 404 in JSON for every unknown path under /api, with or without a token."""
    return NowhereViewSet().dispatch(request)


def api_urls(*modules: str) -> list[URLPattern | URLResolver]:
    """Return the endpoints under `api/` of URL modules, as one entry of `urlpatterns`, to be tried first.

    Endpoints whose paths share the first three segments are behind one `include`, because Django tries patterns one after the
    other. The busiest groups come first, then the largest. Paths with fixed segments are tried before paths with parameters.
    Raises ImproperlyConfigured for a path declared twice.
    """
    found = [pattern for pattern in endpoints(_patterns(modules)) if pattern.path.startswith(_API)]
    if len({pattern.path for pattern in found}) < len(found):
        raise ImproperlyConfigured("a path of the API is declared twice")
    groups: dict[str, list[EndpointPattern]] = {}
    for pattern in sorted(found, key=lambda one: [part.startswith("<") for part in one.path.split("/")]):
        groups.setdefault("/".join(pattern.path.split("/")[:3]), []).append(pattern)
    tried: list[URLPattern | URLResolver] = []
    for prefix, group in sorted(groups.items(), key=lambda item: (item[0] not in _BUSIEST, -len(item[1]))):
        if len(group) < _SMALLEST_GROUP:
            tried += [pattern.below(_API) for pattern in group]
        else:
            tried.append(path(prefix.removeprefix(_API), include([pattern.below(prefix) for pattern in group])))
    return [path(_API, include(tried))]


def other_urls(*modules: str) -> list[URLPattern | URLResolver]:
    """Return the other patterns of URL modules, in order, and `unknown_path` for all other paths under `api/`."""
    others = [one for one in _patterns(modules) if not (isinstance(one, EndpointPattern) and one.path.startswith(_API))]
    return [*others, path("api", unknown_path), URLPattern(RoutePattern(_API), unknown_path)]


def _patterns(modules: Iterable[str]) -> list[URLPattern | URLResolver]:
    return [pattern for name in modules for pattern in import_module(name).urlpatterns]
