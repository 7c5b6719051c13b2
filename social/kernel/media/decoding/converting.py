"""Converts a video or audio file to a format that every browser plays; streams that have the format already are copied.

Runs in the process of `social.kernel.media.decoder` only.
"""

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import IO, Any, Final, cast

import av
import av.error
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.filter import Graph
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from social.kernel.media.decoding import reading
from social.kernel.media.decoding.jobs import Refused
from social.kernel.media.limits import FRAME_RATE_LIMIT, FRAMES_LIMIT, VIDEO_PIXEL_LIMIT

#: The container and the pixel formats whose streams are copied unchanged.
_COPIED_FROM: Final = "mov"
_COPIED_PIXELS: Final = ("yuv420p", "yuvj420p")
_AUDIO_RATES: Final = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
_QUALITY_SCALE: Final = 118  # FF_QP2LAMBDA


class _Part:
    """Reader of a file that is still being written, with its own position in the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._place = 0

    def read(self, size: int) -> bytes:
        data = os.pread(self._file.fileno(), size, self._place)
        self._place += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}.get(whence)
        self._place = offset + (os.fstat(self._file.fileno()).st_size if start is None else start)
        return self._place

    def tell(self) -> int:
        return self._place

    def close(self) -> None:
        pass


def open_for_writing(output: IO[bytes], container: str) -> OutputContainer:
    # "faststart" moves the file's index to the beginning, so that players can start before the whole file has arrived.
    options = {"movflags": "faststart"} if container == "mp4" else {"id3v2_version": "0"}

    def again(url: str, flags: int, values: Mapping[str, str]) -> _Part:
        output.flush()
        return _Part(output)

    return av.open(
        output,
        "w",
        format=container,
        buffer_size=reading.BUFFER,
        io_open=again,
        # "bitexact" leaves out the name of the program and the time at which it ran.
        container_options={**options, "fflags": "+bitexact"},
    )


def is_playable(recording: reading.Recording) -> bool:
    """Tell whether the recording can be served without encoding anything again."""
    video, audio = recording.video, recording.audio
    formats = recording.container.format.name.split(",")
    if video is None:
        return "mp3" in formats and audio is not None and reading.codec_of(audio) == "mp3"
    return (
        _COPIED_FROM in formats
        and reading.codec_of(video) == "h264"
        and video.codec_context.pix_fmt in _COPIED_PIXELS
        and (audio is None or reading.codec_of(audio) == "aac")
    )


def copy_streams(recording: reading.Recording, target: OutputContainer) -> float:
    """Copy only the video and audio of the file; return where the last packet ends, in seconds."""
    end = 0.0
    sources = [stream for stream in (recording.video, recording.audio) if stream is not None]
    copies = {stream.index: target.add_stream_from_template(stream) for stream in sources}
    for copy in copies.values():
        copy.metadata.clear()
    frames = 0
    for packet in reading.packets_of(recording, sources):
        if packet.dts is None:
            continue
        if packet.stream is recording.video:
            frames += 1
            if frames > FRAMES_LIMIT:
                raise Refused("frames", frames=frames)
        if packet.pts is not None and packet.time_base is not None:
            end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
        packet.stream = copies[packet.stream_index]
        target.mux(packet)
    return end


class Transcoding:
    def __init__(self, recording: reading.Recording, target: OutputContainer, *, turn: int) -> None:
        self.recording = recording
        self.target = target
        self.turn = turn
        self.end = 0.0
        self.frames = 0
        self._graph: Graph | None = None
        self._shape: tuple[int, int, str] | None = None
        self._last_pts = -1
        self.video = self._video() if recording.video is not None else None
        self.audio = self._audio(recording.audio) if recording.audio is not None else None

    def _video(self) -> VideoStream:
        source = cast(VideoStream, self.recording.video)
        rate = source.average_rate or source.guessed_rate or Fraction(25)
        stream = self.target.add_stream("libx264", rate=min(rate, Fraction(FRAME_RATE_LIMIT)))
        width, height = reading.turned_size(source, self.turn)
        # In yuv420p, a colour sample covers two pixels in each direction, so that both sides must be even.
        stream.width, stream.height = max(2, width // 2 * 2), max(2, height // 2 * 2)
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23", "threads": str(reading.THREADS)}
        stream.codec_context.time_base = source.time_base or Fraction(1, 90_000)
        stream.codec_context.thread_count = reading.THREADS
        stream.codec_context.sample_aspect_ratio = reading.pixel_aspect(source, self.turn)
        return stream

    def _audio(self, source: AudioStream) -> AudioStream:
        moving = self.recording.video is not None
        wanted = source.codec_context.sample_rate
        rate = wanted if wanted in _AUDIO_RATES else 48_000
        layout = "mono" if source.layout.nb_channels == 1 else "stereo"
        stream = self.target.add_stream("aac" if moving else "libmp3lame", rate=rate, layout=layout)
        if moving:
            stream.codec_context.bit_rate = 96_000 if layout == "mono" else 160_000
        else:
            stream.codec_context.qscale = True
            stream.codec_context.global_quality = 2 * _QUALITY_SCALE
        self._resampler = AudioResampler(
            format=stream.codec_context.format, layout=layout, rate=rate, frame_size=stream.codec_context.frame_size
        )
        return stream

    def run(self) -> float:
        """Convert the recording; return where its last frame ends, in seconds."""
        recording = self.recording
        sources = [stream for stream in (recording.video, recording.audio) if stream is not None]
        for packet in reading.packets_of(recording, sources):
            for frame in reading.decode(packet):
                self._take(frame)
        for source in sources:
            for frame in reading.flush(source):
                self._take(frame)
        if not self.end:
            raise Refused("empty")
        self._finish()
        return self.end

    def _take(self, frame: Any) -> None:
        if frame.pts is not None and frame.time_base:
            length = (
                frame.duration * frame.time_base
                if isinstance(frame, VideoFrame)
                else Fraction(frame.samples, frame.sample_rate)
            )
            self.end = max(self.end, float(frame.pts * frame.time_base + length))
        if isinstance(frame, VideoFrame):
            self._take_picture(frame)
        else:
            for resampled in self._resampler.resample(frame):
                self._encode(cast(AudioStream, self.audio), resampled)

    def _take_picture(self, frame: VideoFrame) -> None:
        self.frames += 1
        if self.frames > FRAMES_LIMIT:
            raise Refused("frames", frames=self.frames)
        if frame.width * frame.height > VIDEO_PIXEL_LIMIT:
            raise Refused("video_size", width=frame.width, height=frame.height)
        graph = self._graph_for(frame)
        graph.push(frame)
        while True:
            try:
                drawn = cast(VideoFrame, graph.pull())
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            # Encoders require that each picture is later than the previous one.
            if drawn.pts is None or drawn.pts <= self._last_pts:
                drawn.pts = self._last_pts + 1
            self._last_pts = drawn.pts
            drawn.pict_type = 0
            self._encode(cast(VideoStream, self.video), drawn)

    def _graph_for(self, frame: VideoFrame) -> Graph:
        """Return the filters that turn pictures of this shape upright and give them the size and format of the output."""
        shape = (frame.width, frame.height, frame.format.name)
        if self._graph is not None and self._shape == shape:
            return self._graph
        video = cast(VideoStream, self.video)
        graph = Graph()
        turn = reading.quarters_of(frame)
        turns = {90: [("transpose", "cclock")], 180: [("hflip", ""), ("vflip", "")], 270: [("transpose", "clock")]}
        width, height = (frame.height, frame.width) if turn in (90, 270) else (frame.width, frame.height)
        fits = (width // 2 * 2, height // 2 * 2) == (video.width, video.height)
        size = f"{video.width}:{video.height}"
        steps = [
            *turns.get(turn, []),
            ("crop", f"{size}:0:0") if fits else ("scale", size),
            ("format", "pix_fmts=yuv420p"),
        ]
        source = graph.add_buffer(
            width=frame.width, height=frame.height, format=frame.format, time_base=frame.time_base
        )
        nodes = [source, *(graph.add(name, values) for name, values in steps), graph.add("buffersink")]
        graph.link_nodes(*nodes).configure()
        self._graph, self._shape = graph, shape
        return graph

    def _encode(self, stream: VideoStream | AudioStream, frame: Any) -> None:
        for packet in stream.encode(frame):
            self.target.mux(packet)

    def _finish(self) -> None:
        if self.audio is not None:
            for resampled in self._resampler.resample(None):
                self._encode(self.audio, resampled)
        for stream in (self.video, self.audio):
            if stream is not None:
                self._encode(stream, None)
