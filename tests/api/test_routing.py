"""Tests of routing."""

import sys
from types import ModuleType

import pytest
from django.core.checks.urls import check_url_config
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from django.urls.resolvers import get_resolver

from social.api.routing import api_urls, endpoint, endpoints, unknown_path
from social.urls import urlpatterns as project_urls
from tests.api.conftest import Tokens
from tests.api.sample import FailuresViewSet, TagsViewSet


def test_fixed_segments_win_over_parameters() -> None:
    assert resolve("/api/v1/tags/index").kwargs == {}
    assert resolve("/api/v1/tags/5").kwargs == {"id": "5"}
    assert resolve("/api/v1/failures/drfx").kwargs == {"name": "drfx"}


@pytest.mark.parametrize("ending", ["api/v1/access/public", "api/v1/access/public//", "api//v1/access/public/"])
def test_a_slash_at_the_end_and_repeated_slashes_do_not_change_the_path(callers: Tokens, ending: str) -> None:
    response = Client().get(f"/{ending}")
    assert (response.status_code, response.wsgi_request.resolver_match.route) == (200, "api/v1/access/public")


@pytest.mark.parametrize(
    "path", ["/api/v1/tags.json", "/api/v1/tagsx", "/api/v1/tags/5/6", "/api/v1/Tags", "/api", "/api/"]
)
def test_a_path_in_another_spelling_is_unknown(path: str) -> None:
    assert resolve(path).func is unknown_path


def test_pages_are_matched_after_the_endpoints() -> None:
    assert resolve("/pages/form").func.__name__ == "_form_page"
    with pytest.raises(Resolver404):
        resolve("/pages/unknown")


def test_all_endpoints_can_be_listed() -> None:
    found = {pattern.path for pattern in endpoints(get_resolver().url_patterns)}
    assert {"api/v1/tags", "api/v1/tags/<id>", "api/v1/access/person"} <= found


def test_every_endpoint_that_accepts_put_accepts_patch() -> None:
    """Clients use both methods for a change (contract, parameters section 0)."""
    changes = [pattern for pattern in endpoints(project_urls) if "put" in pattern.actions or "patch" in pattern.actions]
    assert {"api/v1/lists/<id>", "api/v1/statuses/<id>", "api/v1/profile"} <= {pattern.path for pattern in changes}
    for pattern in changes:
        served = pattern.callback.actions  # type: ignore[attr-defined]  # set by DRF on the view
        assert served["patch"] == served["put"] == pattern.actions["patch"], pattern.path


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = ModuleType("tests.api.some_urls")
    monkeypatch.setitem(sys.modules, found.__name__, found)
    return found


def test_a_path_is_declared_once(module: ModuleType) -> None:
    module.urlpatterns = [  # type: ignore[attr-defined]  # made above
        endpoint("api/v1/x", TagsViewSet, {"get": "list"}),
        endpoint("api/v1/x", FailuresViewSet, {"get": "drf"}),
    ]
    with pytest.raises(ImproperlyConfigured, match="declared twice"):
        api_urls(module.__name__)


def test_a_path_whose_fixed_segment_matches_no_endpoint_is_matched_with_a_parameter(module: ModuleType) -> None:
    module.urlpatterns = [  # type: ignore[attr-defined]  # made above
        endpoint("api/v1/a/<name>/c", FailuresViewSet, {"get": "raise_it"}),
        endpoint("api/v1/a/b", TagsViewSet, {"get": "list"}),
    ]
    (found,) = api_urls(module.__name__)
    assert found.resolve("api/v1/a/b").kwargs == {}
    assert found.resolve("api/v1/a/b/c").kwargs == {"name": "b"}


def test_mistakes_in_declarations_are_reported_at_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="no slashes"):
        endpoint("/api/v1/x", TagsViewSet, {"get": "list"})
    with pytest.raises(ImproperlyConfigured, match="no action"):
        endpoint("api/v1/x", TagsViewSet, {"get": "nothing"})
    with pytest.raises(ImproperlyConfigured, match="no method"):
        endpoint("api/v1/x", TagsViewSet, {"GET": "list"})


def test_url_names_and_system_checks_work_through_includes() -> None:
    assert check_url_config(None) == []
    assert reverse("form_page") == "/pages/form"
