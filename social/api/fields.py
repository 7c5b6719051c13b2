"""Fields that read a client's values: booleans, numbers, ids, dates, texts, lists and files in all their spellings.

Source: contract, parameters section 0; clients.md, trap 14; seed-coverage D-06 (files in base64).
"""

from __future__ import annotations

import base64
import binascii
import io
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, unquote_to_bytes

from django.core.files.uploadedfile import InMemoryUploadedFile, UploadedFile
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from social.kernel import errors
from social.kernel.ids import parse_id

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Messages = dict[str, str | _StrPromise]

_FALSE = frozenset({"false", "f", "0", "off"})
_AGREED = frozenset({"true", "1", "on"})
_MAX_INTEGER = 2**63 - 1

_BLANK = _("can't be blank")
_INVALID = _("is invalid")


def as_boolean(value: Any) -> bool:
    """Return a client's boolean; false if the value is absent or empty, or is an object or a list."""
    if value is None or value == "" or isinstance(value, list | dict):
        return False
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE
    return value is not False and value != 0


def as_integer(value: Any, default: int = 0) -> int:
    """Return a client's integer: 0 for a text without leading digits; `default` if the value is absent, empty, an object or a
    list. The integer is clamped to 64 bits, so that the database accepts it.
    """
    if value is None or value == "" or isinstance(value, list | dict):
        return default
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else 0
    if isinstance(value, str):
        text = value.strip()
        sign = -1 if text.startswith("-") else 1
        digits = text.lstrip("+-")[:20]
        end = next((index for index, character in enumerate(digits) if character not in "0123456789"), len(digits))
        value = sign * int(digits[:end] or 0)
    if not isinstance(value, int):
        return 0
    return max(-_MAX_INTEGER, min(_MAX_INTEGER, value))


def as_list(value: Any, *, scalar: bool = False, by_index: bool = False) -> list[Any]:
    """Return a client's list, sent as a JSON array or as `a[]`; empty for any other value, including `a[0]`.

    With `by_index`, `a[0]`, `a[1]`, ... are a list in the order of the indices; with `scalar`, a single value is a list of
    one (contract, parameters section 0).
    """
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        if by_index and value and all(isinstance(key, str) and key.isascii() and key.isdigit() for key in value):
            # The keys are sorted as numbers without int(), which refuses more than 4,300 digits.
            return [value[key] for key in sorted(value, key=lambda key: (len(key.lstrip("0")), key.lstrip("0")))]
        return []
    if scalar and value not in (None, ""):
        return [value]
    return []


class _ClientField:
    """Field that is optional by default; an empty value counts as absent, and so does null unless the field may be null."""

    default_error_messages: ClassVar[Messages] = {
        "required": _BLANK, "null": _BLANK, "blank": _BLANK, "invalid": _INVALID,
    }  # fmt: skip
    empty_is_absent = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, **options})

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if (data == "" and self.empty_is_absent) or (data is None and not self.allow_null):  # type: ignore[attr-defined]  # a mixin of fields
            data = empty
        return super().validate_empty_values(data)  # type: ignore[misc,no-any-return]  # a mixin of fields


class ClientBoolean(_ClientField, serializers.Field[bool, Any, bool, Any]):
    """A boolean: `false`, `0`, `f` and `off` in upper or lower case are false, other values are true; "" counts as absent."""

    def to_internal_value(self, data: Any) -> bool:
        if isinstance(data, list | dict):
            raise SkipField
        return as_boolean(data)


class ClientAgreement(_ClientField, serializers.Field[bool, Any, bool, Any]):
    """An agreement: true for the spellings of `true` that libraries send, such as `True` and `on`; false for any other
    value.

    Source: contract, parameters section 2 "agreement"; clients.md, trap 14.
    """

    def to_internal_value(self, data: Any) -> bool:
        return str(data).strip().lower() in _AGREED if isinstance(data, str | bool | int) else False


