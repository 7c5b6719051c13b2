"""Checks every API response in the tests against the declaration of its endpoint. The context manager `watched()` is entered
once for the whole run; `problems` returns the faults.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from social.api.declarations import Endpoint
from social.api.inputs import Reading
from social.api.requests import ApiRequest
from social.api.viewsets import ApiViewSet
from tests.support.entities import ENTITIES, check, check_all

_ALWAYS_READ = frozenset({"access_token", "bearer_token", "lang"})
_found: list[str] = []


def check_answer(declared: Endpoint, body: Any, *, of_user: bool) -> None:
    """Fail unless a 2xx response contains the declared entity; users get the variant `<entity>OfUser` if there is one."""
    assert declared.entity is not None
    variant = f"{declared.entity}OfUser"
    name = variant if of_user and variant in ENTITIES else declared.entity
    if declared.many:
        check_all(name, body)
    else:
        check(name, body)


def problems() -> list[str]:
    """Return the faults found since the last call."""
    found = _found.copy()
    _found.clear()
    return found


@contextmanager
def watched() -> Iterator[None]:
    """Check the responses of all endpoints except the tests' own, and that the endpoints read only declared parameters."""
    finalize, parameters, values = ApiViewSet.finalize_response, ApiRequest.parameters, Reading.values

    def checked(self: ApiViewSet, request: Any, *args: Any, **kwargs: Any) -> Any:
        response: Any = finalize(self, request, *args, **kwargs)
        declared = self.endpoints.get(self.action)
        if declared is not None and not type(self).__module__.startswith("tests."):
            try:
                _check(self, declared, response)
            except AssertionError as problem:
                _found.append(f"{request.method} {request.path} answered {response.status_code}: {problem}")
        return response

    def recorded(self: ApiRequest) -> dict[str, Any]:
        merged: dict[str, Any] = parameters.fget(self)
        if type(merged) is dict:
            merged = self.__dict__["_parameters"] = _Recorded(merged)
        return merged

    def noted(cls: type[Reading], sent: Any) -> Any:
        if isinstance(sent, _Recorded):
            sent.names |= sent.keys() & set(cls.names())
        return values.__func__(cls, sent)

    ApiViewSet.finalize_response = checked
    ApiRequest.parameters = property(recorded)
    Reading.values = classmethod(noted)
    try:
        yield
    finally:
        ApiViewSet.finalize_response = finalize
        ApiRequest.parameters = parameters
        Reading.values = values


class _Recorded(dict[str, Any]):
    """Parameters that record which of their names are read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def _check(viewset: ApiViewSet, declared: Endpoint, response: Any) -> None:
    merged = viewset.request.__dict__.get("_parameters")
    if isinstance(merged, _Recorded):
        undeclared = merged.names - declared.parameters - _ALWAYS_READ
        assert not undeclared, f"reads parameters it does not declare: {sorted(undeclared)}"
    if response.status_code >= 500 or 300 <= response.status_code < 400:
        return
    if response.status_code >= 400:
        if response.content:
            check("Error", orjson.loads(response.content))
    elif declared.entity is None:
        assert not response.content, f"a body that is not declared: {response.content[:200]!r}"
    else:
        caller = viewset.caller
        of_user = caller is not None and caller.account_id is not None
        check_answer(declared, orjson.loads(response.content), of_user=of_user)
