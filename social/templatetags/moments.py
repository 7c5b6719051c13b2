"""Template filter for relative times."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.utils.formats import date_format
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