class ClientInteger(_ClientField, serializers.Field[int, Any, int, Any]):
    """A whole number; a text that does not begin with digits is read as 0. A number outside of the bounds is invalid."""

    default_error_messages: ClassVar[Messages] = {
        "minimum": _("must be greater than or equal to {minimum}"),
        "maximum": _("must be less than or equal to {maximum}"),
    }

    def __init__(self, *, minimum: int | None = None, maximum: int | None = None, **options: Any) -> None:
        self.minimum, self.maximum = minimum, maximum
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> int:
        number = as_integer(data)
        if self.minimum is not None and number < self.minimum:
            self.fail("minimum", minimum=self.minimum)
        if self.maximum is not None and number > self.maximum:
            self.fail("maximum", maximum=self.maximum)
        return number


class ClientNumber(_ClientField, serializers.Field[float, Any, float, Any]):
    """A finite number, which may have a fraction (focus points)."""

    def to_internal_value(self, data: Any) -> float:
        try:
            number = float(data)
        except (TypeError, ValueError):
            self.fail("invalid")
        if not math.isfinite(number):
            self.fail("invalid")
        return number


class ClientString(_ClientField, serializers.Field[str, Any, str, Any]):
    """A text; numbers and booleans become text, objects and lists are dropped. "" is a value: it clears the text.
    `max_length` counts code points; use the kernel's `counted_length` where the contract counts graphemes.
    """

    default_error_messages: ClassVar[Messages] = {"max_length": _("is too long (maximum is {count} characters)")}
    empty_is_absent = False

    def __init__(
        self, *, max_length: int | None = None, blank: bool = True, strip: bool = False, **options: Any
    ) -> None:
        self.max_length, self.blank, self.strip = max_length, blank, strip
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool):
            data = "true" if data else "false"
        elif isinstance(data, int | float):
            # Whole numbers beyond 64 bits in JSON are read as floats. Written with an exponent (`1e+20`), such a number would
            # be taken for the id 1.
            data = f"{data:.0f}" if isinstance(data, float) and data.is_integer() else str(data)
        if not isinstance(data, str):
            raise SkipField
        text = data.strip() if self.strip else data
        if not self.blank and not text.strip():
            self.fail("blank")
        if self.max_length is not None and len(text) > self.max_length:
            self.fail("max_length", count=self.max_length)
        return text


class ClearableString(ClientString):
    """A text that is cleared by "" and by JSON's null."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return super().validate_empty_values("" if data is None else data)


class ClientWord(ClientString):
    """A text; "" counts as absent."""

    empty_is_absent = True


class ClientChoice(_ClientField, serializers.Field[str, Any, str, Any]):
    """A text that is one of the `choices`; "" counts as absent."""

    default_error_messages: ClassVar[Messages] = {"invalid_choice": _("is not included in the list")}

    def __init__(self, choices: Iterable[str], **options: Any) -> None:
        self.choices = tuple(choices)
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice")
        return data


class ClientDateTime(_ClientField, serializers.Field[datetime, Any, str, Any]):
    """A date and time: ISO 8601 with any offset (by default UTC), a date alone, or the form of mail headers (RFC 5322)."""

    def to_internal_value(self, data: Any) -> datetime:
        text = data.strip() if isinstance(data, str) else ""
        moment: datetime | None = None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            try:
                moment = parsedate_to_datetime(text)
            except (TypeError, ValueError, IndexError, OverflowError):
                self.fail("invalid")
        try:
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except OverflowError:
            self.fail("invalid")


class IdField(_ClientField, serializers.Field[int, Any, str, Any]):
    """An id, sent as a string or a number. A value that cannot be an id raises NotFound (404), as an unknown id does."""

    def to_internal_value(self, data: Any) -> int:
        return errors.require_found(parse_id(data.strip() if isinstance(data, str) else data))


class CursorField(IdField):
    """An id used as a cursor: the leading digits of the value, or 0 if there are none, as in the parameters of lists."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, list | dict):
            raise SkipField
        return max(0, as_integer(data))


