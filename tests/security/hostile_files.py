"""Files that attack their readers; a program that follows the links in them connects to `address`."""

import struct
import zlib

from tests.factories.recordings import drawn, recording, sample, saved

_PARENTS = (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref")


def playlist(address: str) -> bytes:
    """Return an HLS playlist whose segments are at `address`."""
    return f"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\n{address}/x.ts\n#EXTINF:1,\nfile:///etc/passwd\n".encode()


def concatenation(address: str) -> bytes:
    """Return a file list for FFmpeg's concat demuxer."""
    return f"ffconcat version 1.0\nfile {address}/x.mp4\nfile /etc/passwd\n".encode()


def vector(address: str) -> bytes:
    """Return an SVG that loads another picture, reads a file and runs a script."""
    return (
        '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><image href="{address}/x.png"/><text>&x;</text></svg>'
    ).encode()


def in_a_container(inside: bytes) -> bytes:
    """Return the data with the first bytes of an MP4 in front of it."""
    return b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + inside


def png(width: int, height: int, *, rows: int = 0, chunks: bytes = b"") -> bytes:
    """Return a black picture with this size in its header, but with the data of `rows` rows only."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = zlib.compress(bytes((width + 7) // 8 + 1) * rows, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def text_bomb(megabytes: int = 100) -> bytes:
    """Return a small picture with a compressed text of this many megabytes."""
    packer = zlib.compressobj(9)
    zeros = b"".join([*(packer.compress(bytes(2**20)) for _ in range(megabytes)), packer.flush()])
    return png(8, 8, rows=8, chunks=chunk(b"zTXt", b"Comment\0\0" + zeros))


def gif_of(frames: int, width: int, height: int) -> bytes:
    """Return a GIF with this many frames of one pixel, on a screen of this size."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    one = b"\x21\xf9\x04\x04\x02\0\0\0" + b"\x2c\0\0\0\0\x01\0\x01\0\0" + b"\x02\x02\x44\x01\0"
    return head + one * frames + b";"


def webp_of(frames: int, side: int = 64) -> bytes:
    """Return an animated WebP with this many identical frames."""
    pictures = [drawn(side, side, number) for number in range(2)]
    whole = saved(pictures[0], "WEBP", save_all=True, append_images=pictures[1:], duration=50)
    start = whole.index(b"ANMF")
    end = start + 8 + (struct.unpack("<I", whole[start + 4 : start + 8])[0] + 1) // 2 * 2
    body = whole[8:start] + whole[start:end] * frames
    return b"RIFF" + struct.pack("<I", len(body)) + body


def mp4_of_other_data(address: str) -> bytes:
    """Return an MP4 whose data is declared to be in another file (ISO 14496-12, section 8.7.2)."""
    whole = bytearray(recording("mp4", "libx264"))
    place = whole.index(b"url \0\0\0\x01") - 4
    located = f"{address}/x.mp4".encode() + b"\0"
    for parent in _PARENTS:
        at = whole.index(parent) - 4
        whole[at : at + 4] = struct.pack(">I", struct.unpack(">I", whole[at : at + 4])[0] + len(located))
    whole[place : place + 12] = struct.pack(">I", 12 + len(located)) + b"url \0\0\0\0" + located
    return bytes(whole)


def mp3_with_linked_cover(address: str) -> bytes:
    """Return an MP3 whose cover is an address (ID3v2.3, section 4.15: the type "-->")."""
    picture = b"\0-->\0\x03\0" + f"{address}/cover.png".encode()
    frame = b"APIC" + struct.pack(">I", len(picture)) + b"\0\0" + picture
    size = len(frame)
    head = b"ID3\x03\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127])
    return head + frame + sample("audio/mpeg")


def cut(content_type: str) -> bytes:
    """Return the first third of a file."""
    whole = sample(content_type)
    return whole[: len(whole) // 3]
