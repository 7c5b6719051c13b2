"""What clients send for a timeline."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientBoolean, ClientString, Input, StringListField


@dataclass(frozen=True)
class TimelineForm:
    """Which public posts are wanted."""

    local: bool = False
    remote: bool = False
    only_media: bool = False
    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    url: str = ""


class PublicInput(Input[TimelineForm]):
    """Posts of this server, of others, or those with files."""

    draft = TimelineForm
    local = ClientBoolean()
    remote = ClientBoolean()
    only_media = ClientBoolean()


class LinkInput(Input[TimelineForm]):
    """Posts that show this link."""

    draft = TimelineForm
    url = ClientString()


class TagInput(PublicInput):
    """Other hashtags that posts may have, must have, must not have."""

    any = StringListField(scalar=True)
    all = StringListField(scalar=True)
    none = StringListField(scalar=True)
