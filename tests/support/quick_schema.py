"""Checks values against a JSON Schema, for the keywords that the schemas of this project use (JSON Schema 2020-12).

Every response of every test is checked, and `jsonschema`, which also explains errors, takes milliseconds for one post.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from tests.support.schema import Schema

Test = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[dict[str, Test]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class Definitions:
    """Schemas by name, each compiled to a function on first use."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self.find = cache(self._find)

    def _find(self, name: str) -> Test:
        return self.compile(self._schemas[name])

    def compile(self, schema: Schema) -> Test:
        """Return a function that checks a value against the schema; raise KeyError for an unsupported keyword."""
        tests = [_KEYWORDS[keyword](self, rule, schema) for keyword, rule in schema.items()]
        if len(tests) == 1:
            return tests[0]
        return lambda value: all(test(value) for test in tests)


def _type(_definitions: Definitions, names: str | list[str], _schema: Schema) -> Test:
    if isinstance(names, str):
        return _TYPES[names]
    tests = [_TYPES[name] for name in names]
    return lambda value: any(test(value) for test in tests)


def _enum(_definitions: Definitions, allowed: list[Any], _schema: Schema) -> Test:
    # In JSON, true does not equal 1.
    return lambda value: any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in allowed)


def _any_of(definitions: Definitions, schemas: list[Schema], _schema: Schema) -> Test:
    tests = [definitions.compile(schema) for schema in schemas]
    return lambda value: any(test(value) for test in tests)


def _reference(definitions: Definitions, reference: str, _schema: Schema) -> Test:
    name = reference.removeprefix("#/$defs/")
    return lambda value: definitions.find(name)(value)


def _properties(definitions: Definitions, schemas: dict[str, Schema], _schema: Schema) -> Test:
    tests = {name: definitions.compile(schema) for name, schema in schemas.items()}
    return lambda value: (
        not isinstance(value, dict) or all(tests[name](one) for name, one in value.items() if name in tests)
    )


def _additional(definitions: Definitions, rule: bool | Schema, schema: Schema) -> Test:
    known = frozenset(schema.get("properties", ()))
    test = (lambda _value: rule) if isinstance(rule, bool) else definitions.compile(rule)
    return lambda value: (
        not isinstance(value, dict) or all(test(one) for name, one in value.items() if name not in known)
    )


def _required(_definitions: Definitions, names: list[str], _schema: Schema) -> Test:
    wanted = frozenset(names)
    return lambda value: not isinstance(value, dict) or wanted <= value.keys()


def _items(definitions: Definitions, schema: Schema, _schema: Schema) -> Test:
    test = definitions.compile(schema)
    return lambda value: not isinstance(value, list) or all(map(test, value))


def _pattern(_definitions: Definitions, pattern: str, _schema: Schema) -> Test:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


_KEYWORDS: Final[dict[str, Callable[[Definitions, Any, Schema], Test]]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda definitions, value, schema: _enum(definitions, [value], schema),
    "anyOf": _any_of,
    "$ref": _reference,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "pattern": _pattern,
    "minLength": lambda _definitions, least, _schema: lambda value: not isinstance(value, str) or len(value) >= least,
    "minItems": lambda _definitions, least, _schema: lambda value: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda _definitions, most, _schema: lambda value: not isinstance(value, list) or len(value) <= most,
    "minimum": lambda _definitions, least, _schema: lambda value: not _is_number(value) or value >= least,
    "maximum": lambda _definitions, most, _schema: lambda value: not _is_number(value) or value <= most,
}
