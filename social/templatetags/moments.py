"""Template filters for times."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.utils.formats import date_format, get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from social.kernel import clock

register = template.Library()


@register.filter
def ago(moment: datetime) -> str:
    """The time that has passed since a moment; after a week, its date."""
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
    """The element `<time>` of a moment: how long ago it was, with the moment in the reader's zone as its title."""
    local = localtime(moment)
    title = date_format(local, f"{get_format('DATE_FORMAT')} {get_format('TIME_FORMAT')} T")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(timespec="seconds"), title, ago(moment)
    )
