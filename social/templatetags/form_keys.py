"""Template tag for the key of a form that creates something."""

from __future__ import annotations

import secrets

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from social.pages.once import FIELD

register = template.Library()


@register.simple_tag
def form_key() -> SafeString:
    """A hidden field with a key of its own for each form: see `social.pages.once`."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, secrets.token_urlsafe(16))
