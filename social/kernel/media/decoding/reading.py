"""Opens a video or audio file from outside, and reads packets and pictures from it.

The format is the one that the first bytes of the file show; no other is tried, and nothing the file refers to is opened
(security row 1). Runs in the process of `social.kernel.media.decoder` only.
"""

import contextlib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import IO, Any, Final, cast

import av
import av.error
import av.logging
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from social.kernel.media.decoding.jobs import Refused
from social.kernel.media.limits import VIDEO_PIXEL_LIMIT
from social.kernel.media.types import HEAD, media_type

av.logging.set_level(None)
# The library would import its parts when a file first needs them, but a confined process can import nothing.
for _module in pkgutil.walk_packages(av.__path__, "av."):
    if _module.name not in ("av.__main__", "av.datasets"):
        importlib.import_module(_module.name)

_VIDEO_CODECS: Final = (
    *("h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "theora", "gif", "mjpeg", "prores", "h263"),
    *("wmv1", "wmv2", "wmv3", "vc1"),
)
_AUDIO_CODECS: Final = (
    *("aac", "mp3", "opus", "vorbis", "flac", "alac", "ac3", "eac3", "amr_nb", "amr_wb", "wmav1", "wmav2", "wmapro"),
    *("pcm_u8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le"),
    *("pcm_f32be", "pcm_f64le", "pcm_mulaw", "pcm_alaw"),
)
THREADS: Final = 2
BUFFER: Final = 256 * 1024
_BROKEN_PACKETS: Final = 100
# An ID3 tag (ID3v2.4, section 3.1): the length of its header and footer, and how many tags may follow each other. Taggers
# write it to files of these types too, whose first bytes then look like those of an MP3.
_TAG_HEADER: Final = 10
_TAGS_AT_MOST: Final = 8
_TAGGED: Final = {"audio/flac": "flac", "audio/aac": "aac"}
#: The largest aspect ratio of pixels that is accepted, in either direction; formats in use stay below 3.
_ASPECT_LIMIT: Final = 8


@dataclass
class Recording:
    """A file that was opened, with its first video stream and its first audio stream, if it has them."""

    container: InputContainer
    video: VideoStream | None
    audio: AudioStream | None

    @property
    def is_gif(self) -> bool:
        return "gif" in self.container.format.name.split(",")


@dataclass(frozen=True)
class RecordedFile:
    """A file and its format. Each pass opens the file again, because not every format can be read from the beginning twice."""

    source: IO[bytes]
    demuxer: str

    def open(self) -> Recording:
        """Open the file. Raises Refused for a file that has neither video nor audio, or whose codecs are not accepted."""
        demuxer = _demuxer_behind_tags(self.source, self.demuxer)
        self.source.seek(0)
        container = cast(
            InputContainer,
            av.open(
                self.source,
                format=demuxer,
                buffer_size=BUFFER,
                # These options prevent FFmpeg from opening any other file.
                container_options={"protocol_whitelist": "none", "format_whitelist": demuxer},
                metadata_errors="replace",
            ),
        )
        videos = [
            stream
            for stream in container.streams.video
            if not stream.disposition & (Disposition.attached_pic | Disposition.still_image)
        ]
        video = videos[0] if videos else None
        audio = container.streams.audio[0] if container.streams.audio else None
        if video is None and audio is None:
            raise Refused("empty")
        for stream, allowed in ((video, _VIDEO_CODECS), (audio, _AUDIO_CODECS)):
            if stream is None:
                continue
            if codec_of(stream) not in allowed:
                raise Refused("codec", codec=codec_of(stream))
            stream.codec_context.thread_count = THREADS
        if video is not None:
            if not video.codec_context.width or not video.codec_context.height:
                raise Refused("empty")
            # The decoder enforces the limit as well, because the size of a stream may change after its beginning.
            video.codec_context.options = {"max_pixels": str(VIDEO_PIXEL_LIMIT * 2)}
        return Recording(container, video, audio)


def _demuxer_behind_tags(source: IO[bytes], demuxer: str) -> str:
    """Return the demuxer of a file with ID3 tags, chosen by the first bytes after the tags; `demuxer` for any other file."""
    place, head = 0, b""
    for _tag in range(_TAGS_AT_MOST if demuxer == "mp3" else 0):
        source.seek(place)
        head = source.read(HEAD)
        if len(head) < _TAG_HEADER or not head.startswith(b"ID3"):
            break
        has_footer, size = bool(head[5] & 0x10), 0
        for byte in head[6:_TAG_HEADER]:
            size = size << 7 | byte & 0x7F
        place += _TAG_HEADER * (1 + has_footer) + size
    return _TAGGED.get(media_type(head) or "", demuxer)


def codec_of(stream: VideoStream | AudioStream) -> str:
    context = stream.codec_context
    return context.codec.canonical_name if context is not None else "unknown"


def packets_of(recording: Recording, streams: Sequence[VideoStream | AudioStream]) -> Iterator[av.Packet]:
    """Return the packets of some streams. Unreadable packets are skipped; after more than _BROKEN_PACKETS of them, reading
    ends.
    """
    packets = recording.container.demux(*streams)
    for _broken in range(_BROKEN_PACKETS + 1):
        with contextlib.suppress(av.error.InvalidDataError):
            yield from (packet for packet in packets if packet.size)
            return


def flush(source: VideoStream | AudioStream) -> Iterable[Any]:
    try:
        return cast(Iterable[Any], source.decode(None))
    except (av.error.InvalidDataError, av.error.EOFError):
        return ()


def turn_of(file: RecordedFile) -> int:
    """Return the angle by which the pictures are turned before they are shown, counter-clockwise: 0, 90, 180 or 270 degrees."""
    return quarters_of(first_frame(file))


def quarters_of(frame: VideoFrame) -> int:
    return round(frame.rotation / 90) * 90 % 360


def turned_size(video: VideoStream, turn: int) -> tuple[int, int]:
    """Return width and height in pixels after the pictures were turned."""
    width, height = video.codec_context.width, video.codec_context.height
    return (height, width) if turn in (90, 270) else (width, height)


def displayed_size(size: tuple[int, int], aspect: Fraction) -> tuple[int, int]:
    """Return width and height of a picture as a player shows it: one side grows if the pixels are not square (HTML, section
    4.8.9 "natural width and height" of a video).
    """
    width, height = size
    return (round(width * aspect), height) if aspect > 1 else (width, round(height / aspect))


def pixel_aspect(video: VideoStream, turn: int) -> Fraction:
    """Return the aspect ratio of a pixel after the pictures were turned; 1 if the file gives none, or an impossible one."""
    aspect = Fraction(video.sample_aspect_ratio or 1)
    if not 1 / _ASPECT_LIMIT <= aspect <= _ASPECT_LIMIT:
        return Fraction(1)
    return 1 / aspect if turn in (90, 270) else aspect


def first_frame(file: RecordedFile) -> VideoFrame:
    recording = file.open()
    video = cast(VideoStream, recording.video)
    for packet in packets_of(recording, [video]):
        for frame in decode(packet):
            return cast(VideoFrame, frame)
    for frame in flush(video):
        return cast(VideoFrame, frame)
    raise Refused("empty")


def decode(packet: av.Packet) -> Iterable[Any]:
    """Return the frames of a packet; none if it is broken."""
    try:
        return cast(Iterable[Any], packet.decode())
    except av.error.InvalidDataError:
        return ()
