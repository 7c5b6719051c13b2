"""Tests of access: which callers are admitted, and the order of the checks (contract, behaviours sections 3 and 5)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, RequestFactory
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission
from rest_framework.throttling import BaseThrottle

from social.api import access
from social.api.declarations import Endpoint
from social.api.requests import ApiRequest
from social.api.viewsets import ApiViewSet
from tests.api.conftest import Tokens
from tests.api.sample import Duty, TagsViewSet

INVALID = "The access token is invalid"
SCOPE = "This action is outside the authorized scopes"
USER = "This method requires an authenticated user"
DISABLED = "Your login is currently disabled"


def answer(response: Any) -> tuple[int, Any]:
    return response.status_code, response.json().get("error")


def test_a_public_endpoint_accepts_any_token(callers: Tokens, get: Any) -> None:
    assert get("/api/v1/access/public").status_code == 200
    for token in ("wrong", callers.user_token("push", suspended=True)):
        assert get("/api/v1/access/public", token=token).status_code == 200
    assert get("/api/v1/access/public", token=callers.user_token("push")).json()["user"] == 1


def test_a_valid_token_sent_to_an_optional_endpoint_must_have_the_scope_and_an_unknown_one_counts_as_none(
    callers: Tokens, get: Any
) -> None:
    assert get("/api/v1/access/optional").status_code == 200
    assert get("/api/v1/access/optional", token="wrong").json()["user"] is None
    assert answer(get("/api/v1/access/optional", token=callers.user_token("write"))) == (403, SCOPE)
    assert get("/api/v1/access/optional", token=callers.app_token("read")).status_code == 200


def test_a_missing_or_wrong_token_gets_401_with_a_challenge(callers: Tokens, get: Any) -> None:
    for token in (None, "wrong"):
        response = get("/api/v1/access/person", token=token)
        assert answer(response) == (401, INVALID)
        challenge = response.headers["WWW-Authenticate"]
        assert challenge == f'Bearer realm="Social", error="invalid_token", error_description="{INVALID}"'


def test_access_is_checked_in_the_order_token_scope_user_state_object(callers: Tokens, get: Any) -> None:
    """Each failed check hides the results of the checks after it."""
    unconfirmed = {"confirmed": False}
    path = "/api/v1/tags/not-an-id"
    assert answer(get(path, token="wrong"))[0] == 401
    assert answer(get(path, token=callers.app_token("write"))) == (403, SCOPE)
    assert answer(get(path, token=callers.user_token("write", **unconfirmed))) == (403, SCOPE)
    assert answer(get(path, token=callers.app_token("read"))) == (422, USER)
    message = "Your login is missing a confirmed e-mail address"
    assert answer(get(path, token=callers.user_token("read", **unconfirmed))) == (403, message)
    assert answer(get(path, token=callers.user_token("read"))) == (404, "Record not found")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"confirmed": False}, "Your login is missing a confirmed e-mail address"),
        ({"approved": False}, "Your login is currently pending approval"),
        ({"disabled": True}, DISABLED),
        ({"suspended": True}, DISABLED),
        ({"moved": True}, DISABLED),
    ],
)
def test_a_user_who_may_not_act_gets_the_reason(callers: Tokens, get: Any, state: dict[str, Any], message: str) -> None:
    assert answer(get("/api/v1/access/person", token=callers.user_token(**state))) == (403, message)


def test_suspended_users_are_refused_with_any_token_and_disabled_users_where_a_user_is_needed(
    callers: Tokens, get: Any
) -> None:
    for name in ("optional", "anybody", "person", "moderator"):
        assert answer(get(f"/api/v1/access/{name}", token=callers.user_token(suspended=True))) == (403, DISABLED), name
    for name in ("person", "moderator"):
        assert answer(get(f"/api/v1/access/{name}", token=callers.user_token(disabled=True))) == (403, DISABLED), name
    for name in ("public", "optional", "anybody"):
        # Security row 80: users of disabled accounts can use public endpoints, as anonymous visitors.
        assert get(f"/api/v1/access/{name}", token=callers.user_token(disabled=True)).json()["user"] is None, name


def test_unconfirmed_and_unapproved_users_may_use_public_endpoints(callers: Tokens, get: Any) -> None:
    for state in ({"confirmed": False}, {"approved": False}):
        assert get("/api/v1/access/optional", token=callers.user_token(**state)).status_code == 200


def test_any_token_may_read_its_application(callers: Tokens, get: Any) -> None:
    assert get("/api/v1/access/anybody").status_code == 401
    assert get("/api/v1/access/anybody", token=callers.app_token("push")).status_code == 200
    assert get("/api/v1/access/anybody", token=callers.user_token("push")).status_code == 200


def test_sign_up_needs_the_token_of_an_application(callers: Tokens, get: Any) -> None:
    assert get("/api/v1/access/application", token=callers.app_token("write")).status_code == 200
    refused = (403, "This method requires an client credentials authentication")
    assert answer(get("/api/v1/access/application", token=callers.user_token("write"))) == refused
    assert answer(get("/api/v1/access/application", token=callers.app_token("read"))) == (403, SCOPE)


def test_endpoints_for_moderators_answer_403_to_everybody_else(callers: Tokens, get: Any) -> None:
    path = "/api/v1/access/moderator"
    assert answer(get(path)) == (403, "This action is not allowed")
    assert answer(get(path, token="wrong")) == (403, "This action is not allowed")
    assert answer(get(path, token=callers.user_token("read", "write"))) == (403, SCOPE)
    assert answer(get(path, token=callers.app_token("admin:read")))[0] == 403
    assert answer(get(path, token=callers.other_user_token("admin:read"))) == (403, "This action is not allowed")
    assert get(path, token=callers.user_token("admin:read")).status_code == 200


@pytest.mark.parametrize(
    ("name", "scopes", "opens"),
    [
        ("follows", ("write:follows",), True),
        ("follows", ("write",), True),
        ("follows", ("follow",), False),
        ("follows", ("read",), False),
        ("follows", ("write:statuses",), False),
        ("person", ("profile",), True),
        ("person", ("read:accounts",), True),
        ("person", ("follow",), False),
        ("crypto", ("read", "write", "follow", "push"), False),
        ("crypto", ("crypto",), True),
        ("moderator", ("admin:read:reports",), True),
        ("moderator", ("admin:write",), False),
    ],
)
def test_a_parent_scope_gives_the_access_of_its_children(
    callers: Tokens, get: Any, name: str, scopes: tuple[str, ...], opens: bool
) -> None:
    status = get(f"/api/v1/access/{name}", token=callers.user_token(*scopes)).status_code
    assert status == (200 if opens else 403)


def test_a_token_can_be_sent_in_the_header_the_query_or_the_body(callers: Tokens) -> None:
    """Contract, behaviours section 5: Authorization, `access_token`, `bearer_token`."""
    token = callers.user_token()
    client, path = Client(), "/api/v1/access/person"
    assert client.get(path, headers={"Authorization": f"bearer {token}"}).status_code == 200
    for name in ("access_token", "bearer_token"):
        assert client.get(path, {name: token}).status_code == 200
        assert client.post(path, {name: token}).status_code == 200
        assert client.post(path, f"{name}={token}", "application/x-www-form-urlencoded").status_code == 200
        assert client.post(path, {name: token}, "application/json").status_code == 200
    assert client.get(path, {"token": token}).status_code == 401
    assert client.get(path, headers={"Authorization": f"Basic {token}"}).status_code == 401


def test_the_header_wins_over_parameters(callers: Tokens) -> None:
    headers = {"Authorization": f"Bearer {callers.user_token()}"}
    assert Client().get("/api/v1/access/person", {"access_token": "wrong"}, headers=headers).status_code == 200


def test_a_large_body_is_not_searched_for_a_token(callers: Tokens) -> None:
    """The server must not read 8 MB before it knows the caller."""
    body = f"access_token={callers.user_token()}&x={'a' * 1_100_000}"
    response = Client().put("/api/v1/echo/big", body, "application/x-www-form-urlencoded")
    assert response.status_code == 200
    assert callers.asked == []


def test_an_action_without_access_cannot_be_routed() -> None:
    class Forgetful(ApiViewSet):
        def list(self, request: Any) -> Any:
            return []

    with pytest.raises(ImproperlyConfigured, match="is not among its endpoints"):
        Forgetful.as_view({"get": "list"})


def test_declaring_an_unknown_scope_raises_an_error() -> None:
    with pytest.raises(ValueError, match="read:everything"):
        access.user("read:everything")


class NoModerator(BasePermission):
    """A permission that refuses by returning False, as DRF's own permissions do."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return False

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        return False


