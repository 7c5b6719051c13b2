"""Tests of the rules for all endpoints: a test module only declares how to create the data for each of its endpoints.

    def three_bookmarks(callers, size):                       # called with 2 and with 20
        ...
        return Scene(ids={"id": status.id}, foreign={"id": private_of_another.id})

    ROWS = [
        Row("GET api/v1/bookmarks", bookmarks),
        Row("POST api/v1/statuses/<id>/bookmark", one_status),
    ]
    test_promises = battery(ROWS)

`battery` creates a few tests per row, for the rules that follow from the declaration of the viewset. It needs a fixture
`callers` (see `CallerTokens`). Another test checks that every endpoint has a row in a file `test_battery*.py`.
`every_access(urlconf)` creates the tests of access for all endpoints of a URL configuration, without rows.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from social.api.access import AccessKind as Kind
from social.api.declarations import Endpoint
from social.api.pagination import ByOffset
from tests.support.access_checks import (
    NOBODYS_ID,
    CallerTokens,
    Row,
    Scene,
    ask,
    every_access,
    fill,
    find_endpoint,
    keeps_its_access,
    routed,
    seen,
    send,
    token_for,
)
from tests.support.answers import check_answer
from tests.support.entities import check

__all__ = ["CallerTokens", "Row", "Scene", "ask", "battery", "every_access", "find_endpoint", "promises", "without_row"]

Promise = Callable[[Row, Any], Any]
_SIZES = (2, 10)
# The page size: a list of the larger size has three pages.
_LIMIT = 4


def without_row(rows: Iterable[Row]) -> list[str]:
    """Return the endpoints of the current URL configuration that have no row."""
    spoken_of = {row.endpoint for row in rows}
    return [name for name in routed(settings.ROOT_URLCONF) if name not in spoken_of]


def battery(rows: Sequence[Row], urlconf: str = "social.urls") -> Callable[..., None]:
    """Return a test function with one case per row and group of checks; `urlconf` names the module with the endpoints' URLs."""
    declared = {name: pattern.declared(name.partition(" ")[0].lower()) for name, pattern in routed(urlconf).items()}
    unknown = [row.endpoint for row in rows if row.endpoint not in declared]
    assert not unknown, f"not routed: {unknown}"
    # An action behind two methods (PUT and PATCH) has the same code and the same declaration.
    first = {id(declaration): endpoint for endpoint, declaration in reversed(declared.items())}
    cases = [
        pytest.param(row, promise, id=f"{row.endpoint}: {name}")
        for row in rows
        for name, promise in promises(row, declared[row.endpoint])
        if promise is not bad_values_are_no_error_of_the_server or first[id(declared[row.endpoint])] == row.endpoint
    ]

    @pytest.mark.django_db
    @pytest.mark.parametrize(("row", "promise"), cases)
    def test_promise(row: Row, promise: Promise, callers: Any, settings: Any) -> None:
        for name, value in row.settings.items():
            setattr(settings, name, value)
        promise(row, callers)

    checked: Callable[..., None] = test_promise
    return checked


def promises(row: Row, declared: Endpoint) -> list[tuple[str, Promise]]:
    """Return the checks that apply to a row; checks that can share a scene are combined, because creating scenes is slow."""
    found: list[tuple[str, Promise]] = [("keeps its callers", keeps_its_access)]
    if row.parameters():
        found.append(("an id that is nobody's, none or not one's own is not found", wrong_ids_are_not_found))
    if declared.parameters:
        found.append(("wrong and long values are no error of the server", bad_values_are_no_error_of_the_server))
    if row.method not in ("get", "head"):
        found.append(("answers with its entity and may be repeated", may_be_repeated))
    flat = row.flat is not False and (declared.many or declared.paging is not None or row.flat)
    if flat and declared.paging is not None:
        found.append(
            ("lists its entity, at the same cost for 10 as for 2, each once over all pages", is_flat_over_pages)
        )
    elif flat:
        found.append(("answers with its entity, at the same cost for 10 as for 2", is_flat))
    elif declared.paging is not None:
        found.append(("shows each item once over all pages", shows_each_item_once))
    if not flat and row.method in ("get", "head"):
        found.append(("answers with its entity", answers_with_its_entity))
    return found


def wrong_ids_are_not_found(row: Row, callers: Any) -> None:
    """Run the three checks of ids."""
    scene = row.scene(callers, _SIZES[0])
    an_unknown_id_is_not_found(row, callers, scene)
    what_is_no_id_is_not_found(row, callers, scene)
    what_is_foreign_is_not_found(row, callers, scene)


