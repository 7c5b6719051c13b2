"""Inputs read parameters, in all spellings that clients use, into frozen dataclasses (contract, parameters section 0).

    class MuteInput(Form):                         # itself a dataclass; its types say how values are read
        required_keys = ("reason",)                # absent or blank: 400
        reason: Annotated[str, ClientString(max_length=60)] = ""
        notifications: bool = True
        account_id: Id | None = None

    class ListInput(Input[ListDraft]):             # a frozen dataclass of the services
        fields = ("title", "exclusive")            # fields that are read according to their types
        q = ClientString(source="text")            # further fields, or fields read in another way

    form = MuteInput.read(request)                 # MuteInput(reason=..., ...) or BadRequest / Invalid
    draft = ListInput.read(request)                # ListDraft(title=..., ...)

A parameter that was not sent has the default of the dataclass. Unknown parameters are ignored.
"""

import copy
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast, dataclass_transform, get_args, get_origin

from django.core.files.uploadedfile import UploadedFile
from rest_framework import serializers
from rest_framework.request import Request

from social.api import fields as kinds
from social.api.requests import ApiRequest
from social.kernel import errors

T = TypeVar("T")
Id = Annotated[int, kinds.IdField()]
Stripped = Annotated[str, kinds.ClientString(strip=True)]
Word = Annotated[str, kinds.ClientWord()]
Clearable = Annotated[str, kinds.ClearableString()]

#: The field that reads values of a type, unless the type is `Annotated` with another field.
_FIELDS: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: kinds.ClientBoolean,
    int: kinds.ClientInteger,
    float: kinds.ClientNumber,
    str: kinds.ClientString,
    datetime: kinds.ClientDateTime,
    UploadedFile: kinds.ClientFile,
    tuple[int, ...]: kinds.IdListField,
    tuple[str, ...]: kinds.StringListField,
    Sequence[str]: kinds.StringListField,
}
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
    """Return the query and the body of a request as one nested dict. Raises BadRequest (400), TooLarge (413)."""
    return cast(ApiRequest, request).parameters


def _field_for(hint: Any, limit: int | None = None) -> serializers.Field[Any, Any, Any, Any]:
    if get_origin(hint) is Annotated:
        return copy.deepcopy(cast(Any, hint.__metadata__[0]))
    if hint in _FIELDS:
        return _FIELDS[hint]() if limit is None else kinds.ClientString(max_length=limit)
    (only,) = (part for part in get_args(hint) if part is not NoneType)
    return _field_for(only, limit)


class _Reader(serializers.Serializer[Any]):
    def __init__(self, declared: Mapping[str, serializers.Field[Any, Any, Any, Any]]) -> None:
        self._declared = declared
        super().__init__()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return dict(self._declared)


class Reading:
    """Base of both kinds of inputs: reads parameters with a DRF serializer."""

    required_keys: ClassVar[tuple[str, ...]] = ()
    details: ClassVar[bool] = False
    """Flag: whether a 422 has `details` for each field (sign-up, credentials and the profile)."""

    @classmethod
    def declared(cls) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        raise NotImplementedError  # each subclass has its own

    @classmethod
    @cache
    def reader(cls) -> serializers.Serializer[Any]:
        """Return the serializer.

        All threads share the serializer, because it has no state, and creating one takes as long as using it twenty times.
        """
        return _Reader(cls.declared())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(cls.reader().fields)

    @classmethod
    @cache
    def lists(cls) -> frozenset[str]:
        """Return the names of the list parameters for which a single value, sent without brackets, is dropped."""
        fields = cls.reader().fields.items()
        return frozenset(name for name, field in fields if isinstance(field, kinds.ListField) and not field.scalar)

    @classmethod
    def values(cls, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Return the dataclass's values, read from the parameters `sent`. Raises BadRequest, Invalid or NotFound."""
        for key in cls.required_keys:
            if sent.get(key) in (None, "", [], {}):
                raise errors.BadRequest.missing(key)
        try:
            found: dict[str, Any] = cls.reader().run_validation(dict(sent))
        except serializers.ValidationError as error:
            raise errors.Invalid.of(list(_flatten(cls.reader(), error.detail)), details=cls.details) from None
        for key in cls.required_keys:
            value = found.get(cls.reader().fields[key].source or key, "")
            if value == () or (isinstance(value, str) and not value.strip()):
                raise errors.BadRequest.missing(key)
        return found


@dataclass_transform(frozen_default=True)
class Form(Reading):
    """Base of inputs that are frozen dataclasses themselves: parameters are read according to the types of their fields.
    `Annotated[..., field]` reads a value with this field; `Annotated[..., None]` marks an attribute that is not a parameter.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True)(cls)

    @classmethod
    def declared(cls) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        hints = typing.get_type_hints(cls, include_extras=True)
        return {
            field.name: _field_for(hints[field.name])
            for field in fields_of(cast(Any, cls))
            if getattr(hints[field.name], "__metadata__", None) != (None,)
        }

    @classmethod
    def read(cls, request: Request) -> Self:
        """Read the request's parameters. Raises BadRequest (400), Invalid (422), NotFound (404)."""
        return cls.read_mapping(parameters(request))

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> Self:
        return cls(**cls.values(values))


class Input(Reading, Generic[T]):
    """Base of inputs that fill a frozen dataclass of the services.

    Parameters in `fields` are read according to the types of the dataclass; others are declared in the class. The metadata
    `limit` of a text in the dataclass is its maximum number of characters.
    """

    fields: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @cache
    def _draft(cls) -> Any:
        """Return the class that is filled: the dataclass, or dict."""
        return get_args(cls.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # of a generic class

    @classmethod
    def declared(cls) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields of the serializer: those made for `fields`, then attributes of the base classes and of the class
        itself.

        Of fields with the same name, the last one is used.
        """
        found: dict[str, serializers.Field[Any, Any, Any, Any]] = {}
        if cls.fields:
            hints = typing.get_type_hints(cls._draft(), include_extras=True)
            limits = {one.name: one.metadata.get("limit") for one in fields_of(cls._draft())}
            found |= {name: _field_for(hints[name], limits[name]) for name in cls.fields}
        for base in reversed(cls.__mro__):
            found |= {name: value for name, value in vars(base).items() if isinstance(value, serializers.Field)}
        return copy.deepcopy(found)

    @classmethod
    def read(cls, request: Request) -> T:
        """Read the request's parameters into the dataclass. Raises BadRequest (400), Invalid (422), NotFound (404)."""
        return cls.read_mapping(parameters(request))

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> T:
        return cast(T, cls._draft()(**cls.values(values)))


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
    """Return the field errors of a DRF ValidationError raised outside an Input."""
    return _flatten(None, error.detail)
