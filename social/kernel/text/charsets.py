"""Decodes pages from the character set in which they are written.

Sources: WHATWG Encoding (labels and what they stand for), HTML, section 13.2.3 "The input byte stream".
"""

import codecs
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import webencodings
from charset_normalizer import from_bytes
from lxml import etree
from webencodings.labels import LABELS

from social.kernel.http.content import media_type

_XML_DECLARATION: Final = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"'>]{1,40})["']""")
_PRAGMA_CHARSET: Final = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]*))""", re.IGNORECASE)
_XHTML: Final = "application/xhtml+xml"
_TAGS: Final = re.compile(rb"<[^<>]*>")
_METAS: Final = 2000
_ASCII: Final = bytes(range(0x80))
#: Number of bytes from which an encoding is detected; more bytes would take longer without improving the result.
_SAMPLE_BYTES: Final = 32 * 1024
#: A page without a declaration counts as UTF-8 when it has this many multi-byte characters for each broken byte.
_SOUND_FOR_BROKEN: Final = 2
_SOUND: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Declared encoding -> encoding of the page: such a declaration is wrong, because the declaration itself could be read as ASCII.
_ENCODINGS_IN_PAGE: Final = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
# For some encodings of the standard, the Python decoder that has all their characters.
_SUPERSETS: Final = {"gbk": "gb18030", "iso-2022-jp": "iso2022_jp_ext"}
_UNDETECTED: Final = (
    *("utf-8", "utf-16le", "utf-16be", "x-user-defined", "replacement", "gbk", "iso-8859-8-i"),
    # No browser guesses these encodings, because pages in them are rarer than pages that would be mistaken for them.
    *("macintosh", "x-mac-cyrillic", "iso-8859-3", "iso-8859-10", "iso-8859-14", "iso-8859-16"),
)
# The standard's default encodings for languages (HTML, 13.2.3.2), the most common first.
_COMMON: Final = (
    *("cp1252", "cp1251", "gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "cp1250", "cp1254", "cp1253", "cp1255"),
    *("cp1256", "cp874", "cp1257", "koi8-r", "koi8-u", "iso8859-2", "iso8859-7", "iso8859-5", "cp866"),
)
_CANDIDATES: Final = sorted(
    {webencodings.lookup(name).codec_info.name for name in LABELS.values() if name not in _UNDETECTED},
    key=lambda name: (_COMMON.index(name) if name in _COMMON else len(_COMMON), name),
)
# Encodings in which pages of these languages are written (HTML, 13.2.3.2, and their alternatives).
_LANGUAGE_ENCODINGS: Final = {
    language: frozenset(codecs.lookup(name).name for name in names.split())
    for languages, names in {
        "ar fa ur": "cp1256 iso8859-6",
        "az ku tr": "cp1254",
        "be bg kk ky mk ru sr tg uk": "cp1251 koi8-r koi8-u iso8859-5 cp866",
        "bs cs hr hu pl ro sk sl": "cp1250 iso8859-2",
        "el": "cp1253 iso8859-7",
        "et lt lv": "cp1257 iso8859-13 iso8859-4",
        "he yi": "cp1255 iso8859-8",
        "ja": "cp932 euc_jp iso2022_jp_ext",
        "ko": "cp949",
        "th": "cp874",
        "vi": "cp1258",
        "zh": "gb18030 big5hkscs",
    }.items()
    for language in languages.split()
}
_LANGUAGE: Final = re.compile(rb"""<html\b[^>]{0,400}?\slang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
# The library leaves out encodings that it considers unlikely; for a few words of Finnish, an unlikely encoding is right.
_LIKELY: Final = 0.8
_RANKS: Final = {codecs.lookup(name).name: rank for rank, name in enumerate(_CANDIDATES)}
#: Escape sequences of ISO-2022-JP.
_ESCAPES: Final = re.compile(rb"\x1b(?:\$[@B]|\([JI])")
#: Unicode categories of characters that occur in no word.
_SIGNS: Final = ("So", "No", "Sk", "Sc", "Sm", "Ps", "Pe", "Nl", "Cc", "Cn", "Co")
_FURTHER_SIGNS: Final = "‰†‡•¶§"
#: First words of the Unicode names of letters that may occur in one word with letters of another script.
_MIXED_SCRIPTS: Final = frozenset(
    {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "FULLWIDTH", "IDEOGRAPHIC", "FEMININE", "MASCULINE"}
)
_WORD: Final = re.compile(r"[^\s!-/:-@\[-`{-~]+")


