"""Jobs that convert an uploaded video or audio file to one that every browser plays.

Limits: contract, behaviours section 10. Runs in the process of `social.kernel.media.decoder` only.
"""

import io
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from av.stream import Disposition
from av.video.stream import VideoStream
from PIL import Image

from social.kernel.media.decoding import pictures, reading
from social.kernel.media.decoding.colours import colours_of
from social.kernel.media.decoding.converting import Transcoding, copy_streams, is_playable, open_for_writing
from social.kernel.media.decoding.jobs import Refused
from social.kernel.media.decoding.measuring import Facts, check_limits, measured_facts
from social.kernel.media.decoding.pdq import hash_of
from social.kernel.media.limits import PREVIEW_PIXELS, VIDEO_PIXEL_LIMIT

#: Limits of the part that may be missing at the end of a file: a share of its duration, or a number of seconds, whichever is
#: more.
_MISSING_SHARE, _MISSING_SECONDS = 0.1, 2.0


def examined(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job EXAMINED: measure a file, whose format is in the parameter `format` (a demuxer of FFmpeg), and draw a preview
    of at most PREVIEW_PIXELS.

    Returns `kind` (video, gifv for a video without sound, or audio), `meta` and, if the file has a picture, `preview` (in
    the first output) and `blurhash`. Refuses files beyond the limits.
    """
    file = reading.RecordedFile(source, parameters["format"])
    recording = file.open()
    measured = measured_facts(file, recording)
    if recording.video is None:
        return {"kind": "audio", "meta": measured, **_attached(recording, outputs[0])}
    check_limits(recording, measured)
    kind = "video" if recording.audio is not None else "gifv"
    preview = pictures.reduced(_first_picture(file, recording.video), PREVIEW_PIXELS)
    drawn = pictures.write(preview, "PNG" if recording.is_gif else "JPEG", outputs[0])
    return {"kind": kind, "meta": measured, "preview": drawn, "blurhash": pictures.blur(preview)}


def converted(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job CONVERTED: an MP4 of H.264 and AAC, or an MP3, goes to the first output, without metadata. A file that has
    these codecs already is copied. Returns `file` and the `meta` of the written file. Refuses a file that ends long before
    its stated duration.
    """
    file = reading.RecordedFile(source, parameters["format"])
    recording = file.open()
    measured = measured_facts(file, recording)
    moving = recording.video is not None
    if moving:
        check_limits(recording, measured)
    with open_for_writing(outputs[0], "mp4" if moving else "mp3") as target:
        if is_playable(recording):
            end = copy_streams(recording, target)
        else:
            end = Transcoding(recording, target, turn=reading.turn_of(file) if moving else 0).run()
    expected = measured["duration"] or 0.0
    if expected - end > max(_MISSING_SECONDS, expected * _MISSING_SHARE):
        raise Refused("truncated", seconds=end, expected=expected)
    size = outputs[0].seek(0, os.SEEK_END)
    outputs[0].seek(0)
    written = reading.RecordedFile(outputs[0], "mov" if moving else "mp3")
    meta = measured_facts(written, written.open())
    meta.pop("frames", None)
    kind = ("video/mp4", "mp4") if moving else ("audio/mpeg", "mp3")
    return {"file": {"content_type": kind[0], "extension": kind[1], "byte_count": size}, "meta": meta}


def cover(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job COVER: a preview of a picture goes to the first output. Returns `preview`, `blurhash` and `colours`."""
    drawn, image = pictures.cover(source, outputs[0])
    return {"preview": drawn, "blurhash": pictures.blur(image), "colours": colours_of(image)}


def hashed_frame(parameters: Mapping[str, Any], source: IO[bytes], outputs: Sequence[IO[bytes]]) -> Facts:
    """Do the job HASHED_FRAME: return the `hash_of` the first picture of a video, whose format is in the parameter `format`."""
    file = reading.RecordedFile(source, parameters["format"])
    recording = file.open()
    if recording.video is None:
        raise Refused("empty")
    return hash_of(_first_picture(file, recording.video))


def _first_picture(file: reading.RecordedFile, video: VideoStream) -> Image.Image:
    """Return the first picture of a video, turned and in the proportions in which it is shown."""
    frame = reading.first_frame(file)
    turn = reading.quarters_of(frame)
    if frame.width * frame.height > VIDEO_PIXEL_LIMIT:
        raise Refused("video_size", width=frame.width, height=frame.height)
    image: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]  # PyAV gives it no types
    image = image.rotate(turn, expand=True)
    shown = reading.displayed_size(image.size, reading.pixel_aspect(video, turn))
    return image if shown == image.size else image.resize(pictures.fitted_size(shown, PREVIEW_PIXELS))


def _attached(recording: reading.Recording, output: IO[bytes]) -> Facts:
    """Return the facts of the picture that is attached to an audio file; empty if there is no picture that can be drawn."""
    for stream in recording.container.streams.video:
        if not stream.disposition & Disposition.attached_pic:
            continue
        for packet in reading.packets_of(recording, [stream]):
            try:
                drawn, image = pictures.cover(io.BytesIO(bytes(packet)), output)
            except Exception:
                # An audio file is not refused because its attached picture is broken.
                output.seek(0)
                output.truncate()
                return {}
            return {"preview": drawn, "blurhash": pictures.blur(image), "colours": colours_of(image)}
    return {}
