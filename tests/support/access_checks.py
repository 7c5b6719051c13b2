"""Checks of access for the battery: refused callers, statuses, and the order of the checks.

The battery adds checks of objects and bodies; test modules of endpoints import `Row` and `Scene` from `tests.support.battery`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import pytest
from django.conf import settings
from django.test import Client

from social.api.access import Access
from social.api.access import AccessKind as Kind
from social.api.declarations import Endpoint
from social.api.routing import EndpointPattern, endpoints
from social.api.scopes import SCOPES
from tests.support.entities import check

NOBODYS_ID = 9_000_000_000_000_000_000
_PARAMETER = re.compile(r"<([a-z_]+)>")
_NOT_A_USER = (Kind.ANYONE, Kind.OPTIONAL_USER, Kind.ANY_TOKEN, Kind.APP_TOKEN)


class CallerTokens(Protocol):
    """The source of tokens, which tests that use the battery provide as a fixture. The users stay the same during a test."""

    def user_token(self, *scopes: str) -> str:
        """Return a token of the main user, with every scope if none is given."""
        ...

    def other_user_token(self, *scopes: str) -> str:
        """Return a token of an unrelated user."""
        ...

    def app_token(self, *scopes: str) -> str:
        """Return an application's own token."""
        ...


@dataclass(frozen=True)
class Scene:
    """The data with which an endpoint returns 2xx to the main user.

    `ids`: values of the path's parameters. `params`: parameters of the request, sent as JSON by methods with a body and
    otherwise in the query. `foreign`: path parameters of existing objects for which the main user must get 404. `token`: the
    token of the request, if the data belongs to a certain token.
    """

    ids: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    foreign: Mapping[str, Any] | None = None
    token: str | None = None


Setting = Callable[[Any, int], Scene]


@dataclass(frozen=True)
class Row:
    """An endpoint (`METHOD path`, as routed) and its scene; the checks follow from the declaration of its viewset.

    `items`: the list in its body, `identify`: the key that identifies an item. `flat`: whether queries are counted; by default
    they are if the response is a list. `missing_is`: the status for an unknown id if it is not 404. `again_is`: the status of a
    repeated PUT or PATCH if it differs from the first one. `refused_with`: the status of every response if this server lacks
    something that the endpoint needs. `settings`: Django settings of its scene.
    """

    endpoint: str
    scene: Setting
    items: Callable[[Any], list[Any]] = list
    identify: Callable[[Any], Any] = lambda item: item["id"]
    flat: bool | None = None
    missing_is: int = 404
    again_is: int | None = None
    refused_with: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Return the HTTP method in lower case."""
        return self.endpoint.partition(" ")[0].lower()

    @property
    def path(self) -> str:
        return self.endpoint.partition(" ")[2]

    @property
    def declared(self) -> Endpoint:
        """Return the viewset's declaration of the endpoint, found through the current URL configuration."""
        return find_endpoint(self.endpoint).declared(self.method)

    @property
    def access(self) -> Access:
        return self.declared.access

    def parameters(self) -> list[str]:
        """Return the names of the path's ids."""
        return [name for name in _PARAMETER.findall(self.path) if name == "id" or name.endswith("_id")]


def find_endpoint(name: str) -> EndpointPattern:
    """Return the endpoint `METHOD path` of the current URL configuration; fail if there is none."""
    found = routed(settings.ROOT_URLCONF).get(name)
    assert found is not None, f"{name} is not routed"
    return found


@cache
def routed(urlconf: str) -> dict[str, EndpointPattern]:
    """Return the endpoints of a URL configuration, keyed by `METHOD path`."""
    patterns = endpoints(import_module(urlconf).urlpatterns)
    return {f"{method.upper()} {pattern.path}": pattern for pattern in patterns for method in pattern.actions}


def reading_routes(path: str, *kinds: Kind) -> tuple[str, ...]:
    """Return the paths, relative to `path`, of the GET endpoints below it that have one of these kinds of access (by default
    any).
    """
    found = tuple(
        each.path.removeprefix(path)
        for name, each in routed("social.urls").items()
        if name.startswith(f"GET {path}") and each.access("get").kind in (kinds or Kind)
    )
    assert found, f"no such GET endpoint below {path}"
    return found


