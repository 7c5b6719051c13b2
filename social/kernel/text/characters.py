"""Characters as people see them: the length of a text against limits, and the recognition of a single emoji.

Sources: contract, behaviours section 8; Unicode Technical Standard 51, section 1.4.9.
"""

from typing import Final

import regex

from social.kernel.text.scan import Kind, scan

URL_LENGTH: Final = 23  # number of characters that a link counts as, whatever its length

_JOINING: Final = regex.compile(
    r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}]",
    regex.VERSION0,
)
_CLUSTER: Final = regex.compile(r"\X")
_FLAGS: Final = regex.compile("[\U0001f1e6-\U0001f1ff]{2}")


def graphemes(text: str) -> int:
    """Return the number of extended grapheme clusters of a text (Unicode Standard Annex 29). Linear in its length."""
    if text.isascii() or not _JOINING.search(text):
        return len(text) - text.count("\r\n")
    # A flag is two regional indicators, paired from the beginning of their run. The indicators are paired here, because the
    # regex engine would look back over the whole run at each of them, which is quadratic (50,000 of them took six seconds).
    return len(_CLUSTER.findall(_FLAGS.sub("x", text)))


def counted_length(text: str, spoiler: str = "") -> int:
    """Return the length of a post against its limit, in grapheme clusters.

    In `text`, each http or https address counts as 23 characters, and `@user@domain` counts as `@user`; `spoiler` counts in
    full.
    """
    if ":" not in text and "@" not in text:
        return graphemes(spoiler + text)
    counted = [spoiler]
    for token in scan(text):
        if token.kind is Kind.URL and token.name in ("http", "https"):
            counted.append("x" * URL_LENGTH)
        elif token.kind is Kind.MENTION:
            counted.append("@" + token.name)
        else:
            counted.append(token.raw)
    return graphemes("".join(counted))


_FLAG: Final = r"[\U0001F1E6-\U0001F1FF]{2}"
_KEYCAP: Final = r"[0-9#*]\uFE0F?\u20E3"
_TONE: Final = r"(?:\uFE0F|[\U0001F3FB-\U0001F3FF])?"
_TAGS: Final = r"(?:[\U000E0020-\U000E007E]+\U000E007F)?"
_ELEMENT: Final = rf"(?![0-9#*\U0001F1E6-\U0001F1FF])\p{{Emoji}}{_TONE}{_TAGS}"
_EMOJI: Final = regex.compile(rf"{_FLAG}|{_KEYCAP}|{_ELEMENT}(?:\u200D{_ELEMENT}){{0,8}}")


def is_emoji(text: str) -> bool:
    """Tell whether the text is one emoji: one character (with a skin tone or joined with others), a flag or a keycap."""
    return len(text) <= 40 and _EMOJI.fullmatch(text) is not None
