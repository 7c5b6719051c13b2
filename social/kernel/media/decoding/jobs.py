"""Messages between the two processes: the job that is asked for, and its result."""

from __future__ import annotations

from typing import Any, Final

from social.kernel.media.decoding.confinement import Limits

_MEBIBYTE: Final = 1024 * 1024

PICTURE: Final = "picture"
SHAPED: Final = "shaped"
COVER: Final = "cover"
EXAMINED: Final = "examined"
CONVERTED: Final = "converted"

#: The bounds of each job. A picture of 33 megapixels is 130 MiB decoded, and may have to be there three times.
LIMITS: Final[dict[str, Limits]] = {
    PICTURE: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=128 * _MEBIBYTE),
    SHAPED: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=64 * _MEBIBYTE),
    COVER: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=64 * _MEBIBYTE),
    EXAMINED: Limits(cpu=15, seconds=30, memory=1536 * _MEBIBYTE, written=64 * _MEBIBYTE),
    CONVERTED: Limits(cpu=3600, seconds=7200, memory=3072 * _MEBIBYTE, written=512 * _MEBIBYTE, nice=10),
}
#: Files that a job writes: the original or what is shown, and its preview.
OUTPUTS: Final = 2

# Of an answer, besides what the job has found. STARTED comes first: it distinguishes a job that ended its process from one
# that was never begun.
STARTED: Final = b"{}\n"
CONFINED: Final = "confined"
REFUSED: Final = "refused"
UNIDENTIFIED: Final = "unidentified"


#: The line of the log for each code; people who upload read other words (`social.kernel.media.images`).
MEANINGS: Final = {
    UNIDENTIFIED: "a file was refused: it cannot be read as what it is said to be",
    "moving": "a GIF moves: it becomes a video",
    "animation": "an animation was refused: it has more frames or pixels than are drawn",
    "large": "a picture was refused: it has more pixels than are decoded",
    "memory": "a file was refused: decoding it takes more memory than one job may have",
    "size": "a picture was refused: it has more pixels than are drawn",
    "video_size": "a video was refused: its picture is too large",
    "frame_rate": "a video was refused: it has too many frames a second",
    "frames": "a video was refused: it has too many frames",
    "truncated": "a recording was refused: its end is missing",
    "codec": "a recording was refused: its codec is none that is decoded",
    "empty": "a recording was refused: there is nothing to play in it",
}


class Refused(Exception):
    """The file is one that is not taken: `code` says why, `values` what is said about it."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values