def decode_page(body: bytes, content_type: str) -> str:
    """Return the text of a page.

    The encoding is given by the byte order mark, the header, or the page's `meta` or XML declaration, in this order. Without
    any of these, UTF-8 is assumed if few bytes are broken; otherwise the encoding is detected. Never raises: invalid bytes are
    replaced.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    kind, parameters = media_type(content_type)
    encoding = webencodings.lookup(parameters.get("charset", "")) or _find_declared(body, kind == _XHTML)
    if encoding is not None:
        return _decode(body, encoding)
    if kind == _XHTML or (_is_mostly_utf8(body) and not _ESCAPES.search(body)):
        return body.decode("utf-8", "replace")
    found = _detect(body)
    return body.decode(found or "cp1252", _EXTENDED)


def _decode(body: bytes, encoding: webencodings.Encoding) -> str:
    return (
        body.decode(_SUPERSETS[encoding.name], _EXTENDED)
        if encoding.name in _SUPERSETS
        else encoding.codec_info.decode(body, _EXTENDED)[0]
    )


def _find_declared(body: bytes, is_xml: bool) -> webencodings.Encoding | None:
    """Return the encoding of the first known label that a page declares."""
    declaration = _XML_DECLARATION.match(body)
    in_declaration = [declaration[1].decode("latin-1")] if declaration else []
    sources = (in_declaration, _in_metas(body)) if is_xml else (_in_metas(body), in_declaration)
    for source in sources:
        for label in source:
            found = webencodings.lookup(label)
            if found is not None:
                return webencodings.lookup(_ENCODINGS_IN_PAGE.get(found.name, found.name))
    return None


def _in_metas(body: bytes) -> Iterator[str]:
    """Return the labels in the `meta` elements of a page, wherever they are, but not in comments or scripts."""
    if b"charset" not in body.lower():
        return
    parser = etree.HTMLParser(
        encoding="iso-8859-1", no_network=True, remove_comments=True, remove_pis=True, recover=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return
    for number, element in enumerate(root.iter("meta") if root is not None else ()):
        if number > _METAS:
            return
        if element.get("charset"):
            yield element.get("charset")
        elif (element.get("http-equiv") or "").strip().lower() == "content-type":
            found = _PRAGMA_CHARSET.search(element.get("content") or "")
            if found is not None:
                yield next(filter(None, found.groups()), "")


def _is_mostly_utf8(body: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        sound = _SOUND.findall(body)
        broken = sum(byte > 0x7F for byte in body.translate(None, _ASCII)) - sum(map(len, sound))
        return len(sound) >= _SOUND_FOR_BROKEN * broken
    return True


def _detect(body: bytes) -> str | None:
    if body.isascii():
        return "iso2022_jp_ext" if _ESCAPES.search(body) else None
    sample = _sample(body)
    matches = (
        from_bytes(sample, threshold=_LIKELY, cp_isolation=_CANDIDATES, preemptive_behaviour=False)
        if not sample.isascii()
        else ()
    )
    language = _LANGUAGE.search(body)
    usual = _LANGUAGE_ENCODINGS.get(language[1].decode().lower(), frozenset()) if language else frozenset()
    # For a few words the library returns several encodings. The best encoding has the fewest odd words; among equals, an
    # encoding of the page's language is preferred, then the library's choice, then the most common one.
    best = min(
        matches,
        key=lambda each: (
            _count_odd_words(str(each)),
            codecs.lookup(each.encoding).name not in usual,
            each.chaos,
            -each.coherence,
            _RANKS[codecs.lookup(each.encoding).name],
        ),
        default=None,
    )
    return best.encoding if best is not None else None


def _sample(body: bytes) -> bytes:
    """Return the part of a page, without its tags, from which its encoding is detected.

    The part begins at the tag before the first byte beyond ASCII. The part ends at a tag or blank in its second half, if there
    is one, so that no character is cut in two.
    """
    first = len(body) - len(body.lstrip(_ASCII))
    body = body[max(body.rfind(b"<", 0, first), first - _SAMPLE_BYTES // 4, 0) :]
    if len(body) > _SAMPLE_BYTES:
        ends = (body.rfind(mark, _SAMPLE_BYTES // 2, _SAMPLE_BYTES) for mark in (b"<", b" ", b"\n"))
        body = body[: next((end for end in ends if end >= 0), _SAMPLE_BYTES)]
    return _TAGS.sub(b" ", body)


def _count_odd_words(text: str) -> int:
    """Count the implausible words: words that contain signs or halfwidth kana, a capital after a small letter, or letters of
    two scripts. A text in which all letters are capitals, or all are small, adds one to the count.
    """
    words = [word for word in _WORD.findall(text[:2000]) if not word.isascii()]
    letters = "".join(words)
    one_case = letters.lower() != letters.upper() and letters in (letters.lower(), letters.upper()) and len(letters) > 3
    return one_case + sum(
        unicodedata.category(word[0]).startswith("M")
        or any(unicodedata.category(character) in _SIGNS or "\uff61" <= character <= "\uff9f" for character in word)
        or not set(word).isdisjoint(_FURTHER_SIGNS)
        or any(one.islower() and other.isupper() for one, other in itertools.pairwise(word))
        or len(
            {unicodedata.name(character, "").partition(" ")[0] for character in word if character.isalpha()}
            - _MIXED_SCRIPTS
        )
        > 1
        for word in words
    )


def _extend(error: UnicodeError) -> tuple[str, int]:
    """Decode the characters of NEC and IBM in EUC-JP and ISO-2022-JP, which Python's decoders lack; replace other errors."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if error.encoding in ("euc_jp", "iso2022_jp_ext") and len(pair) == 2:
        try:
            return bytes(byte | 0x80 for byte in pair).decode("euc_jis_2004"), error.start + 2
        except UnicodeDecodeError:
            pass
    return "\ufffd", error.end


_EXTENDED: Final = "extended"
codecs.register_error(_EXTENDED, _extend)
