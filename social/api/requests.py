"""The request that actions get: its parameters are the same whatever the client's encoding."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from django.http.request import RawPostDataException
from django.utils.datastructures import MultiValueDict
from rest_framework.request import Empty, Request

from social.api import parameters
from social.api.parsers import DEFAULT_MAX_BODY, LengthRequired, TooLarge

if TYPE_CHECKING:
    from social.api.identities import Identity

_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


class Caller:
    """The caller, `request.user` of the API, as ids only. Load rows with `accounts.queries` where they are needed."""

    __slots__ = ("account_id", "id", "is_authenticated", "pk")

    is_active = True
    is_staff = False
    is_superuser = False

    def __init__(self, user_id: int | None = None, account_id: int | None = None) -> None:
        self.id = self.pk = user_id
        self.account_id = account_id
        self.is_authenticated = user_id is not None

    @property
    def is_anonymous(self) -> bool:
        return not self.is_authenticated


class ApiRequest(Request):
    """DRF's request, with query and body merged in `parameters`.

    Whatever the method, a body of an unknown type is ignored, and a body without a type is read as a form; a body sent in
    chunks is read up to the action's limit. `data` is the body alone, `query_params` the query alone.
    """

    if TYPE_CHECKING:
        auth: Identity | None
        user: Caller  # type: ignore[assignment]  # DRF declares Django's user
        client_ip: str
        _data: Any
        _stream: Any
        _files: MultiValueDict[str, Any]

    def call_as(self, identity: Identity | None) -> None:
        """Set the caller; None stands for an anonymous caller."""
        if identity is not self.auth:
            self.auth = identity
            self.user = Caller(identity.user_id, identity.account_id) if identity is not None else Caller()

    @property
    def parameters(self) -> dict[str, Any]:
        """The nested parameters of query and body; the query takes precedence (contract, parameters section 0). Raises
        BadRequest (400) for a malformed query or body, TooLarge (413) beyond the action's limit.
        """
        merged: dict[str, Any] | None = self.__dict__.get("_parameters")
        if merged is None:
            query = parameters.from_query(self._request.META.get("QUERY_STRING", ""))
            body = cast(dict[str, Any], self.data)
            merged = {**body, **query} if body else query
            self.__dict__["_parameters"] = merged
        return merged

    @property
    def has_body(self) -> bool:
        """Tell whether the client sends a body, of known length or in chunks."""
        return bool(self._length()) or "HTTP_TRANSFER_ENCODING" in self._request.META

    @property
    def media_type(self) -> str:
        """The body's media type without parameters, in lower case."""
        return self.content_type.partition(";")[0].strip().lower()

    def may_carry_token(self) -> bool:
        """Tell whether authentication searches the body for a token, which it does only if the body is small and can hold
        parameters.
        """
        return self._length() <= DEFAULT_MAX_BODY and (self.media_type in (*_FORM_TYPES, "", "application/json"))

    def _length(self) -> int:
        meta = self._request.META
        try:
            return int(meta.get("CONTENT_LENGTH") or 0)
        except ValueError:
            return 0

    def _load_stream(self) -> None:
        length = self._length()
        if length > self.parser_context.get("max_body", DEFAULT_MAX_BODY):
            raise TooLarge
        self.parser_context["content_length"] = length or None
        if length == 0:
            environ = self._request.META
            chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
            if chunked and self.media_type in (_FORM_TYPES[0], ""):
                # A broken connection looks like the end of a form sent in chunks; JSON and multipart mark their end.
                raise LengthRequired
            # The body is read from the stream of the WSGI server, which ends with the body, because Django reads no body
            # without a Content-Length.
            self._stream = environ.get("wsgi.input") if chunked else None
        elif self._request._read_started:  # type: ignore[attr-defined]  # as DRF's own Request reads it
            self._stream = io.BytesIO(self._request.body)
        else:
            self._stream = self._request

    def _load_data_and_files(self) -> None:
        if self._data is not Empty:
            return
        # Set before reading, so that after a failure a second read finds an empty body instead of a stream that was read
        # halfway.
        self._data = self._full_data = {}
        self._files = MultiValueDict()
        self._data = self._full_data = self._read_body()

    def _read_body(self) -> dict[str, Any]:
        try:
            stream = self.stream
        except RawPostDataException:
            return {}
        if stream is None:
            return {}
        media_type = self.media_type
        for parser in self.parsers or ():
            if parser.media_type == (media_type or _FORM_TYPES[0]):
                return cast(dict[str, Any], parser.parse(stream, self.content_type, self.parser_context))
        return {}


class BodilessRequest(ApiRequest):
    """Request whose body is not read, so that only its header and query can hold a token."""

    def may_carry_token(self) -> bool:
        return False

    def _read_body(self) -> dict[str, Any]:
        return {}
