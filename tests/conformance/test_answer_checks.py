"""Tests of `social.api.answer_checks`, which compares a running server's responses with the OpenAPI document."""

import logging
from typing import Any

import orjson
import pytest
from django.test import Client

from social.api.answer_checks import find_deviations
from social.settings import env
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def test_a_response_is_compared_field_by_field_without_revealing_values() -> None:
    status = make_status(make_user().account, "a secret")
    route = "api/v1/statuses/<id>"
    answer: dict[str, Any] = Api().get(f"/api/v1/statuses/{status.pk}").json()

    def deviations(**changed: Any) -> list[str]:
        return find_deviations("GET", route, 200, orjson.dumps(answer | changed))

    assert deviations() == [], "run `make documents`"
    assert deviations(id=5) == ["$.id: type"]
    assert deviations(media_attachments=None) == ["$.media_attachments: type"]
    assert deviations(account=answer["account"] | {"note": 1}) == ["$.account.note: type"]
    assert deviations(surprise="a secret") == ["$: additionalProperties"]
    assert find_deviations("GET", route, 404, b'{"error": "Record not found"}') == []
    assert find_deviations("GET", route, 404, b"<html>") == ["(top): no JSON"]
    assert find_deviations("GET", "api/nowhere", 200, b"x") == []


def test_a_sample_of_answers_is_checked_and_deviations_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    monkeypatch.setattr(env, "CHECKED_ANSWERS", 2)
    settings.MIDDLEWARE = ["social.api.answer_checks.AnswerCheckMiddleware", *settings.MIDDLEWARE]
    client = Client()
    monkeypatch.setattr("social.api.answer_checks.find_deviations", lambda *what: [f"$: {what[:3]}"])
    with caplog.at_level(logging.WARNING, "social.api"):
        for _ in range(4):
            assert client.get("/api/v1/instance/rules").status_code == 200
    assert (
        caplog.messages
        == ["GET /api/v1/instance/rules answered 200 unlike its description: $: ('GET', 'api/v1/instance/rules', 200)"]
        * 2
    )
