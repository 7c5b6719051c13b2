"""What a single emoji is (Unicode Technical Standard 51, section 1.4.9)."""

from __future__ import annotations

from typing import Final

import regex

_FLAG: Final = r"[\U0001F1E6-\U0001F1FF]{2}"
_KEYCAP: Final = r"[0-9#*]\uFE0F?\u20E3"
_TONE: Final = r"(?:\uFE0F|[\U0001F3FB-\U0001F3FF])?"
_TAGS: Final = r"(?:[\U000E0020-\U000E007E]+\U000E007F)?"
_ELEMENT: Final = rf"(?![0-9#*\U0001F1E6-\U0001F1FF])\p{{Emoji}}{_TONE}{_TAGS}"
_EMOJI: Final = regex.compile(rf"{_FLAG}|{_KEYCAP}|{_ELEMENT}(?:\u200D{_ELEMENT}){{0,8}}")


def is_emoji(text: str) -> bool:
    """Whether the text is one emoji: a character, with skin tone or joined with others, a flag or a keycap."""
    return len(text) <= 40 and _EMOJI.fullmatch(text) is not None
