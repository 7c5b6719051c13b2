"""What sites send that want to show a post."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from social.api.inputs import ClientInteger, ClientString, Input

LONGEST_SIDE: Final = 65_535
"""Pixels; no page is wider or higher."""


@dataclass(frozen=True)
class OEmbedForm:
    """The address of a post, and the room there is for it in pixels."""

    url: str = ""
    maxwidth: int | None = None
    maxheight: int | None = None


class OEmbedInput(Input[OEmbedForm]):
    """The parameters of `GET /api/oembed`; others (`format`) are ignored."""

    draft = OEmbedForm
    url = ClientString()
    maxwidth = ClientInteger(minimum=0, maximum=LONGEST_SIDE)
    maxheight = ClientInteger(minimum=0, maximum=LONGEST_SIDE)
