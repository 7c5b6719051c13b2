"""Names of servers where there is little room."""

from __future__ import annotations

import re
from typing import Final

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
# Letters of the largest headline that are as wide as a phone.
_WIDE: Final = 16


@register.filter
def breakable(name: str) -> SafeString:
    """A name that is broken in front of a dot, rather than inside a word, where it has to be broken."""
    return format_html_join(mark_safe("<wbr>."), "{}", ((part,) for part in name.split(".")))


@register.filter
def has_long_word(name: str) -> bool:
    """Tell whether a word of it is wider than a phone as a large headline."""
    return any(len(part) > _WIDE for part in re.split(r"[\s.-]+", name))
