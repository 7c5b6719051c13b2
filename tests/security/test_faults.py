"""Tests of errors in the server: they are logged for every path, and a full disk leaves no partial file (security row 66)."""

import errno
import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from PIL import Image

from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.routing import endpoint
from social.api.viewsets import ApiViewSet
from social.kernel import logs
from social.kernel.media import storage
from statuses.models import MediaAttachment
from tests.conformance.people import Person
from tests.support.altered import altered

pytestmark = pytest.mark.django_db
ID = "request-of-a-test"


def fail(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("unforeseen")


class FailingViewSet(ApiViewSet):
    """An endpoint with an error."""

    endpoints = {"fail": Endpoint(anyone(), None)}

    def fail(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError("unforeseen")


class Lines(logging.Handler):
    """A log handler that collects errors with the ids of their requests."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Collect the request's id and the error."""
        self.found.append((logs.request_id(), str(record.exc_info[1] if record.exc_info else record.getMessage())))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize(
    "where", ["/inbox", "/users/alice/inbox", "/system/x", "/page", "/api/v1/endpoint", "/api/v1/view"]
)
def test_row_66_every_error_is_logged_once_with_the_id_of_its_request(
    settings: Any, monkeypatch: pytest.MonkeyPatch, lines: Lines, where: str
) -> None:
    urls = ModuleType("failing_urls")
    urls.urlpatterns = [
        *(path(name, fail) for name in ("inbox", "users/alice/inbox", "system/x", "page", "api/v1/view")),
        # The error page links to the manifest.
        path("manifest", fail, name="manifest"),
        endpoint("api/v1/endpoint", FailingViewSet, {"get": "fail"}),
    ]
    urls.handler500 = "social.pages.errors.server_error"
    monkeypatch.setitem(sys.modules, "failing_urls", urls)
    settings.ROOT_URLCONF = "failing_urls"
    answer = Client(raise_request_exception=False).get(where, headers={"X-Request-Id": ID})
    assert (answer.status_code, answer["X-Request-Id"]) == (500, ID)
    assert lines.found == [(ID, "unforeseen")]


def test_an_upload_on_a_full_disk_is_503_and_leaves_nothing(
    alice: Person, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path
    picture = io.BytesIO()
    Image.new("RGB", (9, 9)).save(picture, "PNG")

    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(storage, "os", altered(os, fsync=fsync))
        answer = alice.api.upload("POST", "/api/v2/media", file=SimpleUploadedFile("x.png", picture.getvalue()))
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert "error" in answer.json()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not MediaAttachment.objects.exists()
    assert (
        alice.api.upload("POST", "/api/v2/media", file=SimpleUploadedFile("x.png", picture.getvalue())).status_code
        == 200
    )
