"""Messages between a process of the server and the decoding process: jobs and their results."""

from typing import Any, Final

from social.kernel.media.decoding.confinement import Limits

_MEBIBYTE: Final = 1024 * 1024

PICTURE: Final = "picture"
SHAPED: Final = "shaped"
COVER: Final = "cover"
EXAMINED: Final = "examined"
CONVERTED: Final = "converted"
HASHED: Final = "hashed"
HASHED_FRAME: Final = "hashed_frame"

#: The limits of each job. A picture of 33 megapixels takes 130 MiB decoded, and up to three copies may be needed at the same
#: time.
LIMITS: Final[dict[str, Limits]] = {
    PICTURE: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=128 * _MEBIBYTE),
    SHAPED: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=64 * _MEBIBYTE),
    COVER: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=64 * _MEBIBYTE),
    EXAMINED: Limits(cpu=15, seconds=30, memory=1536 * _MEBIBYTE, written=64 * _MEBIBYTE),
    CONVERTED: Limits(cpu=3600, seconds=7200, memory=3072 * _MEBIBYTE, written=512 * _MEBIBYTE, nice=10),
    HASHED: Limits(cpu=20, seconds=40, memory=1024 * _MEBIBYTE, written=_MEBIBYTE),
    HASHED_FRAME: Limits(cpu=15, seconds=30, memory=1536 * _MEBIBYTE, written=_MEBIBYTE),
}
#: Number of files that a job writes: the original or the shown file, and its preview.
OUTPUTS: Final = 2

# Parts of an answer, in addition to the results of the job. STARTED comes first, and distinguishes a job whose process has
# ended from a job that was never started.
STARTED: Final = b"{}\n"
CONFINED: Final = "confined"
REFUSED: Final = "refused"
UNIDENTIFIED: Final = "unidentified"


#: The log message for each code; uploaders get other messages (`social.kernel.media.images`).
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
    """Refusal of a file: `code` says why, `values` are the details."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.values = values
