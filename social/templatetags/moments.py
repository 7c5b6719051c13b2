"""Template filters for times."""

from datetime import datetime, timedelta
from functools import lru_cache

from django import template
from django.utils.formats import date_format, get_format
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name, localtime
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from social.kernel import clock

register = template.Library()


@register.filter
def ago(moment: datetime) -> str:
    """Return the time that has passed since a moment; after a week, its date."""
    now = clock.now()
    passed = now - moment
    if passed < timedelta(minutes=1):
        return _("now")
    if passed < timedelta(hours=1):
        return _("%(number)d min") % {"number": passed // timedelta(minutes=1)}
    if passed < timedelta(days=1):
        return _("%(number)d h") % {"number": passed // timedelta(hours=1)}
    if passed < timedelta(days=7):
        return _("%(number)d d") % {"number": passed.days}
    local = localtime(moment)
    return date_format(local, "MONTH_DAY_FORMAT" if local.year == localtime(now).year else "DATE_FORMAT")


@register.filter
def when(moment: datetime) -> SafeString:
    """Return the element `<time>` of a moment: its age as text, and the moment in the reader's time zone as the title."""
    opening = _opening(moment, get_current_timezone_name(), get_language() or "")
    return SafeString(f"{opening}{escape(ago(moment))}</time>")


@lru_cache(maxsize=4096)
def _opening(moment: datetime, _zone: str, _language: str) -> str:
    # The dates are cached, because the same posts are shown again and again, and formatting a date takes as long as all other
    # parts of a card.
    local = localtime(moment)
    title = date_format(local, f"{get_format('DATE_FORMAT')} {get_format('TIME_FORMAT')} T")
    return f'<time datetime="{local.isoformat(timespec="seconds")}" title="{escape(title)}">'
