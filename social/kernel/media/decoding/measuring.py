"""Measures a video or audio file, without converting it, and checks whether it is within the limits.

Limits: contract, parameters section 3 "Media" and behaviours section 10. Runs in the process of
`social.kernel.media.decoder` only.
"""

from fractions import Fraction
from typing import Any, Final, cast

from av.video.stream import VideoStream

from social.kernel.media import limits
from social.kernel.media.decoding import reading
from social.kernel.media.decoding.jobs import Refused

_MICROSECONDS: Final = 1_000_000

Facts = dict[str, Any]


def check_limits(recording: reading.Recording, measured: Facts) -> None:
    """Raise Refused for a video beyond the limits (contract, parameters section 3 "Media")."""
    video = cast(VideoStream, recording.video)
    context = video.codec_context
    pixels = context.width * context.height
    size = {"width": context.width, "height": context.height}
    if recording.is_gif and pixels > limits.GIF_PIXEL_LIMIT:
        raise Refused("size", **size)
    if pixels > limits.VIDEO_PIXEL_LIMIT:
        raise Refused("video_size", **size)
    rate, frames = measured["fps"], measured.pop("frames")
    if rate > limits.FRAME_RATE_LIMIT:
        raise Refused("frame_rate", rate=int(rate))
    if frames > limits.FRAMES_LIMIT or (recording.is_gif and frames * pixels > limits.GIF_TOTAL_PIXELS):
        raise Refused("frames", frames=frames)


def measured_facts(file: reading.RecordedFile, recording: reading.Recording) -> Facts:
    """Return the `meta` of a file, without its pictures: `original`, and the flat keys of older versions of the entity. For
    a video `frames` is added. If the header gives no duration, or a wrong one, the packets of the file are counted.
    """
    container, video, audio = recording.container, recording.video, recording.audio
    duration = container.duration / _MICROSECONDS if container.duration else 0.0
    rate = (video.average_rate or video.guessed_rate) if video is not None else None
    frames = video.frames if video is not None else 0
    is_counted = (
        recording.is_gif or duration <= 0 or (video is not None and (not rate or rate > limits.FRAME_RATE_LIMIT))
    )
    if is_counted:
        frames, counted = _counted(file.open())
        duration = counted or duration
        if video is not None and frames and duration > 0:
            rate = Fraction(frames / duration).limit_denominator(1001)
    elif video is not None and not frames:
        frames = round(duration * float(rate or 0))
    size = container.size
    bitrate = container.bit_rate or (round(size * 8 / duration) if duration > 0 else 0)
    measured: Facts = {"length": _written_time(duration), "duration": round(duration, 3)}
    original: Facts = {"duration": round(duration, 6), "bitrate": int(bitrate)}
    if video is not None:
        turn = reading.turn_of(file)
        width, height = reading.displayed_size(reading.turned_size(video, turn), reading.pixel_aspect(video, turn))
        rate = rate or Fraction(0)
        original = {
            "width": width,
            "height": height,
            "frame_rate": f"{rate.numerator}/{rate.denominator}",
            **original,
        }
        measured |= {
            "fps": round(float(rate), 3),
            "size": f"{width}x{height}",
            "width": width,
            "height": height,
            "aspect": width / height,
            "frames": frames,
        }
    if audio is not None:
        context = audio.codec_context
        channels = audio.layout.nb_channels
        measured |= {
            "audio_encode": context.codec.canonical_name,
            "audio_bitrate": f"{context.sample_rate} Hz",
            "audio_channels": {1: "mono", 2: "stereo"}.get(channels, f"{channels} channels"),
        }
    measured["original"] = original
    return measured


def _counted(recording: reading.Recording) -> tuple[int, float]:
    """Return the number of pictures in a file, and the seconds until its end, counted by its packets."""
    frames, end = 0, 0.0
    streams = [stream for stream in (recording.video, recording.audio) if stream is not None]
    for packet in reading.packets_of(recording, streams):
        if packet.stream is recording.video:
            frames += 1
        if packet.pts is not None and packet.time_base is not None:
            end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    return frames, end


def _written_time(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02d}:{rest:05.2f}"
