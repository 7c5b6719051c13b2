"""Finds the media type of a file by its first bytes, whatever a name or sender says (security row 1), or by its extension."""

from typing import Final

TYPES: Final = {
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".mp4": "video/mp4",
    ".mp3": "audio/mpeg",
    # Types of files from other servers, which are stored unchanged.
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".ogg": "audio/ogg",
    ".m4a": "audio/mp4",
    ".3gp": "audio/3gpp",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".aac": "audio/aac",
}

# Further extensions that other software uses.
_OTHER_ENDINGS: Final = {
    ".jpeg": "image/jpeg",
    ".jpe": "image/jpeg",
    ".jfif": "image/jpeg",
    ".apng": "image/png",
    ".heic": "image/heic",
    ".heif": "image/heif",
    ".avifs": "image/avif",
    ".m4v": "video/mp4",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".svg": "image/svg+xml",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".eps": "application/postscript",
    ".jxl": "image/jxl",
    ".bmp": "image/bmp",
    ".ico": "image/x-icon",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".m3u8": "application/x-mpegurl",
    ".mkv": "video/x-matroska",
}
_PICTURES: Final = frozenset(
    {"jpeg", "jpg", "pjpeg", "png", "apng", "vnd.mozilla.apng", "gif", "webp", "avif", "heic", "heif"}
)
_VIDEOS: Final = frozenset({"mp4", "m4v", "quicktime", "webm", "ogg", "3gpp", "3gpp2", "ms-asf", "ms-wmv"})
_SOUNDS: Final = frozenset(
    {"mpeg", "mp3", "mpeg3", "ogg", "oga", "opus", "vorbis", "webm", "flac"}
    | {"wav", "wave", "vnd.wave", "pn-wave", "aac", "aacp", "m4a", "mp4", "mp4a-latm", "3gpp", "ms-wma"}
)
_SHOWN: Final = {"image": _PICTURES, "video": _VIDEOS, "audio": _SOUNDS}

HEAD: Final = 64  # maximum number of bytes that `media_type` needs

_SIGNATURES: Final = (
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (0, b"\x7fELF", "application/octet-stream"),
    (0, b"MZ", "application/octet-stream"),
    (0, b"ffconcat", "text/plain"),
    (0, b"#EXTM3U", "text/plain"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS: Final = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"heim": "image/heic",
    b"heis": "image/heic",
    b"hevc": "image/heic",
    b"hevx": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"M4A ": "audio/m4a",
    b"M4B ": "audio/m4a",
    b"qt  ": "video/quicktime",
}
_IMAGE_BRANDS: Final = (b"avif", b"avis", b"heic", b"heix")
# The first atoms of QuickTime files from before `ftyp` was introduced.
_QUICKTIME: Final = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")


def media_type(head: bytes) -> str | None:
    """Return the media type of a file by its first HEAD bytes; None for an unknown type."""
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _container(head)
    if head[4:8] in _QUICKTIME:
        return "video/quicktime"
    if head.startswith(b"OggS"):
        return "video/ogg" if b"theora" in head else "audio/ogg"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head else "video/x-matroska"
    for offset, signature, found in _SIGNATURES:
        if head.startswith(signature, offset):
            return found
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 in (0xE2, 0xE0):
        return "audio/mpeg" if head[1] & 0x06 else "audio/aac"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return "text/xml"
    return None


def type_of_name(name: str) -> str | None:
    """Return the media type for the extension of a name or address; None for an unknown extension. The content may differ."""
    ending = name[name.rfind(".") :].lower()
    return TYPES.get(ending) or _OTHER_ENDINGS.get(ending)


def shown_as(content_type: str) -> str | None:
    """Return the family (`image`, `video` or `audio`) of a media type that can be copied and shown, under any of its names;
    None for other types (drawings such as SVG and EPS, TIFF, JPEG XL, playlists, documents).
    """
    family, _slash, name = content_type.partition("/")
    if content_type == "application/ogg":
        return "video"
    return family if name.removeprefix("x-").removesuffix("-sequence") in _SHOWN.get(family, ()) else None


def _container(head: bytes) -> str:
    """Return the type of an ISO base media file, by its major brand or the first compatible brand of an image."""
    major = head[8:12]
    if major in (b"mif1", b"msf1"):
        compatible = (head[place : place + 4] for place in range(16, min(len(head), 64), 4))
        return next((_BRANDS[brand] for brand in compatible if brand in _IMAGE_BRANDS), "image/heif")
    if major.startswith(b"3g"):
        return "audio/3gpp"
    return _BRANDS.get(major, "video/mp4")