class UsedUp(BaseThrottle):
    """A throttle that refuses by returning False."""

    def allow_request(self, request: Any, view: Any) -> bool:
        return False


@pytest.fixture
def classes_of_tags(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def replace(**classes: Any) -> None:
        for name, value in classes.items():
            monkeypatch.setattr(TagsViewSet, name, value)

    return replace


@pytest.mark.django_db
def test_a_permission_class_that_returns_false_causes_a_403(callers: Tokens, get: Any, classes_of_tags: Any) -> None:
    assert get("/api/v1/tags").status_code == 200
    classes_of_tags(permission_classes=[NoModerator])
    for token in (None, callers.user_token()):
        refused = get("/api/v1/tags", token)
        assert (refused.status_code, refused.json()) == (403, {"error": "This action is not allowed"})


@pytest.mark.django_db
def test_a_permission_class_does_not_replace_the_declared_access(
    callers: Tokens, get: Any, classes_of_tags: Any
) -> None:
    classes_of_tags(permission_classes=[])
    assert get("/api/v1/tags/index").status_code == 401
    assert get("/api/v1/tags/index", callers.user_token("read:accounts")).status_code == 403


@pytest.mark.django_db
def test_a_permission_class_may_refuse_single_objects(
    callers: Tokens, get: Any, classes_of_tags: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retrieve(self: TagsViewSet, request: Any, id: int) -> dict[str, Any]:
        self.check_object_permissions(request, id)
        return {}

    monkeypatch.setattr(TagsViewSet, "retrieve", retrieve)
    assert get("/api/v1/tags/5", callers.user_token()).status_code == 200

    class NotThisOne(NoModerator):
        def has_permission(self, request: Any, view: Any) -> bool:
            return True

    classes_of_tags(permission_classes=[NotThisOne])
    assert get("/api/v1/tags/5", callers.user_token()).status_code == 403


@pytest.mark.django_db
def test_a_throttle_class_that_returns_false_causes_a_429(callers: Tokens, get: Any, classes_of_tags: Any) -> None:
    classes_of_tags(throttle_classes=[UsedUp])
    assert get("/api/v1/tags").status_code == 429


def test_an_endpoint_for_staff_whose_viewset_cannot_check_roles_admits_nobody(callers: Tokens) -> None:
    class Careless(ApiViewSet):
        endpoints = {"list": Endpoint(access.staff("admin:read:reports", Duty.READ), "Sample")}

        def list(self, request: ApiRequest) -> Any:
            return {"secret": True}

    headers = {"Authorization": f"Bearer {callers.user_token('admin:read')}"}
    answered = Careless.as_view({"get": "list"})(RequestFactory().get("/", headers=headers))
    assert answered.status_code == 500
    assert b"secret" not in answered.content


@pytest.mark.parametrize(
    ("name", "value"),
    [("renderer_classes", []), ("pagination_class", object), ("filter_backends", []), ("queryset", [])],
)
def test_attributes_that_the_declaration_replaces_are_refused_when_the_class_is_made(name: str, value: Any) -> None:
    with pytest.raises(ImproperlyConfigured, match=rf"Careless\.{name} has no effect"):
        type("Careless", (ApiViewSet,), {name: value})


def test_a_decorated_action_of_drf_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"Careless\.extra: @action has no effect"):

        class Careless(ApiViewSet):
            @action(detail=False)
            def extra(self, request: ApiRequest) -> Any:
                return {}
