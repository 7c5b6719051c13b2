"""The router of the API, which resolves a path in a time that does not grow with the number of paths.

    urlpatterns = [
        endpoint("api/v1/bookmarks", BookmarksViewSet, {"get": "list"}),
        endpoint("api/v1/statuses/<id>/bookmark", StatusesViewSet, {"post": "bookmark"}),
    ]

A trailing slash is accepted on every path, without a redirect (clients.md, trap 15), and several slashes count as one; a
suffix such as `.json` is not accepted (contract, behaviours section 3). `<id>` and `<..._id>` are ids, any other `<name>`
is one segment of text. One `ApiRouter("accounts.urls", ...)` holds the endpoints of all apps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

from social.api.access import Access
from social.api.declarations import Endpoint
from social.api.parsers import DEFAULT_MAX_BODY
from social.api.viewsets import ApiViewSet, NowhereViewSet

_PARAMETER = re.compile(r"<([a-z_]+)>\Z")


class EndpointPattern(URLPattern):
    """Django URL pattern that also holds the declaration of its endpoint."""

    def __init__(self, path: str, viewset: type[ApiViewSet], actions: Mapping[str, str]) -> None:
        self.path = path
        self.viewset = viewset
        self.actions = dict(actions)
        if "put" in self.actions:
            # Clients use both PUT and PATCH for a change (contract, parameters section 0).
            self.actions.setdefault("patch", self.actions["put"])
        super().__init__(RegexPattern(_regex(path), is_endpoint=True), viewset.as_view(self.actions))

    def declared(self, method: str) -> Endpoint:
        """The declaration of the action that an HTTP method (lower case) runs."""
        return self.viewset.endpoints[self.actions[method]]

    def access(self, method: str) -> Access:
        """The access of the action that an HTTP method (lower case) runs."""
        return self.declared(method).access


def endpoint(path: str, viewset: type[ApiViewSet], actions: Mapping[str, str]) -> EndpointPattern:
    """A path of the API: `path` has no slashes at its ends, `actions` maps HTTP methods in lower case to names of actions.

    A path that takes PUT takes PATCH as well. Raises ImproperlyConfigured for an action that is missing or not declared.
    """
    if path != path.strip("/"):
        raise ImproperlyConfigured(f"{path}: no slashes at the ends")
    return EndpointPattern(path, viewset, actions)


def endpoints(patterns: Iterable[URLPattern | URLResolver]) -> list[EndpointPattern]:
    """The endpoints among URL patterns, also those of included URL modules; the tests iterate over them."""
    found: list[EndpointPattern] = []
    for pattern in patterns:
        if isinstance(pattern, EndpointPattern):
            found.append(pattern)
        elif isinstance(pattern, URLResolver):
            found += endpoints(pattern.url_patterns)
    return found


def upload_limits(patterns: Iterable[URLPattern | URLResolver]) -> Callable[[str, str], int | None]:
    """Return a function that takes a method and a path and returns the body's size limit in bytes, or None for the default.

    Endpoints declare `max_body`; the view function of a page has an attribute of this name, which applies to POST.
    """
    found = [
        (method.upper(), re.compile("/" + _regex(pattern.path).removeprefix("^")), pattern.declared(method).max_body)
        for pattern in endpoints(patterns)
        for method in pattern.actions
        if pattern.declared(method).max_body > DEFAULT_MAX_BODY
    ]
    found += [
        ("POST", re.compile("/" + regex), pattern.callback.max_body)  # type: ignore[attr-defined]  # set by `takes`
        for regex, pattern in _pages(patterns)
        if getattr(pattern.callback, "max_body", 0) > DEFAULT_MAX_BODY
    ]

    def limit(method: str, path: str) -> int | None:
        for wanted, regex, size in found:
            if method == wanted and regex.match(path):
                return size
        return None

    return limit


def _pages(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> list[tuple[str, URLPattern]]:
    """The pages, also of the admin, as pairs of the regular expression of the whole path and the pattern."""
    found: list[tuple[str, URLPattern]] = []
    for pattern in patterns:
        regex = prefix + pattern.pattern.regex.pattern.removeprefix("^")
        if isinstance(pattern, URLResolver):
            found += _pages(pattern.url_patterns, prefix if isinstance(pattern, ApiRouter) else regex)
        elif not isinstance(pattern, EndpointPattern):
            found.append((regex, pattern))
    return found


def unknown_path(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
    """A 404 in JSON, for every unknown path under /api, with and without a token."""
    return NowhereViewSet().dispatch(request)


unknown_path.csrf_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware


@dataclass(slots=True)
class _Node:
    fixed: dict[str, _Node] = field(default_factory=dict)
    any: _Node | None = None
    ends: list[EndpointPattern] = field(default_factory=list)
    match: tuple[Callable[..., HttpResponseBase], tuple[str, ...], str] | None = None
    whole: ResolverMatch | None = None
    """The result for a path without parameters, created once."""


class ApiRouter(URLResolver):
    """Entry of `urlpatterns` that holds the endpoints of all apps in a tree of path segments.

    `modules`: names of URL modules. Their other patterns (pages) are matched in order after the endpoints. All other paths
    under `api/` are answered by `unknown_path`.
    """

    def __init__(self, *modules: str) -> None:
        self.modules = modules
        super().__init__(RegexPattern(""), "")

    @cached_property
    def url_patterns(self) -> list[URLPattern | URLResolver]:
        """The patterns of all modules, in order."""
        return [pattern for module in self.modules for pattern in import_module(module).urlpatterns]

    @cached_property
    def _tree(self) -> _Node:
        root = _Node()
        for pattern in endpoints(self.url_patterns):
            node = root
            for segment in pattern.path.split("/"):
                if _PARAMETER.match(segment):
                    node.any = node.any or _Node()
                    node = node.any
                else:
                    node = node.fixed.setdefault(segment, _Node())
            node.ends.append(pattern)
            node.match = _match(node.ends)
        return root

    @cached_property
    def _pages(self) -> list[URLPattern | URLResolver]:
        return [pattern for pattern in self.url_patterns if not isinstance(pattern, EndpointPattern)]

    def resolve(self, path: str) -> ResolverMatch:
        """The view of a path. Raises Resolver404 if there is none, so that Django tries the patterns after this one."""
        path = str(path)
        segments = path.split("/")
        found_here = self._endpoint(segments)
        if found_here is not None:
            return found_here
        for pattern in self._pages:
            try:
                found = pattern.resolve(path)
            except Resolver404:
                continue
            if found:
                return found
        if segments[0] == "api":
            return _matched(unknown_path, {}, "api/")
        raise Resolver404({"path": path, "tried": []})

    def find(self, path: str) -> ResolverMatch | None:
        """The endpoint of a path; None if the path has no endpoint."""
        return self._endpoint(path.split("/"))

    def _endpoint(self, segments: list[str]) -> ResolverMatch | None:
        if segments[0] == "api":
            # Several slashes count as one, as in Mastodon's router, and slashes at the end are ignored.
            segments = [segment for segment in segments if segment]
        elif segments[-1] == "" and len(segments) > 1:
            segments = segments[:-1]
        values: list[str] = []
        node = _find(self._tree, segments, 0, values)
        if node is None or node.match is None:
            return None
        if node.whole is not None:
            return node.whole
        view, names, route = node.match
        found = _matched(view, dict(zip(names, values, strict=True)), route)
        if not names:
            node.whole = found
        return found


@lru_cache(maxsize=4)
def _router(urlconf: str) -> ApiRouter | None:
    return next((found for found in get_resolver(urlconf).url_patterns if isinstance(found, ApiRouter)), None)


def find_endpoint(path: str) -> ResolverMatch | None:
    """The endpoint of an absolute path; None if the path has no endpoint.

    Faster than Django's resolver, which first tries every URL pattern listed before the router's and takes four times
    as long.
    """
    router = _router(settings.ROOT_URLCONF)
    return router.find(path[1:]) if router is not None else None


def _matched(view: Callable[..., HttpResponseBase], values: dict[str, str], route: str) -> ResolverMatch:
    return ResolverMatch(view, (), values, route=route, tried=[], captured_kwargs=values, extra_kwargs={})


def _find(node: _Node, segments: Sequence[str], index: int, values: list[str]) -> _Node | None:
    if index == len(segments):
        return node if node.match is not None else None
    segment = segments[index]
    inner = node.fixed.get(segment)
    if inner is not None:
        found = _find(inner, segments, index + 1, values)
        if found is not None:
            return found
    if node.any is not None and segment:
        values.append(segment)
        found = _find(node.any, segments, index + 1, values)
        if found is not None:
            return found
        values.pop()
    return None


def _match(ends: Sequence[EndpointPattern]) -> tuple[Callable[..., HttpResponseBase], tuple[str, ...], str]:
    first = ends[0]
    names = _names(first.path)
    if len(ends) == 1:
        return first.callback, names, first.path
    if any(_names(other.path) != names for other in ends):
        raise ImproperlyConfigured(f"{first.path}: its parameters have two sets of names")
    by_method: dict[str, EndpointPattern] = {}
    for pattern in ends:
        for method in pattern.actions:
            if by_method.setdefault(method, pattern) is not pattern:
                raise ImproperlyConfigured(f"{method.upper()} {pattern.path} is declared twice")

    def shared(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        method = (request.method or "").lower()
        method = "get" if method == "head" else method
        view: Callable[..., HttpResponseBase] = by_method.get(method, first).callback
        return view(request, **kwargs)

    shared.csrf_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware
    return shared, names, first.path


def _names(path: str) -> tuple[str, ...]:
    return tuple(found[1] for found in map(_PARAMETER.match, path.split("/")) if found is not None)


def _regex(path: str) -> str:
    parts = []
    for segment in path.split("/"):
        parameter = _PARAMETER.match(segment)
        parts.append(f"(?P<{parameter[1]}>[^/]+?)" if parameter else re.escape(segment))
    return "^" + "/".join(parts) + r"/?\Z"
