"""How paths are found, and that it takes no longer with many of them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.core.checks.urls import check_url_config
from django.core.exceptions import ImproperlyConfigured
from django.urls import Resolver404, resolve, reverse
from django.urls.resolvers import get_resolver

from social.api.routing import ApiRouter, endpoint, endpoints
from social.urls import urlpatterns as project_urls
from tests.api.sample import AccessViewSet, FailuresViewSet, TagsViewSet


def test_fixed_segments_win_over_parameters() -> None:
    assert resolve("/api/v1/tags/index").kwargs == {}
    assert resolve("/api/v1/tags/5").kwargs == {"id": "5"}
    assert resolve("/api/v1/failures/drfx").kwargs == {"name": "drfx"}


@pytest.mark.parametrize("path", ["/api/v1/tags", "/api/v1/tags/", "/api/v1/tags//", "/api//v1/tags", "/api/v1//tags"])
def test_slashes_at_the_end_and_several_in_place_of_one_are_the_same_path(path: str) -> None:
    assert resolve(path).route == "api/v1/tags"


@pytest.mark.parametrize(
    "path",
    ["/api/v1/tags.json", "//api/v1/tags", "/api/v1/tags/5/6", "/api/v1/Tags"],
)
def test_other_spellings_are_other_paths(path: str) -> None:
    try:
        assert resolve(path).route == "api/"
    except Resolver404:
        assert not path.startswith("/api")


def test_pages_are_reached_behind_the_endpoints() -> None:
    assert resolve("/pages/form").func.__name__ == "_form_page"
    with pytest.raises(Resolver404):
        resolve("/pages/unknown")


def test_plain_include_works_as_well_as_the_router(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.api.sample_urls"
    for path in ("/api/v1/tags/5", "/api/v1/tags/5/"):
        assert resolve(path).kwargs == {"id": "5"}


def test_endpoints_can_be_walked_over() -> None:
    found = {pattern.path for pattern in endpoints(get_resolver().url_patterns)}
    assert {"api/v1/tags", "api/v1/tags/<id>", "api/v1/access/person"} <= found


def test_whatever_takes_put_takes_patch_as_well() -> None:
    """As clients use both for a change (contract, parameters section 0)."""
    changes = [pattern for pattern in endpoints(project_urls) if "put" in pattern.actions or "patch" in pattern.actions]
    assert {"api/v1/lists/<id>", "api/v1/statuses/<id>", "api/v1/profile"} <= {pattern.path for pattern in changes}
    for pattern in changes:
        served = pattern.callback.actions  # type: ignore[attr-defined]  # set by DRF on the view
        assert served["patch"] == served["put"] == pattern.actions["patch"], pattern.path


def test_a_path_may_be_shared_but_not_a_method() -> None:
    router = ApiRouter()
    router.__dict__["url_patterns"] = [
        endpoint("api/v1/x", TagsViewSet, {"get": "list"}),
        endpoint("api/v1/x", FailuresViewSet, {"get": "drf"}),
    ]
    with pytest.raises(ImproperlyConfigured, match="declared twice"):
        router.resolve("api/v1/x")


def test_a_fixed_segment_that_leads_nowhere_is_tried_as_a_parameter() -> None:
    router = ApiRouter()
    router.__dict__["url_patterns"] = [
        endpoint("api/v1/a/b", TagsViewSet, {"get": "list"}),
        endpoint("api/v1/a/<name>/c", FailuresViewSet, {"get": "raise_it"}),
    ]
    assert router.resolve("api/v1/a/b").kwargs == {}
    assert router.resolve("api/v1/a/b/c").kwargs == {"name": "b"}


def test_mistakes_in_declarations_are_reported_at_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="no slashes"):
        endpoint("/api/v1/x", TagsViewSet, {"get": "list"})
    with pytest.raises(ImproperlyConfigured, match="no action"):
        endpoint("api/v1/x", TagsViewSet, {"get": "nothing"})
    with pytest.raises(ImproperlyConfigured, match="no method"):
        endpoint("api/v1/x", TagsViewSet, {"GET": "list"})


def test_names_and_checks_work_through_the_router() -> None:
    assert check_url_config(None) == []
    assert reverse("form_page") == "/pages/form"


def test_finding_a_path_does_not_take_longer_with_four_hundred_of_them() -> None:
    def seconds(number: int) -> float:
        router = ApiRouter()
        router.__dict__["url_patterns"] = [
            endpoint(f"api/v1/thing{index}/<id>/action", AccessViewSet, {"get": "public"}) for index in range(number)
        ]
        router.resolve("api/v1/thing0/5/action")
        best = 1.0
        for _ in range(5):
            started = time.process_time()
            for _ in range(500):
                router.resolve(f"api/v1/thing{number - 1}/5/action")
            best = min(best, time.process_time() - started)
        return best

    assert seconds(400) < 3 * seconds(4)
