"""What clients send to show a hashtag on their profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from social.api.inputs import ClientString, Input
from social.kernel.errors import BadRequest


@dataclass(frozen=True)
class FeaturedTagForm:
    """The parameters of showing a hashtag."""

    name: str = ""


class FeaturedTagInput(Input[FeaturedTagForm]):
    """The hashtag, with its sign or without."""

    draft = FeaturedTagForm
    name = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> FeaturedTagForm:
        """As of any input. Raises BadRequest for a blank name."""
        form = super().read_mapping(values)
        if not form.name.strip():
            raise BadRequest.missing("name")
        return form
