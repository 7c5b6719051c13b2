"""Brings typed text, hashtags and domains into the forms in which they are stored and displayed."""

import ipaddress
import re
import unicodedata
from typing import Final

import idna
import regex

MAX_DOMAIN_LENGTH: Final = 253  # longest domain name, in characters (RFC 1035 section 2.3.4)

_MAX_LABEL_LENGTH: Final = 63

WORD: Final = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
"""Characters of a word, for the inside of a character class: letters, marks, digits and underscores of all scripts.

Alphabetic (Unicode Technical Standard 18, annex C) includes Roman numerals and circled letters, which become letters by
normalisation.
"""

_TAG_JOINTS: Final = "·・\u200c"
TAG_NAME: Final = (
    rf"(?=[\p{{Nd}}\p{{Pc}}\p{{M}}{_TAG_JOINTS}]*+\p{{Alphabetic}}"
    rf"|[\p{{Nd}}\p{{Pc}}](?:(?!_)[\p{{Nd}}\p{{Pc}}\p{{M}}])*+[_{_TAG_JOINTS}][{_TAG_JOINTS}]*+[{WORD}])"
    rf"(?!\p{{M}})[{WORD}]++(?:[{_TAG_JOINTS}]++[{WORD}]++)*+"
)
"""Pattern of a hashtag without its `#`: word characters, with joining marks such as `·` between them, never only digits.

A hashtag contains a letter, or a joining mark or underscore between two of its characters.
"""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_LINE_ENDS: Final = re.compile(r"\r\n?")
_TAG_CUT: Final = 1000
_TAG: Final = regex.compile(TAG_NAME, regex.VERSION0)
_TAG_SEPARATORS: Final = regex.compile(rf"\A\p{{M}}++|(?:[^{WORD}{_TAG_JOINTS}]\p{{M}}*+)++", regex.VERSION0)
_LATIN_MARKS: Final = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
_INVISIBLE_CHARACTER: Final = regex.compile(r"(?![\u200c\u200d\s])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]", regex.VERSION0)
_EMOJI: Final = regex.compile(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]", regex.VERSION0)
_PLAIN_DOMAIN: Final = re.compile(
    r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*"
)


def clean_input(text: str) -> str:
    """Return typed text in a form that can be stored: line ends are LF; NUL and lone surrogates, which no database or JSON
    encoder accepts, are removed. Everything else stays, including joiners and variation selectors. Idempotent.
    """
    if "\r" in text:
        text = _LINE_ENDS.sub("\n", text)
    if "\0" in text:
        text = text.replace("\0", "")
    if not text.isascii() and _SURROGATES.search(text):
        # Surrogates in pairs are one character that a careless decoder has split.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text


def one_line(text: str) -> str:
    """Return a text as one line: its lines, stripped of outer blanks and skipping empty lines, joined by single spaces."""
    return " ".join(line for line in map(str.strip, text.splitlines()) if line)


def _make_folds() -> dict[int, str]:
    # Latin-1 Supplement and Latin Extended-A: other servers fold these too, so that a hashtag is the same everywhere.
    folds = dict(zip(map(ord, "ÐðĐđĦħıĸŁłŊŋØøŦŧ"), "DdDdHhikLlNnOoTt", strict=True))
    for code in range(0xC0, 0x180):
        base = unicodedata.normalize("NFKD", chr(code))
        if base[0].isascii() and all(unicodedata.combining(mark) for mark in base[1:]):
            folds[code] = base[0]
    return folds


_FOLDS: Final = _make_folds()


def is_hashtag(name: str) -> bool:
    """Tell whether `name`, without its leading `#`, is a complete hashtag (contract, behaviours section 8)."""
    return _TAG.fullmatch(name) is not None


def display_hashtag(name: str) -> str:
    """Return a hashtag for display: as written, without its `#` and without characters that no hashtag contains."""
    shown: str = _TAG_SEPARATORS.sub("", name)
    return shown


