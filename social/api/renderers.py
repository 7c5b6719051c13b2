"""How answers are written: JSON, always, by orjson."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from django.utils.functional import Promise
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

CONTENT_TYPE = "application/json; charset=utf-8"


def render(data: Any) -> bytes:
    """`data` as JSON. Raises TypeError for what an entity may not hold (models, decimals, integers beyond 64 bits)."""
    return orjson.dumps(data, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Promise):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no part of an entity")


class OrjsonRenderer(BaseRenderer):
    """Writes `application/json; charset=utf-8`."""

    media_type = "application/json"
    format = "json"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """`data` as bytes; nothing for no data."""
        return b"" if data is None else render(data)


class JsonOnly(BaseContentNegotiation):
    """Whatever a client accepts, or asks for by `.json`, it gets JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """The parser of the body's type, if there is one."""
        media_type = str(request.content_type).partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(  # type: ignore[override]
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first renderer."""
        return renderers[0], renderers[0].media_type
