"""How parameters become frozen dataclasses, in all spellings clients use (contract, parameters section 0).

    class BookmarkInput(Input[BookmarkDraft]):
        draft = BookmarkDraft                      # a frozen dataclass of the services
        required_keys = ("title",)                 # absent or blank: 400
        title = ClientString(max_length=60)
        sensitive = ClientBoolean()
        media_ids = IdListField()

    draft = BookmarkInput.read(request)            # BookmarkDraft(title=..., ...) or BadRequest / Invalid

A parameter that was not sent is not passed on: the dataclass's own default stands for it. Unknown ones are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from rest_framework import serializers
from rest_framework.request import Request

from social.api.fields import (
    ClientAgreement,
    ClientBoolean,
    ClientChoice,
    ClientDateTime,
    ClientFile,
    ClientInteger,
    ClientNumber,
    ClientString,
    CursorField,
    IdField,
    IdListField,
    ListField,
    NestedListField,
    StringListField,
    as_boolean,
    as_integer,
    as_list,
)
from social.api.requests import ApiRequest
from social.kernel import errors

__all__ = [
    "ClientAgreement",
    "ClientBoolean",
    "ClientChoice",
    "ClientDateTime",
    "ClientFile",
    "ClientInteger",
    "ClientNumber",
    "ClientString",
    "CursorField",
    "IdField",
    "IdListField",
    "Input",
    "NestedListField",
    "StringListField",
    "as_boolean",
    "as_integer",
    "as_list",
    "field_errors",
    "parameters",
]

T = TypeVar("T")

_SHARED: dict[type[Any], Any] = {}
_LISTS: dict[type[Any], frozenset[str]] = {}
_CODES = {
    "required": "ERR_BLANK",
    "null": "ERR_BLANK",
    "blank": "ERR_BLANK",
    "empty": "ERR_BLANK",
    "max_length": "ERR_TOO_LONG",
    "min_length": "ERR_TOO_SHORT",
    "invalid_choice": "ERR_INCLUSION",
}


def parameters(request: Request) -> dict[str, Any]:
    """Query and body of a request as one nested dict. Raises BadRequest (400), TooLarge (413)."""
    return cast(ApiRequest, request).parameters


class Input(serializers.Serializer[Any], Generic[T]):
    """A DRF serializer for input only: declared fields in, a frozen dataclass out."""

    draft: ClassVar[type[Any]]
    required_keys: ClassVar[tuple[str, ...]] = ()
    details: ClassVar[bool] = False
    """Whether a 422 carries `details` per field (sign-up, credentials and the profile do)."""

    @classmethod
    def read(cls, request: Request) -> T:
        """The request's parameters as the dataclass. Raises BadRequest (400), Invalid (422), NotFound (404)."""
        return cls.read_mapping(parameters(request))

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> T:
        """As `read`, from a part of the parameters."""
        for key in cls.required_keys:
            if values.get(key) in (None, "", [], {}):
                raise errors.BadRequest.missing(key)
        try:
            valid = cls._shared().run_validation(dict(values))
        except serializers.ValidationError as error:
            raise errors.Invalid.of(cls._field_errors(error), details=cls.details) from None
        return cast(T, cls.draft(**valid))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The parameters it reads."""
        return tuple(cls._shared().fields)

    @classmethod
    def lists(cls) -> frozenset[str]:
        """The parameters that hold lists and drop a single value."""
        if cls not in _LISTS:
            fields = cls._shared().fields.items()
            _LISTS[cls] = frozenset(name for name, field in fields if isinstance(field, ListField) and not field.scalar)
        return _LISTS[cls]

    @classmethod
    def _shared(cls) -> Input[T]:
        # Building a serializer copies every field: twenty times the price of reading with one. It keeps no state
        # between calls of run_validation, so all threads share it.
        if cls not in _SHARED:
            _SHARED[cls] = cls()
        return cast("Input[T]", _SHARED[cls])

    @classmethod
    def _field_errors(cls, error: serializers.ValidationError) -> list[errors.FieldError]:
        return list(_flatten(cls._shared(), error.detail))


def _flatten(serializer: Any, detail: Any, prefix: str = "") -> list[errors.FieldError]:
    found: list[errors.FieldError] = []
    if isinstance(detail, dict):
        for name, inner in detail.items():
            field = serializer.fields.get(name) if hasattr(serializer, "fields") else None
            path = f"{prefix}.{name}" if prefix else str(name)
            if isinstance(inner, list) and inner and not isinstance(inner[0], dict):
                label = "" if name == "non_field_errors" else getattr(field, "label", None)
                found += [
                    errors.FieldError(path, _CODES.get(item.code, "ERR_INVALID"), str(item), label) for item in inner
                ]
            else:
                found += _flatten(getattr(field, "child", field), inner, path)
    elif isinstance(detail, list):
        for inner in detail:
            if isinstance(inner, dict):
                found += _flatten(serializer, inner, prefix)
            else:
                found.append(errors.FieldError(prefix or "base", _CODES.get(inner.code, "ERR_INVALID"), str(inner), ""))
    return found


def field_errors(error: serializers.ValidationError) -> list[errors.FieldError]:
    """The field errors of a DRF ValidationError raised outside an Input."""
    return _flatten(None, error.detail)
