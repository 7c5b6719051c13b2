"""Template filters that break long names on narrow screens and isolate names in sentences of another direction."""

import re
from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
# Number of letters that fit across a phone in the largest headline.
_WIDE: Final = 16


@register.filter
def breakable(name: str) -> SafeString:
    """Return a server's name with possible line breaks before its dots, so that it is not broken inside a word."""
    return format_html_join(mark_safe("<wbr>."), "{}", ((part,) for part in name.split(".")))


@register.filter
def isolated(name: str) -> SafeString:
    """Return a name, isolated so that its text direction does not affect the sentence around it."""
    return format_html("<bdi>{}</bdi>", name)


@register.filter
def has_long_word(name: str) -> bool:
    """Tell whether the name has a word that, in a large headline, would be wider than the screen of a phone."""
    return any(len(part) > _WIDE for part in re.split(r"[\s.-]+", name))
