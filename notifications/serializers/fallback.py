"""The entity "NotificationFallback" (contract, entities "Notification"), in the viewer's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Account
from notifications.models import NotificationType
from notifications.queries.listing import About, Subjects
from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.text.to_html import mention_link


class FallbackSerializer(EntitySerializer):
    """NotificationFallback: HTML that says what happened, and where it is shown in full. Context: `named`, accounts by id,
    and `subjects`.
    """

    def to_representation(self, instance: About) -> dict[str, Any]:
        title, summary = _WORDS[instance.type]
        subjects: Subjects = self.context["subjects"]
        accounts: Mapping[int, Account] = self.context["named"]
        return {"title": title(instance, subjects, accounts), "summary": summary(instance), "description": None}


_Words = tuple[Callable[[About, Subjects, Mapping[int, Account]], str], Callable[[About], str]]


def _name(number: int, accounts: Mapping[int, Account]) -> str:
    account = accounts[number]
    return mention_link(account.page_url, account.username)


def _severed(row: About, subjects: Subjects, _accounts: Mapping[int, Account]) -> str:
    assert row.severed_id is not None  # always set for this type
    target = subjects.severances[row.severed_id].severance.target_name
    return _("You have lost follows because of %(name)s") % {"name": escape(target)}


def _warned(_row: About, _subjects: Subjects, _accounts: Mapping[int, Account]) -> str:
    return _("You have received a warning from the staff of this server")


def _signed_up(row: About, _subjects: Subjects, accounts: Mapping[int, Account]) -> str:
    name = _name(row.from_account_id, accounts)
    if not row.others:
        return _("%(name)s has signed up") % {"name": name}
    return ngettext(
        "%(name)s and %(count)d other have signed up", "%(name)s and %(count)d others have signed up", row.others
    ) % {"name": name, "count": row.others}


def _reported(row: About, subjects: Subjects, accounts: Mapping[int, Account]) -> str:
    assert row.report_id is not None  # always set for this type
    by = accounts[row.from_account_id]
    # A reporter on another server stays anonymous: the sender is that server's own account.
    name = escape(by.domain) if by.domain is not None else _name(by.id, accounts)
    return _("%(name)s has reported %(target)s") % {
        "name": name,
        "target": _name(subjects.reports[row.report_id].target_account_id, accounts),
    }


def _added(row: About, _subjects: Subjects, accounts: Mapping[int, Account]) -> str:
    return _("%(name)s has added you to a collection") % {"name": _name(row.from_account_id, accounts)}


def _edited(row: About, _subjects: Subjects, accounts: Mapping[int, Account]) -> str:
    return _("%(name)s has edited a collection that you are in") % {"name": _name(row.from_account_id, accounts)}


def _link(url: str, words: str) -> str:
    return format_html('<a href="{}">{}</a>', url, words)


def _severed_pages(_row: About) -> str:
    return _("See %(link)s on the website.") % {
        "link": _link(links.web_url(reverse("severances")), _("the lost follows"))
    }


def _strike_page(row: About) -> str:
    url = links.web_url(reverse("strike", args=[row.strike_id]))
    return _("See %(link)s on the website.") % {"link": _link(url, _("the decision and how you can appeal"))}


def _website(_row: About) -> str:
    url = links.web_url("/")
    return _("Your app does not know this kind of notification. %(link)s shows more.") % {
        "link": _link(url, urlsplit(url).netloc)
    }


_WORDS: Final[Mapping[str, _Words]] = {
    NotificationType.SEVERED_RELATIONSHIPS: (_severed, _severed_pages),
    NotificationType.MODERATION_WARNING: (_warned, _strike_page),
    NotificationType.ADMIN_SIGN_UP: (_signed_up, _website),
    NotificationType.ADMIN_REPORT: (_reported, _website),
    NotificationType.ADDED_TO_COLLECTION: (_added, _website),
    NotificationType.COLLECTION_UPDATE: (_edited, _website),
}
