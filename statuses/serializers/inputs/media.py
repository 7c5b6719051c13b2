"""What clients send with a file."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile

from social.api.inputs import ClientFile, ClientString, Input


@dataclass(frozen=True)
class MediaForm:
    """The parameters of an upload or a change."""

    file: UploadedFile | None = None
    thumbnail: UploadedFile | None = None
    description: str | None = None
    focus: str | None = None


class MediaInput(Input[MediaForm]):
    """A file, its description and its focus (contract, parameters section 3 "Media")."""

    draft = MediaForm
    file = ClientFile()
    thumbnail = ClientFile()
    description = ClientString()
    focus = ClientString()
