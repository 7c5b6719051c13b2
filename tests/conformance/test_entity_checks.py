"""Tests that the fast check of entities (`tests.support.quick_schema`) agrees with the library `jsonschema`."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.factories.accounts import make_account
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.entities import check
from tests.support.quick_schema import Definitions
from tests.support.schema import Schema

_VALUES = [
    *(None, True, False, 0, 1, -1, 5, 1.0, 1.5),
    *("", "a", "12"),
    *([], [1], ["a", "b", "c"]),
    *({}, {"a": 1}, {"a": "x"}, {"b": 1}),
]
_RULES: list[Schema] = [
    *({"type": name} for name in ("null", "boolean", "string", "number", "integer", "array", "object")),
    {"type": ["string", "object"]},
    {"const": True},
    {"const": 1},
    {"enum": ["a", 0]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"type": "object", "properties": {"a": {"type": "integer"}}},
    {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    {"required": ["a"]},
    {"items": {"type": "string"}},
    {"$ref": "#/$defs/Number"},
    {"pattern": "^[0-9]+$"},
    {"minLength": 1},
    {"minItems": 1},
    {"maxItems": 1},
    {"minimum": 1},
    {"maximum": 1},
]


@pytest.mark.parametrize("rule", _RULES, ids=str)
def test_the_quick_check_accepts_the_same_values_as_json_schema(rule: Schema) -> None:
    named: dict[str, Schema] = {"Number": {"type": "integer"}}
    quick, exact = Definitions(named).compile(rule), Draft202012Validator({**rule, "$defs": named})
    assert [quick(value) for value in _VALUES] == [exact.is_valid(value) for value in _VALUES]


def test_a_keyword_that_the_quick_check_does_not_support_is_an_error() -> None:
    with pytest.raises(KeyError):
        Definitions({}).compile({"uniqueItems": True})


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("Status", {"tone": "calm"}, "(top): Additional properties are not allowed ('tone' was unexpected)"),
        ("PublishedStatus", {"tone": "calm"}, "(top): Additional properties are not allowed ('tone' was unexpected)"),
        (
            "Status",
            {"reblog": {"tone": "calm"}},
            "reblog: Additional properties are not allowed ('tone' was unexpected)",
        ),
        ("Status", {"language": 5}, "language: 5 is not of type 'string'"),
        (
            "Tone",
            {},
            "the entity Tone has no schema: add it in tests/support/*entities.py, where post_entities.py has posts",
        ),
    ],
)
@pytest.mark.django_db
def test_a_deviation_from_an_entity_is_reported_with_its_place_also_inside_alternatives(
    name: str, changed: dict[str, Any], said: str
) -> None:
    post = Api().get(f"/api/v1/statuses/{make_status(make_account()).id}").json()
    shown = {key: {**post, **value} if isinstance(value, dict) else value for key, value in changed.items()}
    with pytest.raises(AssertionError) as failure:
        check(name, post | shown)
    assert said in str(failure.value).split("\n  ")
