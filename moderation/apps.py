"""The Django configuration of the app `moderation`."""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ModerationConfig(AppConfig):
    name = "moderation"
    verbose_name = _("Moderation")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events, and register callbacks for erasure, deleted posts, the front page and unread counts."""
        import_module("moderation.reactions")
        from accounts.models.user import WAITING_COUNTS
        from accounts.ports import welcome
        from accounts.services.erasing import Hold, register, register_hold, retain_rows_of_suspended
        from moderation.models import Appeal, Report, StaffNote, Strike
        from moderation.pages.welcome import welcome_values
        from moderation.queries.announcements import unread_announcements
        from moderation.queries.reports import find_reported_statuses, outlive
        from moderation.services.reports import keep_reports_by
        from social.api.staff import person_cards
        from statuses.services import deleting

        person_cards.plug(_person_cards)
        retain_rows_of_suspended(Report, Strike, Appeal, StaffNote)
        register(keep_reports_by)
        register_hold(Hold((Report,), outlive, lasts=True))
        deleting.keep(find_reported_statuses)
        welcome.plug(welcome_values)
        WAITING_COUNTS["announcements"] = unread_announcements


def _person_cards(account_ids: Collection[int]) -> Mapping[int, Any]:
    # The admin's modules can be imported only when all apps are ready.
    from moderation.admin.person_cards import load_shown_cards

    return load_shown_cards(account_ids)
