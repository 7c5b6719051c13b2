"""Compares a sample of a running server's answers with the OpenAPI document, and logs the differences.

Off unless `CHECKED_ANSWERS` is set: with 100, each process checks every hundredth answer.
"""

import logging
import re
from collections.abc import Callable
from functools import cache
from itertools import count, islice
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from jsonschema import Draft202012Validator

from social.openapi import DOCUMENT
from social.settings import env

logger = logging.getLogger("social.api")
_DEVIATIONS_LIMIT: Final = 10
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")


def find_deviations(method: str, route: str, status: int, body: bytes) -> list[str]:
    """Return the deviations of an answer from its endpoint's declaration: at most ten places, each with the broken rule.

    `route` is the pattern of the path, such as `api/v1/statuses/<id>`. A place is a path into the JSON, without values, which
    may be private. The list is empty for undescribed endpoints, for redirects, and for errors with an empty body.
    """
    operation = _load_document()["paths"].get("/" + _PARAMETER.sub(r"{\1}", route), {}).get(method.lower())
    if operation is None or 300 <= status < 400:
        return []
    described = operation["responses"]["2XX" if status < 300 else "default"].get("content")
    if described is None:
        return ["(top): a body where none is declared"] if body else []
    if not body and status >= 400:
        return []
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ["(top): no JSON"]
    schema = {"components": _load_document()["components"], **described["application/json"]["schema"]}
    errors = Draft202012Validator(schema).iter_errors(answer)
    return [f"{error.json_path}: {error.validator}" for error in islice(errors, _DEVIATIONS_LIMIT)]


@cache
def _load_document() -> Any:
    return orjson.loads(DOCUMENT.read_bytes())


class AnswerCheckMiddleware:
    """Middleware that checks one of every `CHECKED_ANSWERS` answers of this process and logs deviations as warnings."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._numbers = count(1)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if next(self._numbers) % env.CHECKED_ANSWERS == 0:
            self._check(request, response)
        return response

    def _check(self, request: HttpRequest, response: HttpResponseBase) -> None:
        match = request.resolver_match
        if match is None or not match.route.startswith("api/") or not isinstance(response, HttpResponse):
            return
        deviations = find_deviations(request.method or "", match.route, response.status_code, response.content)
        for deviation in deviations:
            logger.warning(
                "%s /%s answered %s unlike its description: %s",
                request.method,
                match.route,
                response.status_code,
                deviation,
            )
