"""Builders of JSON schemas from the contract's type letters (entities)."""

from typing import Any

Schema = dict[str, Any]

S: Schema = {"type": "string"}
B: Schema = {"type": "boolean"}
I: Schema = {"type": "integer"}  # noqa: E741  (the contract's own letter)
COUNT: Schema = {"type": "integer", "minimum": 0}
N: Schema = {"type": "number"}
ID: Schema = {"type": "string", "pattern": r"^(?:[0-9]+|-99)$"}
D: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
DAY: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}
URL: Schema = {"type": "string", "pattern": r"^https?://[^\s]+$"}
WS_URL: Schema = {"type": "string", "pattern": r"^wss?://[^\s]+$"}
TRUE: Schema = {"const": True}
NULL: Schema = {"type": "null"}
FREE: Schema = {"type": "object"}


def nullable(schema: Schema) -> Schema:
    """Return a schema for a value of `schema` or null."""
    return {"anyOf": [schema, NULL]}


def many(schema: Schema, **rules: Any) -> Schema:
    return {"type": "array", "items": schema, **rules}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def entity(name: str) -> Schema:
    """Return a schema that refers to another entity."""
    return {"$ref": f"#/$defs/{name}"}


def exactly(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return a schema for an object with exactly these keys."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def extended(schema: Schema, required: dict[str, Schema]) -> Schema:
    """Return a schema of `exactly` with more keys."""
    properties = {**schema["properties"], **required}
    return schema | {"properties": properties, "required": [*schema["required"], *required]}


POLICY_WORDS = one_of("public", "followers", "following", "unsupported_policy", "disabled")
VISIBILITY = one_of("public", "unlisted", "private", "direct")
HISTORY = many(exactly({"day": S, "accounts": S, "uses": S}))
