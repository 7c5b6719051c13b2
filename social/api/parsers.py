"""Parsers of request bodies: JSON, forms and multipart, each with a size limit that is enforced while the body is read.

Source: contract, parameters section 0 and behaviours section 3; security row 34. Every parser returns one nested dict, in
which files are values of the type `UploadedFile`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import IO, Any, Final, cast

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException
from rest_framework.parsers import BaseParser

from social.api import parameters
from social.kernel import errors, json

MEBIBYTE: Final = 1024 * 1024
DEFAULT_MAX_BODY: Final = MEBIBYTE


# Django's parser lets every codec replace bytes that it cannot decode; this codec raises an error instead.
_STRICT: Final = "utf_8_without_replacement"


def _find_codec(name: str) -> codecs.CodecInfo | None:
    if name != _STRICT:
        return None
    return codecs.CodecInfo(
        encode=codecs.utf_8_encode,
        decode=lambda data, _errors="strict": codecs.utf_8_decode(data, "strict", True),
        name=name,
    )


codecs.register(_find_codec)


class TooLarge(APIException):
    """Refusal of a body that is larger than the action's limit (413)."""

    status_code = 413
    default_detail = _("Payload too large")


class MalformedJson(APIException):
    """Refusal of a body that is declared as JSON but is not valid JSON (400)."""

    status_code = 400
    default_detail = _("Bad Request")


class LengthRequired(APIException):
    """Refusal of a form sent in chunks, whose end cannot be recognised (411)."""

    status_code = 411
    default_detail = _("Length required")


def _read(stream: IO[bytes], context: Mapping[str, Any] | None) -> bytes:
    limit = cast(int, (context or {}).get("max_text", _limit(context)))
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise TooLarge
    _check_complete(len(body), context)
    return body


def _check_complete(received: int, context: Mapping[str, Any] | None) -> None:
    """Raise BadRequest if the connection broke before the end of the body, because an incomplete request must never be
    executed.
    """
    declared = (context or {}).get("content_length")
    if declared is not None and received < declared:
        raise errors.BadRequest


def _limit(context: Mapping[str, Any] | None) -> int:
    return cast(int, (context or {}).get("max_body", DEFAULT_MAX_BODY))


class JsonParser(BaseParser):
    """Parser of `application/json`. A top-level array or scalar is the parameter `_json`; an empty body has no parameters."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the decoded body. Raises MalformedJson (400), and TooLarge (413) beyond the action's limit."""
        body = _read(stream, parser_context)
        if not body.strip():
            return {}
        try:
            value = json.loads(body)
        except json.JSONDecodeError:
            raise MalformedJson from None
        value = parameters.clean(value)
        return value if isinstance(value, dict) else {"_json": value}


class UrlencodedParser(BaseParser):
    media_type = "application/x-www-form-urlencoded"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the nested parameters. Raises the errors of `parameters.from_form`, and TooLarge (413)."""
        return parameters.from_form(_read(stream, parser_context))


class MultipartParser(BaseParser):
    """Parser of `multipart/form-data`; files above 2 MiB are written to disk while they are read."""

    media_type = "multipart/form-data"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the nested parameters with their files, which may hold any bytes. Raises BadRequest (400) for a malformed body
        or a text in invalid UTF-8, and TooLarge (413) beyond the action's limit.
        """
        context = parser_context or {}
        request = context["request"]
        meta = dict(request.META)
        meta["CONTENT_TYPE"] = media_type
        length = meta.get("CONTENT_LENGTH") or "0"
        if length == "0":
            # Django's parser would read nothing of a body that is sent in chunks, without a length.
            meta["CONTENT_LENGTH"] = str(_limit(context))
        capped = _Capped(stream, _limit(context))
        try:
            parser = _InOrder(meta, capped, request.upload_handlers, _STRICT)
            parser.parse()
        except RequestDataTooBig:
            raise TooLarge from None
        except (MultiPartParserError, SuspiciousOperation, UnicodeDecodeError):
            raise errors.BadRequest from None
        # The parser stops at the last boundary; the rest is read as well, so that all sent bytes are counted.
        capped.read()
        _check_complete(capped.received, context)
        boundary = getattr(parser, "_boundary", b"")
        if boundary and b"--" + boundary + b"--" not in capped.tail:
            raise errors.BadRequest
        # Set here so that Django closes the files when the request is over.
        request._request._files = parser.files
        return parameters.nest(parser.in_order)


class _Capped:
    # A stream that raises TooLarge when more than its limit is read.
    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream = stream
        self.left = limit
        self.received = 0
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(min(size, self.left + 1) if size >= 0 else self.left + 1)
        self.left -= len(data)
        self.received += len(data)
        self.tail = (self.tail + data)[-512:]
        if self.left < 0:
            raise TooLarge
        return data


class _RecordingPost(QueryDict):
    def __init__(self, record: list[tuple[str, Any]]) -> None:
        super().__init__(mutable=True)
        self.record = record

    def appendlist(self, key: str | bytes, value: Any) -> None:
        self.record.append((str(key), value.replace("\0", "") if isinstance(value, str) else value))
        super().appendlist(key, value)


class _RecordingFiles(MultiValueDict[str, "UploadedFile[Any]"]):
    def __init__(self, record: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.record = record

    def appendlist(self, key: str, value: Any) -> None:
        self.record.append((key, value))
        super().appendlist(key, value)


class _InOrder(MultiPartParser):
    """Django's parser, extended to record the order of all parts, which is needed to read `a[][b]`."""

    def __init__(self, *args: Any) -> None:
        self.in_order: list[tuple[str, Any]] = []
        super().__init__(*args)

    @property
    def files(self) -> MultiValueDict[str, UploadedFile[Any]]:
        return self._recording_files

    @property
    def _post(self) -> QueryDict:
        return self._recording_post

    @_post.setter
    def _post(self, value: QueryDict) -> None:
        self._recording_post = _RecordingPost(self.in_order)

    @property
    def _files(self) -> MultiValueDict[str, UploadedFile[Any]]:
        return self._recording_files

    @_files.setter
    def _files(self, value: MultiValueDict[str, UploadedFile[Any]]) -> None:
        self._recording_files = _RecordingFiles(self.in_order)
