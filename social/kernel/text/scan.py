"""Links, mentions, hashtags and emoji shortcodes of a text: where they begin and end.

Source of the rules: contract, behaviours section 8. Scanning takes time linear in the length of any text, even a hostile one
(security row 32), because possessive quantifiers and runs that cannot overlap look at each character a fixed number of times at
most.

The known top-level domains come from IANA's list in this directory; nothing is fetched.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import idna
import regex

from social.kernel.text.names import MAX_DOMAIN_LENGTH, TAG_NAME, WORD, is_hashtag, normalise_hashtag

_LIST: Final = Path(__file__).with_name("tlds-alpha-by-domain.txt")


def _known_domains() -> frozenset[str]:
    lines = _LIST.read_text(encoding="ascii").lower().split("\n")
    # RFC 7686: `onion` is never delegated, but in use.
    return frozenset(line for line in lines if line and not line.startswith("#")) | {"onion"}


_TOP_LEVEL_DOMAINS: Final = _known_domains()


def is_top_level_domain(label: str) -> bool:
    """Tell whether the last label of a host name, in Unicode or Punycode and any case, is a top-level domain.

    True for `onion`; false for names in local networks (`localhost`, `local`, `internal`) and reserved names (`test`,
    `example`, `invalid`; RFC 2606). Source: contract, behaviours section 8.
    """
    if label.isascii():
        return label.lower() in _TOP_LEVEL_DOMAINS
    try:
        return idna.encode(label, uts46=True).decode("ascii") in _TOP_LEVEL_DOMAINS
    except (idna.IDNAError, UnicodeError):
        return False


MAX_URL_LENGTH: Final = 4096
"""Longest URL that becomes a link, in characters.

A link counts as 23 characters whatever its length, so it needs a limit of its own.
"""

_SCHEMES: Final = ("https", "http", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "gemini")


class Kind(StrEnum):
    TEXT = "text"
    URL = "url"
    MENTION = "mention"
    HASHTAG = "hashtag"
    EMOJI = "emoji"


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of text. The `raw` of all tokens of a text, joined, is the text itself, character for character.

    `name` is the scheme of a URL in lower case, the username of a mention as written, a hashtag as written without its `#`,
    the shortcode of an emoji, and empty for text. `domain` is the domain of a mention as written, in lower case and with
    its port if it has one; empty for a mention without domain. `normalise_hashtag` always turns the name of a hashtag into
    a hashtag; `normalise_domain` may still refuse the domain of a mention.
    """

    kind: Kind
    raw: str
    name: str = ""
    domain: str = ""

    @property
    def acct(self) -> str:
        """The account that a mention names, as written but in lower case: `user` or `user@domain`."""
        return f"{self.name}@{self.domain}".lower() if self.domain else self.name.lower()


def _any_case(word: str) -> str:
    # The flag IGNORECASE is not used, because Unicode folding would let a long s or a Kelvin sign pass for a letter of a
    # scheme.
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_LABELS: Final = rf"[{WORD}]++(?:-++[{WORD}]++)*+(?:\.[{WORD}]++(?:-++[{WORD}]++)*+)*+"
_BIDI_EMBEDDINGS: Final = "\u202a-\u202e"

_BEGINNING: Final = regex.compile(
    rf"""
    (?<![A-Za-z0-9@＠$\#＃{_BIDI_EMBEDDINGS}])
    (?:
        (?:{"|".join(map(_any_case, _SCHEMES))}):// (?P<host>{_LABELS}) (?P<port>:[0-9]++)?+
      | {_any_case("xmpp")}: (?://)?+ (?:[A-Za-z0-9._~%+!$*-]++@)?+ (?P<xmpp_host>{_LABELS})
      | (?P<magnet>{_any_case("magnet")}): (?=\?)
    )
    | (?<![=/{WORD}]) @ (?P<user>[A-Za-z0-9_]++(?:[.-]++[A-Za-z0-9_]++)*+)
      (?: @ (?P<domain>[{WORD}]++(?:[.-]++[{WORD}]++)*+) (?::[0-9]{{1,5}}+(?![0-9]))?+ )?+
    | (?<!\S) [\#＃] {TAG_NAME}
    | (?<![\p{{L}}\p{{M}}\p{{Nd}}:]) : [A-Za-z0-9_]{{2,}}+ : (?![\p{{L}}\p{{M}}\p{{Nd}}:])
    """,
    regex.VERBOSE | regex.VERSION0,
)