def normalise_hashtag(name: str) -> str:
    """Return a hashtag as it is stored and compared: NFKC, without accents on Latin letters, lower case.

    Takes the name with or without its `#`; characters that no hashtag contains are dropped. The result may be empty or
    invalid: check it with `is_hashtag`. Idempotent. Source: contract, behaviours section 8.
    """
    # NFKC turns one character into up to eighteen. A name that is cut here is too long for a hashtag anyway (security row 78).
    written = unicodedata.normalize("NFKC", name[:_TAG_CUT])[:_TAG_CUT]
    folded = display_hashtag(written).translate(_FOLDS)
    return unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", folded).lower())


def normalise_domain(domain: str) -> str | None:
    """Return a domain as it is stored and compared: lower case, Punycode, without a final dot, with its port if it has one.

    Names follow UTS 46 (IDNA 2008) and may contain emoji; `localhost` and IP addresses are allowed for servers on one
    machine. Returns None for a text that cannot be a domain (empty, too long, underscores, other symbols, a port that does
    not exist).
    """
    host, port = domain.strip(), ""
    if host.startswith("["):
        return _normalise_ipv6(host)
    if ":" in host:
        host, _, digits = host.partition(":")
        if not _is_port(digits):
            return None
        port = f":{int(digits)}"
    host = host.removesuffix(".").lower()
    if len(host) > MAX_DOMAIN_LENGTH:
        return None
    if not _PLAIN_DOMAIN.fullmatch(host):
        try:
            host = encode_host(host)
        except UnicodeError:
            return None
    return host + port if 0 < len(host) <= MAX_DOMAIN_LENGTH else None


def encode_host(host: str) -> str:
    """Return a host name in Punycode (UTS 46). Raises UnicodeError for an invalid name.

    IDNA 2008 has no emoji, but some registries sell names with emoji, and servers use them; browsers and Mastodon accept
    such names (UTS 46, section 4.1).
    """
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.InvalidCodepoint:
        return ".".join(map(_encode_label, idna.uts46_remap(host).split(".")))


def _encode_label(label: str) -> str:
    shown = label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    plain = _EMOJI.sub("a", shown)
    if plain == shown:
        return idna.alabel(label).decode("ascii")
    # Everything but the emoji has to be valid, and the same name must not have a second spelling.
    idna.check_label(plain)
    encoded = "xn--" + shown.encode("punycode").decode("ascii")
    if idna.uts46_remap(shown) != shown or label not in (shown, encoded) or len(encoded) > _MAX_LABEL_LENGTH:
        raise idna.IDNAError(f"{label!r} is not a label")
    return encoded


def _is_port(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) <= 5 and 0 < int(digits) < 65536


def is_host_name(domain: str) -> bool:
    """Tell whether a stored domain, with or without port, is a name and not an IP address. A host whose last label is a
    number is an IPv4 address or invalid (WHATWG URL Standard, section 3.5).
    """
    return not domain.startswith("[") and not domain.partition(":")[0].rpartition(".")[2].isdigit()


def _normalise_ipv6(domain: str) -> str | None:
    host, bracket, port = domain[1:].partition("]")
    digits = port.removeprefix(":")
    if not bracket or (port and not (port[0] == ":" and _is_port(digits))):
        return None
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    return f"[{address}]:{int(digits)}" if digits else f"[{address}]"


def display_domain(domain: str) -> str:
    """Return a stored domain as people read it, in Unicode if possible (contract, behaviours section 1)."""
    if "xn--" not in domain:
        return domain
    host, colon, port = domain.partition(":")
    try:
        return idna.decode(host) + colon + port
    except (idna.IDNAError, UnicodeError):
        return domain


def unambiguous_domain(domain: str) -> str:
    """Return a domain in Punycode, followed by its Unicode form in brackets, so that it cannot be mistaken for another domain.

    Used where somebody decides whom to trust (security row 62); `display_domain` is for all other places. Takes any host with
    or without port; in a host that cannot be a domain, characters outside ASCII are written as escapes.
    """
    kept = normalise_domain(domain)
    if kept is None:
        return domain.encode("ascii", "backslashreplace").decode()
    shown = display_domain(kept)
    return kept if shown == kept else f"{kept} ({visible_text(shown)})"


def visible_text(text: str) -> str:
    """Return a name as one line without control, direction or zero-width characters, but with joiners, which some scripts and
    emoji need. The result may be empty.
    """
    return " ".join(_INVISIBLE_CHARACTER.sub("", text).split())
