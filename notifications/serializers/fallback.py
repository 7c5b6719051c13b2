"""The entity "NotificationFallback" (contract, entities "Notification"), in the viewer's language."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Account
from notifications.models import NotificationType
from notifications.queries.listing import ListedNotification, Subjects
from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.text.to_html import mention_link


class FallbackSerializer(EntitySerializer):
    """NotificationFallback: HTML about what happened, and where to see it. Context: `named` accounts by id, and `subjects`."""

    def to_representation(self, instance: ListedNotification) -> dict[str, Any]:
        title = _title(instance, self.context["subjects"], self.context["named"])
        return {"title": title, "summary": _summary(instance), "description": None}


def _title(row: ListedNotification, subjects: Subjects, accounts: Mapping[int, Account]) -> str:
    if row.type == NotificationType.SEVERED_RELATIONSHIPS:
        assert row.severed_id is not None  # always set for this type
        cause = subjects.severances[row.severed_id].severance.target_name
        return _("You have lost follows because of %(name)s") % {"name": escape(cause)}
    if row.type == NotificationType.MODERATION_WARNING:
        return _("You have received a warning from the staff of this server")
    sender = accounts[row.from_account_id]
    name = mention_link(sender.page_url, sender.username)
    if row.type == NotificationType.ADDED_TO_COLLECTION:
        return _("%(name)s has added you to a collection") % {"name": name}
    if row.type == NotificationType.COLLECTION_UPDATE:
        return _("%(name)s has edited a collection that you are in") % {"name": name}
    if row.type == NotificationType.ADMIN_REPORT:
        assert row.report_id is not None  # always set for this type
        target = accounts[subjects.reports[row.report_id].target_account_id]
        # A reporter on another server stays anonymous: the sender is that server's own account.
        reporter = escape(sender.domain) if sender.domain is not None else name
        names = {"name": reporter, "target": mention_link(target.page_url, target.username)}
        return _("%(name)s has reported %(target)s") % names
    if not row.others:
        return _("%(name)s has signed up") % {"name": name}
    return ngettext(
        "%(name)s and %(count)d other have signed up", "%(name)s and %(count)d others have signed up", row.others
    ) % {"name": name, "count": row.others}


def _summary(row: ListedNotification) -> str:
    if row.type == NotificationType.SEVERED_RELATIONSHIPS:
        link = _link(links.web_url(reverse("severances")), _("the lost follows"))
        return _("See %(link)s on the website.") % {"link": link}
    if row.type == NotificationType.MODERATION_WARNING:
        url = links.web_url(reverse("strike", args=[row.strike_id]))
        return _("See %(link)s on the website.") % {"link": _link(url, _("the decision and how you can appeal"))}
    url = links.web_url("/")
    text = _("Your app does not know this kind of notification. %(link)s shows more.")
    return text % {"link": _link(url, urlsplit(url).netloc)}


def _link(url: str, words: str) -> str:
    return format_html('<a href="{}">{}</a>', url, words)