class ListField(_ClientField):
    """Base of the fields that hold lists. `scalar`: a single value counts as a list of one; otherwise it is dropped."""

    default_error_messages: ClassVar[Messages] = {"max_items": _("is too long (maximum is {count})")}
    by_index = False

    def __init__(self, *, scalar: bool = False, max_items: int | None = None, **options: Any) -> None:
        self.scalar, self.max_items = scalar, max_items
        super().__init__(**options)

    def items(self, data: Any) -> Sequence[Any]:
        """Return the list that was sent. Raises SkipField if the value is not a list."""
        if not isinstance(data, list | dict) and not self.scalar:
            raise SkipField
        items = as_list(data, scalar=self.scalar, by_index=self.by_index)
        if isinstance(data, dict) and not items:
            raise SkipField
        if self.max_items is not None and len(items) > self.max_items:
            self.fail("max_items", count=self.max_items)  # type: ignore[attr-defined]  # a mixin of fields
        return items


class IdListField(ListField, serializers.Field[tuple[int, ...], Any, list[str], Any]):
    """Ids in the order sent, without repetitions.

    With `scalar`, a single id is a list of one. A value that cannot be an id is left out; with `all_known` it becomes the id 0,
    which no row has, so that it counts as unknown.
    """

    def __init__(self, *, all_known: bool = False, **options: Any) -> None:
        self.all_known = all_known
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> tuple[int, ...]:
        numbers = (parse_id(item.strip() if isinstance(item, str) else item) for item in self.items(data))
        if self.all_known:
            numbers = (number or 0 for number in numbers)
        return tuple(dict.fromkeys(number for number in numbers if number is not None))


class StringListField(ListField, serializers.Field[tuple[str, ...], Any, list[str], Any]):
    """Texts in the order sent; numbers become text, other items are left out."""

    def to_internal_value(self, data: Any) -> tuple[str, ...]:
        return tuple(
            str(item)
            for item in self.items(data)
            if isinstance(item, str) or (isinstance(item, int | float) and not isinstance(item, bool))
        )


class NestedListField(ListField, serializers.Field[tuple[Any, ...], Any, list[Any], Any]):
    """Objects, each read by an `Input`, sent as a JSON array, as `a[][b]`, or with index keys. Other items are left out."""

    by_index = True

    def __init__(self, child: Any, **options: Any) -> None:
        self.input = child
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> tuple[Any, ...]:
        return tuple(self.input.read_mapping(item) for item in self.items(data) if isinstance(item, dict))


class ObjectField(_ClientField, serializers.Field[Any, Any, Any, Any]):
    """An object, read by an `Input`. Any other value is dropped; with `non_empty`, an empty object is dropped too."""

    def __init__(self, child: Any, *, non_empty: bool = False, **options: Any) -> None:
        self.input, self.non_empty = child, non_empty
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict) or (self.non_empty and not data):
            raise SkipField
        return self.input.read_mapping(data)


class ClientFile(_ClientField, serializers.Field["UploadedFile[Any]", Any, str, Any]):
    """A file, with the content type that the client claims: a multipart part or a string `data:<mime>;base64,<data>`. Any
    other value raises BadRequest (400).
    """

    def to_internal_value(self, data: Any) -> UploadedFile[Any]:
        if isinstance(data, UploadedFile):
            return data
        if not isinstance(data, str) or not data.startswith("data:"):
            raise errors.BadRequest
        head, comma, encoded = data[5:].partition(",")
        if not comma:
            raise errors.BadRequest
        mime, *marks = head.split(";")
        content = _decoded(encoded) if "base64" in marks else unquote_to_bytes(encoded)
        return InMemoryUploadedFile(
            io.BytesIO(content), self.field_name, "upload", mime.strip().lower() or "text/plain", len(content), None
        )


def _decoded(encoded: str) -> bytes:
    """Decode base64 with or without padding and line breaks. Raises BadRequest for any other text."""
    plain = "".join(unquote(encoded).split()) if "%" in encoded else "".join(encoded.split())
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise errors.BadRequest from None
