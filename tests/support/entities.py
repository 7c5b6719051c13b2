"""JSON schemas of all entities, written from the contract (entities); unknown keys are refused.

    check("Status", body)                 # one
    check_all("Status", body)             # a list

Both also check all ids in the body (SEED-041, SEED-042, SEED-043).
"""

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from tests.support.account_entities import ACCOUNT_ENTITIES
from tests.support.admin_entities import ADMIN_ENTITIES
from tests.support.instance_entities import INSTANCE_ENTITIES
from tests.support.notification_entities import NOTIFICATION_ENTITIES
from tests.support.post_entities import POST_ENTITIES
from tests.support.quick_schema import Definitions
from tests.support.schema import (
    HISTORY,
    ID,
    NULL,
    URL,
    B,
    D,
    I,
    S,
    Schema,
    entity,
    exactly,
    extended,
    many,
    nullable,
    one_of,
)

_APPLICATION: dict[str, Schema] = {
    "id": ID,
    "name": S,
    "website": nullable(URL),
    "scopes": many(S),
    "redirect_uris": many(S),
    "redirect_uri": S,
    "vapid_key": S,
}

ENTITIES: dict[str, Schema] = {
    "Conversation": exactly(
        {
            "id": ID,
            "unread": B,
            "accounts": many(entity("Account")),
            "last_status": nullable(entity("StatusOfUser")),
        }
    ),
    "Search": exactly(
        {
            "accounts": many(entity("Account")),
            "statuses": many(entity("StatusOfUser")),
            "hashtags": many(entity("Tag")),
            "collections": many(entity("Collection")),
        }
    ),
    "List": exactly({"id": ID, "title": S, "replies_policy": one_of("list", "followed", "none"), "exclusive": B}),
    "Marker": exactly({"last_read_id": ID, "version": I, "updated_at": D}),
    "Markers": exactly({}, {"home": entity("Marker"), "notifications": entity("Marker")}),
    "Text": S,
    "AsyncRefresh": exactly(
        {"async_refresh": exactly({"id": S, "status": one_of("running", "finished")}, {"result_count": I})}
    ),
    "Application": exactly(_APPLICATION),
    "CredentialApplication": exactly(
        _APPLICATION | {"client_id": S, "client_secret": S, "client_secret_expires_at": {"const": 0}}
    ),
    "Token": exactly({"access_token": S, "token_type": {"const": "Bearer"}, "scope": S, "created_at": I}),
    "Introspection": exactly({"active": B}, {"scope": S, "client_id": S, "token_type": {"const": "Bearer"}, "iat": I}),
    "TokenInfo": exactly(
        {
            "resource_owner_id": nullable(ID),
            "scope": many(S),
            "expires_in": NULL,
            "application": exactly({"uid": S}),
            "created_at": I,
        }
    ),
    "DomainBlockPreview": exactly({"following_count": I, "followers_count": I}),
    "Rule": exactly(
        {
            "id": ID,
            "text": S,
            "hint": S,
            "translations": {"type": "object", "additionalProperties": exactly({"text": S, "hint": S})},
        }
    ),
    "Empty": exactly({}),
    "Boolean": B,
    "OpenApi": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
    "Error": {"type": "object", "properties": {"error": {"type": ["string", "object"]}}, "required": ["error"]},
}


ENTITIES |= ACCOUNT_ENTITIES | POST_ENTITIES | NOTIFICATION_ENTITIES | INSTANCE_ENTITIES | ADMIN_ENTITIES
ENTITIES["AdminTrendsStatus"] = extended(ENTITIES["StatusOfUser"], {"requires_review": B})
ENTITIES["AdminTrendsLink"] = extended(ENTITIES["PreviewCard"], {"id": ID, "history": HISTORY, "requires_review": B})


_DEFINITIONS = Definitions(ENTITIES)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": ENTITIES})


_WHERE = "tests/support/*entities.py, where post_entities.py has posts"


def shape_of(name: str) -> Schema:
    """Return the schema of an entity; fail if it has none."""
    assert name in ENTITIES, f"the entity {name} has no schema: add it in {_WHERE}"
    return ENTITIES[name]


def check(name: str, body: Any) -> None:
    """Fail, naming the wrong place, unless `body` matches the schema of the entity `name`."""
    shape_of(name)
    if not _DEFINITIONS.find(name)(body):
        found = [leaf for problem in _validator(name).iter_errors(body) for leaf in _leaves(problem)]
        problems = sorted(found, key=lambda problem: list(map(str, problem.absolute_path)))
        places = [f"{'.'.join(map(str, problem.absolute_path)) or '(top)'}: {problem.message}" for problem in problems]
        raise AssertionError("\n  ".join((f"not the entity {name}, whose schema is in {_WHERE}:", *places[:20])))
    if name != "OpenApi":  # the OpenAPI document describes ids by schemas, and contains no ids
        check_ids(body)


def _leaves(problem: ValidationError) -> list[ValidationError]:
    """Return the problem; if a value matches none of several schemas, return the problems with the most similar schema instead.
    Schemas for the value's type come first, then those with the fewest problems.
    """
    alternatives: dict[int | str, list[ValidationError]] = {}
    for each in problem.context or ():
        alternatives.setdefault(each.relative_schema_path[0], []).append(each)
    if not alternatives:
        return [problem]
    nearest = min(alternatives.values(), key=lambda each: (any(_is_of_another_type(one) for one in each), len(each)))
    return [leaf for each in nearest for leaf in _leaves(each)]


def _is_of_another_type(problem: ValidationError) -> bool:
    return problem.validator == "type" and not problem.relative_path


def check_all(name: str, body: Any) -> None:
    """Run `check` for every item of a list."""
    assert isinstance(body, list), f"a list of {name} expected, not {type(body).__name__}"
    for item in body:
        check(name, item)


# Members whose ids are strings, but not 64-bit integers.
_FOREIGN_IDS = frozenset({"client_id", "device_id", "key_id", "group_key"})
_NUMERIC = re.compile(r"(?:[0-9]{1,19}|-99)\Z")


def check_ids(body: Any, place: str = "(top)") -> None:
    """Check that ids are decimal strings below 2**63 or null, and not repeated as numbers (SEED-041, 042, 043)."""
    if isinstance(body, list):
        for index, item in enumerate(body):
            check_ids(item, f"{place}[{index}]")
        return
    if not isinstance(body, dict):
        return
    for key, value in body.items():
        here = f"{place}.{key}"
        if key in _FOREIGN_IDS:
            continue
        if key == "id" and value == "" and "history" in body:
            continue  # a hashtag that was not used yet has no id (contract, entities "Tag")
        if key == "id" or key.endswith("_id"):
            assert value is None or _is_id(value), f"{here} is not an id: {value!r}"
        elif key.endswith("_ids"):
            assert value is None or (isinstance(value, list) and all(map(_is_id, value))), f"{here}: {value!r}"
        assert not f"_{key}".endswith("_id_int"), f"{here} repeats an id as a number"
        check_ids(value, here)
    own = body.get("id")
    if isinstance(own, str) and len(own) > 9:
        numeric = [key for key, value in body.items() if type(value) is int and str(value) == own]
        assert not numeric, f"{place}: {numeric} repeat the id as a number"


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _NUMERIC.match(value) is not None and int(value) < 2**63