def an_unknown_id_is_not_found(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """For each id of the path, an unknown id gets 404."""
    scene = scene or row.scene(callers, _SIZES[0])
    token = token_for(row, callers, scene)
    for name in row.parameters():
        response = send(row, _with_ids(scene, {name: NOBODYS_ID}), token=token)
        assert response.status_code == row.missing_is, f"{name}: {seen(row, response)}"


def what_is_no_id_is_not_found(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """Letters, signs, fractions, suffixes and numbers beyond 64 bits in place of an id get 404."""
    scene = scene or row.scene(callers, _SIZES[0])
    token = token_for(row, callers, scene)
    for name in row.parameters():
        for wrong in ("abc", "-1", "1.5", f"{scene.ids.get(name, 1)}.json", "99999999999999999999", "%00"):
            response = send(row, _with_ids(scene, {name: wrong}), token=token)
            assert response.status_code == 404, f"{name}={wrong}: {seen(row, response)}"
            check("Error", response.json())


def what_is_foreign_is_not_found(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """An object that the caller cannot access gets 404 with the same body as an unknown id (security rows 19 and 20)."""
    scene = scene or row.scene(callers, _SIZES[0])
    if scene.foreign is None:
        return  # the module that declares the row gives the reason why foreign objects are not checked
    token = token_for(row, callers, scene)
    foreign = send(row, _with_ids(scene, scene.foreign), token=token)
    unknown = send(row, _with_ids(scene, dict.fromkeys(scene.foreign, NOBODYS_ID)), token=token)
    assert foreign.status_code == row.missing_is, seen(row, foreign)
    assert foreign.content == unknown.content


def _with_ids(scene: Scene, ids: Mapping[str, Any]) -> Scene:
    return replace(scene, ids={**scene.ids, **ids})


def answers_with_its_entity(row: Row, callers: Any) -> None:
    """The response is 2xx, JSON in UTF-8, the declared entity, with string ids; `Link` only where pages are declared."""
    scene = row.scene(callers, _SIZES[0])
    _is_as_declared(row, send(row, scene, token=token_for(row, callers, scene)))


def _is_as_declared(row: Row, response: Any) -> None:
    declared = row.declared
    if row.refused_with is not None:
        assert response.status_code == row.refused_with, seen(row, response)
        check("Error", response.json())
        return
    assert 200 <= response.status_code < 400, seen(row, response)
    assert declared.links or "Link" not in response.headers, response.headers
    if declared.entity is None:
        assert not response.content, seen(row, response)
        return
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    body = response.json()
    check_answer(declared, body, of_user=row.access.kind is Kind.USER)
    assert body or not declared.many, "the scene contains no item"


_WRONG: tuple[Any, ...] = ([["x"]], {"a": {"b": 1}}, 10**25, "a\0b\ud800")
_LONG: tuple[Any, ...] = ("x" * 100_000, ["9" * 30] * 1000)
_ODD: tuple[Any, ...] = (-1, True, None, "x", "", [], {})


def bad_values_are_no_error_of_the_server(row: Row, callers: Any) -> None:
    """Run the two checks of values."""
    scene = row.scene(callers, _SIZES[0])
    wrong_types_are_no_error_of_the_server(row, callers, scene)
    long_values_are_no_error_of_the_server(row, callers, scene)


def wrong_types_are_no_error_of_the_server(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """A request with any parameter replaced by a list, an object, a huge number or text that cannot be stored is answered
    with 2xx, or with 4xx and an error.
    """
    _bear(row, callers, scene, _WRONG, _ODD)


def long_values_are_no_error_of_the_server(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """A request with an extremely long value of any parameter is answered with 2xx, or with 4xx and an error."""
    _bear(row, callers, scene, _LONG)


def _bear(row: Row, callers: Any, scene: Scene | None, each: Sequence[Any], together: Sequence[Any] = ()) -> None:
    """Send a request for every pair of a parameter and a value in `each`, and, for every value in `together`, a request in
    which all parameters have this value.
    """
    scene = scene or row.scene(callers, _SIZES[0])
    path, token = fill(row.path, scene.ids), token_for(row, callers, scene)
    in_query = row.method in ("get", "head", "delete")
    names = sorted(row.declared.parameters)
    cases = [([name], value) for name in names for value in each] + [(names, value) for value in together]
    for replaced, value in cases:
        params = {key: kept for key, kept in scene.params.items() if key.partition("[")[0] not in replaced}
        for name in replaced:
            params |= _spelled(name, value) if in_query else {name: value}
        response = ask(row.method, path, params, token=token)
        assert response.status_code < 500, f"{replaced}={str(value)[:50]!r}: {seen(row, response)}"
        if response.status_code >= 400 and response.content:
            check("Error", response.json())


def _spelled(name: str, value: Any) -> dict[str, Any]:
    """Return a value as query parameters."""
    if isinstance(value, dict):
        return {f"{name}[a][b]": 1}
    if isinstance(value, list):
        return {f"{name}[]": value[:100]}
    if isinstance(value, str):
        return {name: value[:8000].encode("utf-8", "surrogatepass")}
    return {name: "" if value is None else value}


def may_be_repeated(row: Row, callers: Any) -> None:
    """Run `answers_with_its_entity`, and check that a repeated request gets 2xx or 4xx."""
    scene = row.scene(callers, _SIZES[0])
    token = token_for(row, callers, scene)
    first, second = (send(row, scene, token=token) for _time in range(2))
    _is_as_declared(row, first)
    assert second.status_code < 500, seen(row, second)
    if row.method in ("put", "patch"):
        assert second.status_code == (row.again_is or first.status_code), seen(row, second)


def is_flat_over_pages(row: Row, callers: Any) -> None:
    """Run `is_flat` and `shows_each_item_once` with one scene."""
    shows_each_item_once(row, callers, is_flat(row, callers))


def is_flat(row: Row, callers: Any) -> Scene:
    """Check that the number of queries does not depend on the number of rows, and return the larger scene."""
    counts = {}
    for size in _SIZES:
        scene = row.scene(callers, size)
        token = token_for(row, callers, scene)
        whole = replace(scene, params={**scene.params, "limit": 40}) if row.declared.paging is not None else scene
        _is_as_declared(row, send(row, scene, token=token))
        send(row, whole, token=token)  # this request loads values that are cached per process
        with CaptureQueriesContext(connection) as captured:
            response = send(row, whole, token=token)
        assert 200 <= response.status_code < 300, seen(row, response)
        counts[size] = [query["sql"] for query in captured.captured_queries]
    few, many = (counts[size] for size in _SIZES)
    extra = "\n".join(sql[:300] for sql in many if sql not in few)
    assert len(few) == len(many), f"{len(few)} queries for {_SIZES[0]} rows, {len(many)} for {_SIZES[1]}:\n{extra}"
    return scene


def shows_each_item_once(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """Following `next` shows every item once, newest first; following `prev` shows them again."""
    scene = scene or row.scene(callers, _SIZES[1])
    token, path = token_for(row, callers, scene), fill(row.path, scene.ids)
    paging = row.declared.paging
    assert paging is not None
    whole = row.items(ask(row.method, path, {**scene.params, "limit": 40}, token=token).json())
    expected = [row.identify(item) for item in whole]
    assert len(set(expected)) == len(expected) >= _SIZES[1], f"{len(expected)} items of a scene of {_SIZES[1]}"
    if isinstance(paging, ByOffset):
        shown = []
        for offset in range(0, len(expected) + _LIMIT, _LIMIT):
            response = ask(row.method, path, {**scene.params, "limit": _LIMIT, "offset": offset}, token=token)
            page = row.items(response.json())
            assert ("next" in _links(response)) == (paging.links and len(page) == _LIMIT), seen(row, response)
            shown += [row.identify(item) for item in page]
        assert shown == expected
        return
    forward, last = _walk(row, path, {**scene.params, "limit": _LIMIT}, "next", token)
    assert [row.identify(item) for page in forward for item in page] == expected
    assert all(len(page) <= _LIMIT for page in forward)
    link = _links(last).get("prev")
    assert link is not None, "a page that is not empty has a prev link"
    assert f"{paging.prev}=" in link, link
    if paging.prev == "min_id":
        backward, _last = _walk(row, link, {}, "prev", token)
        known = [row.identify(item) for page in backward for item in page]
        assert sorted(map(str, known)) == sorted(map(str, expected[: len(expected) - len(forward[-1])]))


def _walk(row: Row, path: str, params: Mapping[str, Any], rel: str, token: str | None) -> tuple[list[list[Any]], Any]:
    pages: list[list[Any]] = []
    response = last = ask(row.method, path, params, token=token)
    while True:
        body = row.items(response.json())
        if not body:
            assert "Link" not in response.headers, "an empty page has no Link header"
            return pages, last
        pages.append(body)
        last = response
        assert len(pages) < 50, "the links form a loop"
        link = _links(response).get(rel)
        if link is None:
            return pages, last
        response = ask(row.method, link, token=token)


def _links(response: Any) -> dict[str, str]:
    """Return the paths with queries in a Link header, keyed by relation."""
    found = {}
    for url, rel in re.findall(r'<([^>]+)>; rel="([^"]+)"', response.headers.get("Link", "")):
        parts = urlsplit(url)
        assert parts.netloc, f"{url} is not absolute"
        found[rel] = f"{parts.path}?{parts.query}"
    return found
