"""Tests of error responses (contract, behaviours section 3; clients.md, trap 16)."""

import logging
import re
from typing import Any

import pytest
from django.core import exceptions as django_errors
from django.db import IntegrityError
from django.http import Http404
from django.test import Client, RequestFactory
from django.utils import translation
from rest_framework import exceptions as drf_errors

from social.kernel import errors
from social.pages.errors import of_kernel, server_error
from tests.api.conftest import Tokens
from tests.api.sample import FailuresViewSet, database_gone, duplicate, reference_gone

pytestmark = pytest.mark.usefixtures("callers")


def fail(exc: Exception, *, quietly: bool = False) -> Any:
    FailuresViewSet.ERRORS["it"] = exc
    return Client(raise_request_exception=not quietly).get("/api/v1/failures/it")


@pytest.mark.parametrize(
    ("exc", "status", "body"),
    [
        (errors.BadRequest.missing("x"), 400, {"error": "param is missing or the value is empty or invalid: x"}),
        (errors.Unauthorized("The access token was revoked"), 401, {"error": "The access token was revoked"}),
        (errors.Forbidden(), 403, {"error": "This action is not allowed"}),
        (errors.NotFound(), 404, {"error": "Record not found"}),
        (errors.Conflict(), 409, {"error": "Conflict during update, please try again"}),
        (errors.Gone(), 410, {"error": "Gone"}),
        (errors.Invalid("Text"), 422, {"error": "Text"}),
        (errors.Invalid("x", unexpected_accounts=[]), 422, {"error": "x", "unexpected_accounts": []}),
        (errors.RateLimited(limit=1, remaining=0, reset=0), 429, {"error": "Too many requests"}),
        (errors.Unavailable(), 503, {"error": "Remote data could not be fetched"}),
        (drf_errors.ValidationError({"name": ["is bad"]}), 422, {"error": "Validation failed: Name is bad"}),
        (drf_errors.ParseError(), 400, {"error": "Bad Request"}),
        (drf_errors.NotAuthenticated(), 401, {"error": "The access token is invalid"}),
        (drf_errors.PermissionDenied(), 403, {"error": "This action is not allowed"}),
        (drf_errors.NotFound(), 404, {"error": "Not Found"}),
        (drf_errors.MethodNotAllowed("GET"), 404, {"error": "Not Found"}),
        (drf_errors.Throttled(), 429, {"error": "Too many requests"}),
        (Http404(), 404, {"error": "Record not found"}),
        (django_errors.ObjectDoesNotExist(), 404, {"error": "Record not found"}),
        (django_errors.PermissionDenied(), 403, {"error": "This action is not allowed"}),
        (django_errors.ValidationError("Name is bad"), 422, {"error": "Validation failed: Name is bad"}),
        (django_errors.SuspiciousOperation(), 400, {"error": "Bad Request"}),
        (duplicate(), 422, {"error": "Duplicate record"}),
    ],
)
def test_each_error_has_its_status_and_body(exc: Exception, status: int, body: dict[str, Any]) -> None:
    response = fail(exc)
    assert response.status_code == status
    assert response.json() == body
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert response.headers["Cache-Control"] == "private, no-store"


def test_a_database_that_does_not_answer_is_503(caplog: pytest.LogCaptureFixture) -> None:
    response = fail(database_gone())
    assert response.status_code == 503
    text = "There was a temporary problem serving your request, please try again"
    assert response.json() == {"error": text}
    assert "did not answer" in caplog.text


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_messages_on_error_pages_end_with_a_full_stop(language: str) -> None:
    request = RequestFactory().get("/")
    with translation.override(language):
        for error in (errors.Unavailable(), errors.Conflict(), errors.Invalid("Done.")):
            page = of_kernel(request, error).content.decode()
            (text,) = re.findall(r"<p>(.*?)</p>", page)
            assert text.endswith("."), text
            assert not text.endswith("..")


def test_an_unforeseen_error_is_500_with_the_request_id_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        response = fail(RuntimeError("a secret of the server"), quietly=True)
    assert response.status_code == 500
    assert response.json() == {"error": "Internal Server Error"}
    records = [record for record in caplog.records if record.name == "social.api"]
    assert records[0].request_id == response.headers["X-Request-Id"]
    assert records[0].exc_info is not None


def test_unforeseen_errors_reach_error_trackers_and_tests() -> None:
    with pytest.raises(RuntimeError, match="shown to the test"):
        fail(RuntimeError("shown to the test"))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "PROPFIND"])
@pytest.mark.parametrize("signed_in", [True, False])
def test_an_unknown_path_under_api_is_404_in_json(callers: Tokens, method: str, signed_in: bool) -> None:
    headers = {"Authorization": f"Bearer {callers.user_token() if signed_in else 'wrong'}", "Accept": "text/html"}
    for path in ("/api/v1/nothing", "/api/v9", "/api/", "/api", "/api/v1/tags/1/nothing"):
        response = Client().generic(method, path, headers=headers)
        assert response.status_code == 404, path
        assert response.headers["Content-Type"] == "application/json; charset=utf-8"
        if method != "HEAD":
            assert response.json() == {"error": "Not Found"}


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "PROPFIND"])
def test_an_unsupported_method_is_404_before_any_other_check(callers: Tokens, method: str) -> None:
    response = Client().generic(method, "/api/v1/access/person")
    assert (response.status_code, response.json()) == (404, {"error": "Not Found"})
    assert Client().generic("PUT", "/api/v1/tags").status_code == 404, "two endpoints on one path"
    assert callers.asked == []


def test_people_get_an_error_page_in_their_language() -> None:
    response = Client().get("/nothing/here", headers={"Accept-Language": "ar"})
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")
    assert '<html lang="ar" dir="rtl">' in response.content.decode()


def test_an_error_page_shows_only_the_request_id() -> None:
    response = Client(raise_request_exception=False).get("/pages/broken")
    text = response.content.decode()
    assert response.status_code == 500
    assert response.headers["X-Request-Id"] in text
    assert "a page broke" not in text


def test_a_row_deleted_during_a_request_is_404_on_pages_as_in_the_api() -> None:
    assert fail(reference_gone(), quietly=True).status_code == 404
    try:
        raise reference_gone()
    except IntegrityError:
        page = server_error(RequestFactory().get("/settings/profile"))
    assert page.status_code == 404
    assert page.headers["Content-Type"].startswith("text/html")


def test_a_form_without_its_csrf_token_gets_a_page_that_says_what_to_do() -> None:
    response = Client(enforce_csrf_checks=True).post("/pages/form")
    assert response.status_code == 403
    assert "Go back, reload, and try again" in response.content.decode()


def test_the_api_needs_no_csrf_token(callers: Tokens) -> None:
    headers = {"Authorization": f"Bearer {callers.user_token()}"}
    assert Client(enforce_csrf_checks=True).post("/api/v1/access/person", headers=headers).status_code == 200
