"""Helpers that create videos, sounds and photographs with the encoders that cameras, phones and browsers use."""

import array
import functools
import io
import math
import random
import tempfile
import wave
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.logging
import pillow_heif
from PIL import Image

av.logging.set_level(av.logging.FATAL)
pillow_heif.register_heif_opener()

SECRET = "+52.5200+013.4050/"
"""A location, in the format in which phones write it into recordings."""


def drawn(width: int, height: int, number: int) -> Image.Image:
    """Return one picture of a series; its four sides all differ."""
    ramp = Image.linear_gradient("L").resize((width, height))
    return Image.merge(
        "RGB", (ramp, ramp.rotate(90).resize((width, height)), Image.new("L", (width, height), number * 5 % 256))
    )


@functools.cache
def recording(
    container: str,
    video: str | None = None,
    audio: str | None = None,
    *,
    width: int = 96,
    height: int = 64,
    frames: int = 10,
    rate: int = 10,
    rotation: int = 0,
    seconds: float = 1.0,
    audio_rate: int = 48_000,
    mono: bool = False,
    secret: bool = True,
    pixel: Fraction | None = None,
    options: tuple[tuple[str, str], ...] = (),
) -> bytes:
    """Return a file in FFmpeg's format `container`, written by the given encoders, with SECRET in its metadata if the format
    has metadata.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        with av.open(str(path), "w", format=container) as target:
            if secret:
                target.metadata.update({"title": SECRET, "location": SECRET})
            pictures = _add_video(target, video, width, height, rate, rotation, dict(options)) if video else None
            if pictures is not None and pixel is not None:
                pictures.codec_context.sample_aspect_ratio = pixel
            sound = target.add_stream(audio, rate=audio_rate, layout="mono" if mono else "stereo") if audio else None
            if sound is not None:
                sound.codec_context.bit_rate = 64_000
            if pictures is not None:
                for number in range(frames):
                    frame = av.VideoFrame.from_image(drawn(width, height, number))
                    frame.pts, frame.time_base = number, Fraction(1, rate)
                    target.mux(pictures.encode(frame))
            if sound is not None:
                for frame in _tone(seconds, audio_rate, mono):
                    target.mux(sound.encode(frame))
            for stream in (pictures, sound):
                if stream is not None:
                    target.mux(stream.encode(None))
        return path.read_bytes()


def noise(byte_count: int) -> bytes:
    """Return a WAV file of this size with random samples."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(random.Random(1).randbytes(byte_count))
    return made.getvalue()


def standing(data: bytes, *, frames: int, rate: int) -> bytes:
    """Return an MP4 that shows its first picture `frames` times; this is fast, because the picture is encoded once."""
    made = io.BytesIO()
    with av.open(io.BytesIO(data)) as source, av.open(made, "w", format="mp4") as target:
        picture = bytes(next(packet for packet in source.demux(video=0) if packet.size))
        stream = target.add_stream_from_template(source.streams.video[0])
        for number in range(frames):
            packet = av.Packet(picture)
            packet.stream, packet.time_base, packet.is_keyframe = stream, Fraction(1, rate), True
            packet.pts = packet.dts = number
            packet.duration = 1
            target.mux(packet)
    return made.getvalue()


def _add_video(
    target: Any, codec: str, width: int, height: int, rate: int, rotation: int, options: dict[str, str]
) -> Any:
    stream = target.add_stream(codec, rate=rate, options=options)
    stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
    if rotation:
        stream.set_display_rotation(rotation)
    return stream


def _tone(seconds: float, rate: int, mono: bool) -> list[Any]:
    frames, samples, channels = [], 1024, 1 if mono else 2
    for start in range(0, int(seconds * rate), samples):
        frame = av.AudioFrame("s16", "mono" if mono else "stereo", samples)
        frame.rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
        wave = (
            int(12_000 * math.sin(2 * math.pi * 440 * (start + n // channels) / rate))
            for n in range(samples * channels)
        )
        frame.planes[0].update(array.array("h", wave).tobytes())
        frames.append(frame)
    return frames


@functools.cache
def moving_gif(width: int = 60, height: int = 40, frames: int = 3, milliseconds: int = 500) -> bytes:
    first, *others = (drawn(width, height, number * 20) for number in range(frames))
    return saved(first, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0)


def photograph(width: int = 60, height: int = 40, image_format: str = "JPEG", *, orientation: int = 6) -> bytes:
    """Return a picture as a phone saves it: with an orientation, and the location where it was taken."""
    image = drawn(width, height, 1)
    exif = image.getexif()
    exif[0x0112], exif[0x010F], exif[0x010E] = orientation, "Telephone", SECRET
    place = exif.get_ifd(0x8825)
    place[1], place[2], place[3], place[4] = "N", (52.0, 31.0, 12.0), "E", (13.0, 24.0, 18.0)
    # If EXIF is passed as bytes, the HEIC encoder writes the rotation as a property of the picture, as phones do (ISO
    # 23008-12).
    return saved(image, image_format, exif=exif.tobytes(), quality=95)


def saved(image: Image.Image, image_format: str, **options: Any) -> bytes:
    """Return the bytes of the image file."""
    buffer = io.BytesIO()
    image.save(buffer, image_format, **options)
    return buffer.getvalue()


@functools.cache
def sample(content_type: str) -> bytes:
    """Return a small file of an accepted media type."""
    match content_type:
        case "image/heic" | "image/heif":
            return saved(drawn(64, 48, 0), "HEIF")
        case "image/jpeg" | "image/png" | "image/gif" | "image/webp" | "image/avif":
            return saved(drawn(64, 48, 0), content_type.partition("/")[2].upper())
        case "video/webm":
            return recording("webm", "libvpx-vp9", "libopus")
        case "video/mp4":
            return recording("mp4", "libx264", "aac")
        case "video/quicktime":
            return recording("mov", "libx265", "aac", options=(("x265-params", "log-level=none"),))
        case "audio/ogg" | "audio/vorbis":
            return recording("ogg", None, "libopus")
        case "video/ogg":
            # The tests have no encoder for Theora; files that browsers record as Ogg are audio.
            return sample("audio/ogg")
        case "audio/webm":
            return recording("webm", None, "libopus")
        case "audio/mpeg" | "audio/mp3":
            return recording("mp3", None, "libmp3lame")
        case "audio/flac":
            return recording("flac", None, "flac")
        case "audio/aac":
            return recording("adts", None, "aac")
        case "audio/m4a" | "audio/x-m4a" | "audio/mp4":
            return recording("ipod", None, "aac")
        case "audio/3gpp":
            return recording("3gp", None, "aac")
        case "video/x-ms-asf":
            return recording("asf", "wmv2", "wmav2", audio_rate=44_100)
        case _:
            return recording("wav", None, "pcm_s16le", audio_rate=8000, mono=True)