# Ends of a sentence or a quotation in scripts that put no space after them; nobody types them inside an address.
_STOPS: Final = "“”„‟«»‹›、。〈〉《》「」『』【】〔〕〖〗〘〙〚〛〝〞〟，．：；！？（）［］｛｝｟｠｡｢｣､"
# Invisible characters, which would let an address look like another one (security row 3).
_INVISIBLE_CHARACTERS: Final = r"\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_PATH_RUN: Final = rf"[^\s\p{{Cc}}<>\"`\\(){_STOPS}{_INVISIBLE_CHARACTERS}]"
_REST: Final = regex.compile(rf"[/?\#](?:{_PATH_RUN}++|\((?:{_PATH_RUN}++|\({_PATH_RUN}*+\))*+\))*+", regex.VERSION0)
_TRAILING: Final = frozenset("!'*,.:;?@$%~|^[]{}")
_TRAILING_CATEGORIES: Final = frozenset({"Po", "Pi", "Pf", "Ps", "Pe"})
_ONE_SCRIPT: Final = regex.compile(r"[\p{Latin}\p{M}\p{Nd}-]++|[^\p{Latin}\p{Nd}_-]++")


def web_links(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Return the addresses of web pages among tokens, in order."""
    return tuple(token.raw for token in tokens if token.kind is Kind.URL and token.name in ("http", "https"))


def scan(text: str) -> tuple[Token, ...]:
    """Split a text into its tokens.

    Guarantees that the tokens' `raw`, joined, is `text`, that no two text tokens are adjacent, and that the time is linear in
    the length of the text. An empty text has no tokens. Expects what `clean_input` returns.
    """
    tokens: list[Token] = []
    done = position = 0
    while (match := _BEGINNING.search(text, position)) is not None:
        token, position = _read(text, match)
        if token is None:
            continue
        start = match.start()
        if start > done:
            tokens.append(Token(Kind.TEXT, text[done:start]))
        tokens.append(token)
        done = position
    if done < len(text):
        tokens.append(Token(Kind.TEXT, text[done:]))
    return tuple(tokens)


def _read(text: str, match: regex.Match[str]) -> tuple[Token | None, int]:
    """Return the token that begins at a match, or None, and the position from which to continue."""
    raw = match[0]
    match raw[0]:
        case "@":
            return _read_mention(text, match)
        case "#" | "＃":
            name = raw[1:]
            # The name is checked after normalisation, which turns a few letters into characters that are not letters (isolated
            # Arabic vowel signs).
            known = name.isascii() or is_hashtag(normalise_hashtag(name))
            return Token(Kind.HASHTAG, raw, name) if known else None, match.end()
        case ":":
            return Token(Kind.EMOJI, raw, raw[1:-1]), match.end()
        case _:
            return _read_url(text, match)


def _read_mention(text: str, match: regex.Match[str]) -> tuple[Token, int]:
    start, end = match.span("user")
    user, domain = text[start:end], match["domain"]
    if domain is None or len(domain) > MAX_DOMAIN_LENGTH:
        return Token(Kind.MENTION, text[start - 1 : end], user), end
    kept = _ending_in_one_script(domain)
    domain_start = end + 1
    end = match.end() if len(kept) == len(domain) else domain_start + len(kept)
    return Token(Kind.MENTION, text[start - 1 : end], user, text[domain_start:end].lower()), end


def _read_url(text: str, match: regex.Match[str]) -> tuple[Token | None, int]:
    start, end = match.start(), match.end()
    host_group = "host" if match["host"] else "xmpp_host" if match["xmpp_host"] else None
    whole = True
    if host_group is not None:
        host = match[host_group]
        kept = _public_name(host)
        if not kept:
            return None, end
        whole = len(kept) == len(host)
        if not whole:
            end = match.start(host_group) + len(kept)
        elif match["port"] and not 0 < int(match["port"][1:7]) < 65536:
            whole, end = False, match.end("host")
        if text[end : end + 1] == "@":
            # An address with a user name before its host seems to lead to another host (security row 3).
            return None, match.end()
    if whole and (rest := _REST.match(text, end)) is not None:
        end = _without_trailing(text, rest.end(), floor=end)
    if end - start > MAX_URL_LENGTH or (match["magnet"] and end < match.end() + 2):
        return None, end
    return Token(Kind.URL, text[start:end], text[start : text.index(":", start)].lower()), end


def _without_trailing(text: str, end: int, *, floor: int) -> int:
    """Return the end of an address without the punctuation of the sentence around it."""
    while end > floor:
        last = text[end - 1]
        if last not in _TRAILING and (last.isascii() or unicodedata.category(last) not in _TRAILING_CATEGORIES):
            break
        end -= 1
    return end


def _ending_in_one_script(host: str) -> str:
    """Cut off text that follows a host without a space, as in scripts that use no spaces: `example.comです` becomes
    `example.com`.

    The last label of a host is either in Latin script or not: where that changes, the host ends and the sentence continues.
    """
    if host.isascii():
        return host.rstrip("_")
    before, dot, last = host.rpartition(".")
    match = _ONE_SCRIPT.match(last)
    return before + dot + match[0].rstrip("-") if match else host


def _public_name(host: str) -> str:
    """Return the part of `host` that is a name under a known top-level domain; empty if there is none."""
    host = _ending_in_one_script(host.rstrip("_"))
    _, dot, last = host.rpartition(".")
    return host if dot and len(host) <= MAX_DOMAIN_LENGTH and is_top_level_domain(last) else ""
