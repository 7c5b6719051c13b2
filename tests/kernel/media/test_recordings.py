"""Tests of videos and sounds: the result plays in every browser and contains no metadata about its origin."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from social.kernel.colours import contrast_of_rgb
from social.kernel.media import recordings
from social.kernel.media.images import Unidentified, Unsupported
from social.kernel.media.types import HEAD, media_type
from tests.factories.recordings import SECRET, drawn, moving_gif, photograph, recording, sample, saved, standing

QUIET = (("x265-params", "log-level=none"),)


def examine(data: bytes, content_type: str | None = None) -> recordings.Examined:
    """Return the properties of a file, without its cover picture."""
    with recordings.examine(io.BytesIO(data), content_type or media_type(data[:HEAD]) or "") as examined:
        return examined


@dataclass
class Played:
    """The properties of a converted file, as a player reads them."""

    data: bytes
    meta: dict[str, Any]
    codecs: list[str]
    first: Image.Image | None
    duration: float
    metadata: dict[str, str]


def convert(data: bytes, content_type: str | None = None) -> Played:
    """Convert a file, and open the result."""
    with recordings.convert(io.BytesIO(data), content_type or media_type(data[:HEAD]) or "") as converted:
        result, meta = converted.file.read(), converted.meta
        assert len(result) == converted.byte_count
    with av.open(io.BytesIO(result)) as container:
        codecs = [stream.codec_context.codec.canonical_name for stream in container.streams]
        first = None
        if container.streams.video:
            frame = next(container.decode(video=0))
            first = frame.to_image().rotate(frame.rotation, expand=True)
        duration = (container.duration or 0) / 1_000_000
        found = dict(container.metadata)
        for stream in container.streams:
            found |= stream.metadata
    return Played(result, meta, codecs, first, duration, found)


def _alike(one: Image.Image, other: Image.Image) -> bool:
    difference = ImageChops.difference(one.convert("RGB").resize((16, 16)), other.convert("RGB").resize((16, 16)))
    return max(ImageStat.Stat(difference).mean) < 12


@contextmanager
def refusal(match: str) -> Iterator[None]:
    """Check that the file is refused with this message."""
    with pytest.raises((Unsupported, Unidentified), match=match):
        yield


@pytest.mark.parametrize(
    ("container", "video", "audio", "codecs"),
    [
        ("mp4", "libx264", "aac", ["h264", "aac"]),
        ("mp4", "libx264", None, ["h264"]),
        ("mov", "libx265", "aac", ["h264", "aac"]),
        ("webm", "libvpx-vp9", "libopus", ["h264", "aac"]),
        ("webm", "libvpx", None, ["h264"]),
        ("mp4", "libsvtav1", "aac", ["h264", "aac"]),
        ("ogg", None, "libopus", ["mp3"]),
        ("mp3", None, "libmp3lame", ["mp3"]),
        ("flac", None, "flac", ["mp3"]),
        ("wav", None, "pcm_s16le", ["mp3"]),
        ("ipod", None, "aac", ["mp3"]),
        ("adts", None, "aac", ["mp3"]),
    ],
)
def test_every_format_becomes_mp4_or_mp3_without_metadata(
    container: str, video: str | None, audio: str | None, codecs: list[str]
) -> None:
    data = recording(container, video, audio, options=QUIET if video == "libx265" else ())
    examined, played = examine(data), convert(data)
    assert examined.kind == ("audio" if video is None else "video" if audio else "gifv")
    assert played.codecs == codecs
    assert 0.9 < played.duration < 1.15
    assert abs(examined.meta["original"]["duration"] - played.duration) < 0.1
    assert SECRET.encode() not in played.data
    known = {"major_brand", "minor_version", "compatible_brands", "language", "handler_name", "encoder"}
    assert set(played.metadata) <= known
    assert played.metadata.get("encoder", "Lavf") == "Lavf", "the encoder is named without a version"
    if played.first is not None:
        assert _alike(played.first, drawn(96, 64, 0))


def test_players_can_start_before_the_whole_file_has_arrived() -> None:
    for data in (recording("mp4", "libx264", "aac"), recording("webm", "libvpx-vp9", "libopus")):
        result = convert(data).data
        assert result.index(b"moov") < result.index(b"mdat")


def test_a_playable_stream_is_copied_without_re_encoding() -> None:
    data = recording("mp4", "libx264", "aac")
    with av.open(io.BytesIO(data)) as before, av.open(io.BytesIO(convert(data).data)) as after:
        packets = [[bytes(packet) for packet in file.demux(video=0) if packet.size] for file in (before, after)]
    assert packets[0] == packets[1]


@pytest.mark.parametrize("turn", [90, 180, 270])
@pytest.mark.parametrize("encoder", ["libx264", "libx265"])
def test_a_rotated_video_is_shown_upright(turn: int, encoder: str) -> None:
    data = recording("mov", encoder, "aac", rotation=turn, options=QUIET if encoder == "libx265" else ())
    upright = drawn(96, 64, 0).rotate(turn, expand=True)
    size = {"width": upright.width, "height": upright.height}
    with recordings.examine(io.BytesIO(data), "video/quicktime") as examined:
        assert examined.cover is not None
        assert _alike(Image.open(io.BytesIO(examined.cover.preview.data)), upright)
        assert examined.meta["original"].items() >= size.items()
    played = convert(data)
    assert played.first is not None
    assert played.first.size == upright.size
    assert _alike(played.first, upright)
    assert played.meta["original"].items() >= size.items()


def test_odd_widths_and_heights_become_even() -> None:
    played = convert(recording("webm", "libvpx-vp9", width=97, height=65))
    assert (played.meta["width"], played.meta["height"]) == (96, 64)


def test_a_gif_keeps_its_speed() -> None:
    data = moving_gif(milliseconds=400, frames=4)
    examined, played = examine(data), convert(data)
    assert (examined.kind, examined.meta["original"]["frame_rate"]) == ("gifv", "5/2")
    assert (examined.meta["duration"], played.duration) == (1.6, 1.6)
    with av.open(io.BytesIO(played.data)) as container:
        assert [frame.time for frame in container.decode(video=0)] == pytest.approx([0, 0.4, 0.8, 1.2])


def test_the_duration_of_a_recording_without_one_is_measured() -> None:
    live = recording("webm", "libvpx-vp9", "libopus")
    # Files that browsers write while recording contain neither a duration nor an index.
    live = live.replace(b"\x44\x89\x88", b"\xec\x81\x00", 1)[:]
    meta = examine(live).meta
    assert 0.9 < meta["duration"] < 1.15
    assert 9 <= meta["fps"] <= 11


def test_the_cover_in_an_audio_file_is_its_preview() -> None:
    cover = photograph(80, 80, orientation=1)
    size = len(cover)
    body = b"\0image/jpeg\0\x03\0" + cover
    frame = b"APIC" + len(body).to_bytes(4, "big") + b"\0\0" + body
    length = len(frame)
    header = b"ID3\x03\0\0" + bytes((length >> shift) & 0x7F for shift in (21, 14, 7, 0))
    data = header + frame + recording("mp3", None, "libmp3lame", secret=False)
    assert size < length
    with recordings.examine(io.BytesIO(data), "audio/mpeg") as examined:
        assert examined.kind == "audio"
        assert examined.cover is not None
        assert examined.cover.preview.width == 80
        assert examined.cover.colours is not None
        assert SECRET.encode() not in examined.cover.preview.data
    assert convert(data, "audio/mpeg").codecs == ["mp3"]


def test_the_colours_of_a_cover_have_enough_contrast() -> None:
    def value(written: str) -> tuple[int, int, int]:
        return int(written[1:3], 16), int(written[3:5], 16), int(written[5:7], 16)

    pictures = [
        Image.new("RGB", (40, 40), shade) for shade in ((200, 30, 60), (0, 0, 0), (255, 255, 255), (119, 119, 119))
    ]
    for picture in [*pictures, drawn(200, 100, 3)]:
        with recordings.draw_cover(io.BytesIO(saved(picture, "PNG"))) as cover:
            assert cover.colours is not None
            found = {name: value(written) for name, written in cover.colours.items()}
        assert set(found) == {"background", "foreground", "accent"}
        assert contrast_of_rgb(found["background"], found["foreground"]) >= 4.4
        assert contrast_of_rgb(found["background"], found["accent"]) >= 2.9


def test_limits_of_videos_are_those_of_the_contract() -> None:
    with refusal("4096x2160 videos are not supported"):
        examine(recording("mp4", "libx264", width=4096, height=2160, frames=1, options=(("preset", "ultrafast"),)))
    with refusal("200fps videos are not supported"):
        examine(recording("mp4", "libx264", width=32, height=32, frames=40, rate=200))
    with refusal("Videos of more than 36000 frames are not supported"):
        examine(standing(recording("mp4", "libx264", width=16, height=16, frames=1), frames=36_001, rate=100))
    assert examine(standing(recording("mp4", "libx264", width=16, height=16, frames=1), frames=36_000, rate=100)).meta


def test_a_gif_with_too_many_pixels_is_refused() -> None:
    with refusal("1000x1000 images are not supported"):
        examine(moving_gif(1000, 1000, 2))


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n", "video/mp4"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "video/webm"),
        (b"<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011'/>", "video/mp4"),
        (b"v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n", "audio/ogg"),
        (b"RIFF\x24\0\0\0AVI LIST", "audio/wav"),
        (b"", "video/mp4"),
        (b"\0" * 4096, "audio/mpeg"),
        (sample("video/webm"), "video/mp4"),
        (sample("audio/ogg"), "audio/wav"),
        (sample("image/png"), "video/mp4"),
    ],
)
def test_only_the_demuxer_of_the_type_is_tried(data: bytes, content_type: str) -> None:
    with refusal("could not be verified"):
        examine(data, content_type)
    with refusal("could not be verified"):
        convert(data, content_type)


def test_unaccepted_codecs_are_refused() -> None:
    with refusal("This encoding of video or audio is not supported"):
        examine(recording("mov", "mpeg2video", rate=25))


@pytest.mark.verify
def test_randomly_damaged_recordings_are_either_refused_or_converted() -> None:
    import contextlib
    import random

    chance = random.Random(11)
    for content_type in ("video/mp4", "video/webm", "audio/ogg", "audio/mpeg", "image/gif"):
        whole = moving_gif() if content_type == "image/gif" else sample(content_type)
        for _attempt in range(12):
            broken = bytearray(whole)
            for _hit in range(chance.randint(1, 40)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            with contextlib.suppress(Unidentified, Unsupported):
                examine(bytes(broken), content_type)
                convert(bytes(broken), content_type)


@pytest.mark.parametrize("encoder", ["libx264", "libx265"])
@pytest.mark.parametrize(
    ("pixel", "turn", "shown"),
    [
        (Fraction(2), 0, (192, 64)),
        (Fraction(1, 2), 0, (96, 128)),
        (Fraction(2), 90, (64, 192)),
        (Fraction(1, 900), 0, (96, 64)),
    ],
)
def test_non_square_pixels_are_measured_and_drawn_as_players_show_them(
    pixel: Fraction, turn: int, shown: tuple[int, int], encoder: str
) -> None:
    options = QUIET if encoder == "libx265" else ()
    data = recording("mov", encoder, "aac", rotation=turn, pixel=pixel, options=options)
    size = {"width": shown[0], "height": shown[1]}
    with recordings.examine(io.BytesIO(data), "video/quicktime") as examined:
        assert examined.cover is not None
        preview = examined.cover.preview
        assert (preview.width, preview.height) == shown
        assert _alike(Image.open(io.BytesIO(preview.data)), drawn(96, 64, 0).rotate(turn, expand=True))
        assert examined.meta["original"].items() >= size.items()
        assert examined.meta["aspect"] == shown[0] / shown[1]
    assert convert(data).meta["original"].items() >= size.items()


@pytest.mark.parametrize(("container", "codec"), [("flac", "flac"), ("adts", "aac"), ("mp3", "libmp3lame")])
def test_the_format_of_audio_after_id3_tags_is_recognised(container: str, codec: str) -> None:
    sound = recording(container, None, codec, secret=False)
    with_footer = b"ID3\x04\0\x10\0\0\x01\x00" + bytes(128) + b"3DI\x04\0\x10\0\0\x01\x00"
    for tags in (b"ID3\x03\0\0\0\0\0\x0a" + bytes(10), b"ID3\x04\0\0\0\0\0\x05" + bytes(5) + with_footer):
        examined = examine(tags + sound)
        assert examined.kind == "audio"
        assert examined.meta["audio_encode"] in (codec, "mp3float", "mp3")
        assert convert(tags + sound).codecs == ["mp3"]
    with pytest.raises(Unidentified):
        examine(b"ID3\x03\0\0\x7f\x7f\x7f\x7f" + b"fLaC")