def ask(method: str, path: str, params: Mapping[str, Any] | None = None, *, token: str | None = None) -> Any:
    """Send a request, with `params` in the query for GET, HEAD and DELETE, and as JSON otherwise."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = Client()
    if method in ("get", "head", "delete"):
        return client.generic(method.upper(), path, headers=headers, query_params=dict(params or {}))
    send = getattr(client, method)
    return send(path, dict(params or {}), content_type="application/json", headers=headers)


def every_access(urlconf: str) -> Callable[..., None]:
    """Return a test function with one case per endpoint, which runs all access checks with ids that do not exist."""

    @pytest.mark.django_db
    @pytest.mark.parametrize("endpoint", routed(urlconf))
    def test_access(endpoint: str, callers: Any) -> None:
        keeps_its_access(Row(endpoint, nothing), callers)

    checked: Callable[..., None] = test_access
    return checked


def keeps_its_access(row: Row, callers: Any) -> None:
    """Run all checks of access with one scene."""
    scene = row.scene(callers, 2)
    for promise in of_callers(row.access):
        promise(row, callers, scene)


def a_stranger_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """Without a token: 401 with a challenge (403 on moderators' endpoints), and no information about the object."""
    status = 403 if row.access.kind is Kind.STAFF else 401
    for response in _refused(row, scene, status, token=None):
        if status == 401:
            assert response.headers.get("WWW-Authenticate", "").startswith("Bearer"), response.headers


def a_stranger_is_welcome(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """Without a token: neither 401 nor 403, unless OAuth requires an application's own credentials."""
    response = send(row, scene, token=None)
    if response.status_code in (401, 403):
        assert response.json()["error"] == "invalid_client", seen(row, response)


def a_wrong_token_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """An unknown token gets 401, or 403 on moderators' endpoints."""
    _refused(row, scene, 403 if row.access.kind is Kind.STAFF else 401, token="nobody-gave-this-out")


def a_wrong_token_counts_as_none(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """An unknown token, where none is needed: the same response as without one."""
    response, without = send(row, scene, token="nobody-gave-this-out"), send(row, scene, token=None)
    assert response.status_code == without.status_code, seen(row, response)


def a_narrow_token_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """A token with every scope except those that the endpoint accepts: 403."""
    others = [scope for scope in SCOPES if scope not in row.access.sufficient_scopes]
    make_token = callers.app_token if row.access.kind is Kind.APP_TOKEN else callers.user_token
    for response in _refused(row, scene, 403, token=make_token(*others)):
        assert "scope" in response.json()["error"], response.json()


def a_role_without_the_permission_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """A user without a role, with a sufficient scope: 403, and no information about the object."""
    _refused(row, scene, 403, token=callers.other_user_token(*row.access.scopes))


def an_application_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """An application's own token, where a user is needed, gets 422, or 403 on moderators' endpoints."""
    status = 403 if row.access.kind is Kind.STAFF else 422
    _refused(row, scene, status, token=callers.app_token(*row.access.sufficient_scopes))


def a_user_is_refused(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """A user's token where only an application's own token is accepted: 403."""
    _refused(row, scene, 403, token=callers.user_token(*row.access.sufficient_scopes))


def each_scope_opens(row: Row, callers: Any, scene: Scene | None = None) -> None:
    """Each of the declared scopes, or a parent of one, is sufficient."""
    by_application = row.access.kind is Kind.APP_TOKEN or (
        # If the data belongs to a certain token, this is the token of a user.
        row.access.kind is Kind.ANY_TOKEN and (scene is None or scene.token is None)
    )
    make_token = callers.app_token if by_application else callers.user_token
    for scope in sorted(row.access.sufficient_scopes):
        response = send(row, scene, token=make_token(scope))
        if response.status_code == 401 and by_application:
            # The endpoint accepts application tokens, but this action needs a user.
            response = send(row, scene, token=callers.user_token(scope))
        refused = response.status_code == 403 and "scope" in str(response.json().get("error"))
        assert not refused, f"{scope}: {seen(row, response)}"
        assert response.status_code != 401, f"{scope}: {seen(row, response)}"


def of_callers(access: Access) -> list[Callable[..., None]]:
    """Return the checks that apply to a kind of access."""
    found: list[Callable[..., None]] = []
    if access.kind in (Kind.ANYONE, Kind.OPTIONAL_USER):
        found.append(a_stranger_is_welcome)
    else:
        found.append(a_stranger_is_refused)
    if access.kind is Kind.OPTIONAL_USER:
        found.append(a_wrong_token_counts_as_none)
    elif access.kind is not Kind.ANYONE:
        found.append(a_wrong_token_is_refused)
    if access.sufficient_scopes:
        found += [a_narrow_token_is_refused, each_scope_opens]
    if access.kind not in _NOT_A_USER:
        found.append(an_application_is_refused)
    if access.permission is not None:
        found.append(a_role_without_the_permission_is_refused)
    if access.kind is Kind.APP_TOKEN:
        found.append(a_user_is_refused)
    return found


def token_for(row: Row, callers: Any, scene: Scene | None = None) -> str | None:
    """Return a token that the endpoint accepts, with the first declared scope."""
    if scene is not None and scene.token is not None:
        return scene.token
    access = row.access
    scopes = access.scopes[:1]
    if access.kind is Kind.ANYONE:
        return None
    return str(callers.app_token(*scopes) if access.kind is Kind.APP_TOKEN else callers.user_token(*scopes))


def send(row: Row, scene: Scene | None, *, token: str | None) -> Any:
    scene = scene or Scene()
    return ask(row.method, fill(row.path, scene.ids), scene.params, token=token)


def _refused(row: Row, scene: Scene | None, status: int, *, token: str | None) -> list[Any]:
    """Return the responses for existing objects and for unknown ids, with and without parameters.

    All must have this status, since the caller is checked before any object (contract, behaviours section 3).
    """
    responses = [send(row, about, token=token) for about in (scene, None)]
    for response in responses:
        assert response.status_code == status, seen(row, response)
        check("Error", response.json())
    return responses


def fill(path: str, ids: Mapping[str, Any]) -> str:
    return "/" + _PARAMETER.sub(lambda match: str(ids.get(match[1], NOBODYS_ID)), path)


def nothing(callers: Any, size: int) -> Scene:
    return Scene()


def seen(row: Row, response: Any) -> str:
    return f"{row.endpoint} answered {response.status_code} {response.content[:300]!r}"
