"""`make bench-media`: prints the properties of files before and after an upload as a table.

The files are encoded as phones, cameras and browsers encode them, each with a location in its metadata; files named on the
command line are added.
"""

import argparse
import io
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import av
from django.conf import settings
from PIL import Image

ROOT: Final = Path(__file__).resolve().parent.parent
_COLUMNS: Final = "{:26} {:>10}  {:34} {:>10}  {:34} {:>5} {:>7}"


def samples() -> Iterator[tuple[str, bytes]]:
    """Yield the files with their descriptions."""
    from tests.factories.recordings import drawn, moving_gif, photograph, recording, sample, saved

    yield "iPhone, HEIC, turned", photograph(3024, 2268, "HEIF")
    yield "camera, JPEG, turned", photograph(4000, 3000)
    yield "GIF, 30 frames", moving_gif(320, 240, 30, 100)
    first, *others = (drawn(320, 240, number) for number in range(30))
    yield "WebP, 30 frames", saved(first, "WEBP", save_all=True, append_images=others, duration=100)
    yield "AVIF", sample("image/avif")
    small = partial(recording, width=640, height=360, rate=30)
    yield "MP4, H.264 and AAC, turned", small("mp4", "libx264", "aac", frames=90, seconds=3, rotation=90)
    quiet = (("x265-params", "log-level=none"),)
    yield "MOV, HEVC", small("mov", "libx265", "aac", frames=30, options=quiet)
    yield "WebM, VP9 and Opus", small("webm", "libvpx-vp9", "libopus", frames=60, seconds=2)
    yield "MP4 without sound", small("mp4", "libx264", frames=60)
    yield "MP3", recording("mp3", None, "libmp3lame", seconds=10)
    yield "Opus", recording("ogg", None, "libopus", seconds=10)
    yield "WAV", recording("wav", None, "pcm_s16le", seconds=10)


def facts(data: bytes) -> str:
    """Return the format, dimensions, codecs and duration of a file, as read by Pillow and PyAV without this server's code."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            turned = image.getexif().get(0x0112, 1) != 1
            frames = getattr(image, "n_frames", 1)
            more = (f", {frames} frames" if frames > 1 else "") + (", turned" if turned else "")
            return f"{image.format} {image.width}x{image.height}{more}"
    except OSError:
        pass
    with av.open(io.BytesIO(data)) as container:
        streams = [
            f"{stream.codec_context.name} {stream.codec_context.width}x{stream.codec_context.height}"
            if stream.type == "video"
            else f"{stream.codec_context.name}"
            for stream in container.streams
            if stream.type in ("video", "audio")
        ]
        seconds = (container.duration or 0) / 1_000_000
        return f"{container.format.name.split(',')[0]} {' '.join(streams)} {seconds:.1f} s"


def processed(data: bytes) -> bytes:
    """Return the file that the server would store and serve after an upload of this file."""
    from social.kernel.media import images, recordings, types

    source: IO[bytes] = io.BytesIO(data)
    kind = types.media_type(data[: types.HEAD]) or ""
    if kind in images.ACCEPTED:
        try:
            with images.process(source) as picture:
                return picture.original.data
        except images.Moving:
            pass
    with recordings.convert(source, kind) as converted:
        return converted.file.read()


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.media", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    settings.configure(BASE_DIR=ROOT, DATA_DIR=tempfile.gettempdir(), IMAGE_WORKERS=2, USE_I18N=False)
    from social.kernel.errors import KernelError
    from tests.factories.recordings import SECRET

    print(_COLUMNS.format("file", "bytes", "is", "bytes", "becomes", "place", "seconds"))
    given = ((path.name, path.read_bytes()) for path in arguments.files)
    for name, data in (*samples(), *given):
        began = time.monotonic()
        try:
            after = processed(data)
        except KernelError as error:
            row: tuple[Any, ...] = ("-", error.message, "-")
        else:
            kept = SECRET.encode() in after or b"GPS" in after
            row = (f"{len(after):,}", facts(after), "kept" if kept else "gone")
        print(
            _COLUMNS.format(name[:26], f"{len(data):,}", facts(data), *row, f"{time.monotonic() - began:.2f}"),
            flush=True,
        )


if __name__ == "__main__":
    main()
