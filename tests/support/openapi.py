"""Generates the OpenAPI document from the declarations of the endpoints, using drf-spectacular.

`make documents` writes it to social/api/openapi.json, which `/api/openapi.json` serves unchanged, so that no web process loads
the generator.
"""

from typing import Any, Final

import orjson
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import patched_settings
from drf_spectacular.validation import validate_schema

from social.api import fields
from social.api.access import Access
from social.api.access import AccessKind as Kind
from social.api.declarations import Endpoint
from social.api.inputs import Reading
from social.api.routing import EndpointPattern, endpoints
from social.api.scopes import SCOPES
from social.api.viewsets import ApiViewSet, is_id
from social.openapi import DOCUMENT
from social.urls import urlpatterns
from tests.support.documents import named
from tests.support.entities import shape_of
from tests.support.schema import ID, Schema

_BODY_TYPES: Final = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
_SETTINGS: Final = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Social",
    "DESCRIPTION": "The client API. Ids are strings; lists are paged by the addresses of the Link header.",
    "VERSION": "4.6.5",
    "SCHEMA_PATH_PREFIX": r"/api/v[0-9]+",
    "SORT_OPERATIONS": False,
    "POSTPROCESSING_HOOKS": [],
}


def encoded_document() -> bytes:
    """Return the stored form of the document, which is indented, and always the same for the same declarations."""
    return orjson.dumps(make_document(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def make_document() -> dict[str, Any]:
    """Return the document of all endpoints of the server; fail if it is not valid OpenAPI 3.1."""
    before = ApiViewSet.schema
    ApiViewSet.schema = _Declared()
    try:
        with patched_settings(_SETTINGS):
            document: dict[str, Any] = _Generator().get_schema(public=True)
    finally:
        ApiViewSet.schema = before
    paths = orjson.loads(orjson.dumps(document["paths"]).replace(b"#/$defs/", b"#/components/schemas/"))
    document["paths"] = paths
    document["components"] = {"schemas": _reachable(paths), "securitySchemes": _SECURITY_SCHEMES}
    validate_schema(document)
    return document


class _Generator(SchemaGenerator):
    def _initialise_endpoints(self) -> None:
        self.endpoints: list[tuple[EndpointPattern, str]] = [
            (pattern, method) for pattern in endpoints(urlpatterns) for method in pattern.actions
        ]

    def _get_paths_and_endpoints(self) -> list[tuple[str, str, str, ApiViewSet]]:
        found = []
        for pattern, method in self.endpoints:
            view = pattern.viewset()
            view.action_map, view.action = pattern.actions, pattern.actions[method]
            path = "/" + pattern.path.replace("<", "{").replace(">", "}")
            found.append((path, path, method.upper(), view))
        return sorted(found, key=lambda entry: entry[0])


class _Declared(AutoSchema):
    @property
    def declared(self) -> Endpoint:
        found: Endpoint = self.view.endpoint
        return found

    def get_operation_id(self) -> str:
        words = [word.strip("{}.") for word in self.path.split("/") if word]
        return "_".join([self.method.lower(), *words]).replace("-", "_").replace(".", "_")

    def get_summary(self) -> str:
        documented = getattr(self.view, self.view.action).__doc__ or ""
        return str(documented.strip().partition("\n")[0])

    def get_description(self) -> str:
        permission = self.declared.access.permission
        return f"For roles with {named(permission)}." if permission is not None else ""

    def is_deprecated(self) -> bool:
        return self.declared.deprecated is not None

    def get_tags(self) -> list[str]:
        return [type(self.view).__name__.removesuffix("ViewSet")]

    def _get_parameters(self) -> list[dict[str, Any]]:
        found = [
            {
                "name": word.strip("{}"),
                "in": "path",
                "required": True,
                "schema": ID if is_id(word.strip("{}")) else {"type": "string"},
            }
            for word in self.path.split("/")
            if word.startswith("{")
        ]
        if self.method not in ("GET", "DELETE"):
            return found
        return found + [
            {"name": f"{name}[]" if schema.get("type") == "array" else name, "in": "query", "schema": schema}
            for name, schema in _properties(self.declared).items()
        ]

    def _get_request_body(self, direction: str = "request") -> dict[str, Any] | None:
        properties = _properties(self.declared)
        if self.method in ("GET", "DELETE") or not properties:
            return None
        schema: Schema = {"type": "object", "properties": properties}
        required = self.declared.input.required_keys if self.declared.input is not None else ()
        if required:
            schema["required"] = list(required)
        return {"content": {name: {"schema": schema} for name in _BODY_TYPES}}

    def get_auth(self) -> list[dict[str, list[str]]]:
        return _security(self.declared.access)

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        declared = self.declared
        answer: dict[str, Any] = {"description": "Done"}
        if declared.entity is not None:
            schema: Schema = {"$ref": f"#/$defs/{declared.entity}"}
            if declared.many:
                schema = {"type": "array", "items": schema}
            answer["content"] = {"application/json": {"schema": schema}}
        if declared.links:
            answer["headers"] = {"Link": {"description": "Neighbouring pages", "schema": {"type": "string"}}}
        error = {"application/json": {"schema": {"$ref": "#/$defs/Error"}}}
        return {"2XX": answer, "default": {"description": "Refused", "content": error}}


def _properties(declared: Endpoint) -> dict[str, Schema]:
    found: dict[str, Schema] = {name: {} for name in declared.also}
    if declared.input is not None:
        found |= _of_input(declared.input)
    if declared.paging is not None:
        for name in sorted(declared.paging.parameters):
            found[name] = {"type": "integer"} if name in ("limit", "offset") else ID
        found["limit"] = {
            "type": "integer",
            "default": declared.paging.limit.default,
            "maximum": declared.paging.limit.maximum,
        }
    return found


def _of_input(input_class: type[Reading]) -> dict[str, Schema]:
    return {name: _of_field(field) for name, field in input_class.reader().fields.items()}


_SIMPLE: Final[tuple[tuple[type, Schema], ...]] = (
    (fields.ClientBoolean, {"type": "boolean"}),
    (fields.ClientAgreement, {"type": "boolean"}),
    (fields.ClientNumber, {"type": "number"}),
    (fields.ClientDateTime, {"type": "string", "format": "date-time"}),
    (fields.ClientFile, {"type": "string", "format": "binary"}),
    (fields.IdField, ID),
    (fields.IdListField, {"type": "array", "items": ID}),
    (fields.StringListField, {"type": "array", "items": {"type": "string"}}),
)


def _of_field(field: Any) -> Schema:
    for kind, schema in _SIMPLE:
        if isinstance(field, kind):
            return schema
    if isinstance(field, fields.NestedListField):
        return {"type": "array", "items": {"type": "object", "properties": _of_input(field.input)}}
    if isinstance(field, fields.ObjectField):
        return {"type": "object", "properties": _of_input(field.input)}
    if isinstance(field, fields.ClientChoice):
        return {"type": "string", "enum": list(field.choices)}
    if isinstance(field, fields.ClientInteger):
        bounds = {"minimum": field.minimum, "maximum": field.maximum}
        return {"type": "integer"} | {name: bound for name, bound in bounds.items() if bound is not None}
    if isinstance(field, fields.ClientString):
        return {"type": "string"} | ({} if field.max_length is None else {"maxLength": field.max_length})
    return {}


_SECURITY_SCHEMES: Final = {
    # A scheme for users of the page at /api/docs who have a token but no application. Its name places it above the scopes.
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "/oauth/authorize",
                "tokenUrl": "/oauth/token",
                "scopes": dict.fromkeys(sorted(SCOPES), ""),
            },
            "clientCredentials": {"tokenUrl": "/oauth/token", "scopes": dict.fromkeys(sorted(SCOPES), "")},
        },
    },
}


def _security(access: Access) -> list[dict[str, list[str]]]:
    if access.kind is Kind.ANYONE:
        return []
    needed = [{"oauth": [scope]} for scope in access.scopes] or [{"oauth": []}]
    needed.append({"bearer": []})
    return [{}, *needed] if access.kind is Kind.OPTIONAL_USER else needed


def _reachable(paths: dict[str, Any]) -> dict[str, Schema]:
    """Return the entities that the paths refer to, directly or through others."""
    prefix = '"#/components/schemas/'
    found: dict[str, Schema] = {}
    waiting = [orjson.dumps(paths).decode()]
    while waiting:
        for part in waiting.pop().split(prefix)[1:]:
            name = part.partition('"')[0]
            if name not in found:
                encoded = orjson.dumps(shape_of(name)).replace(b"#/$defs/", b"#/components/schemas/")
                found[name] = orjson.loads(encoded)
                waiting.append(encoded.decode())
    return found


def write() -> None:
    """Write the document to the file that is served."""
    DOCUMENT.write_bytes(encoded_document())
