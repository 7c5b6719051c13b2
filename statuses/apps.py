"""The Django configuration of the app `statuses`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StatusesConfig(AppConfig):
    """Configuration of the app: posts, media and interactions with posts."""

    name = "statuses"
    verbose_name = _("Posts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events of lower apps, and register this app's additions to their features."""
        from accounts.models.user import WAITING_COUNTS
        from statuses import reactions  # noqa: F401  # importing it subscribes
        from statuses.pages import policies
        from statuses.queries.requests import waiting_requests
        from statuses.services import account_steps
        from statuses.services.portable_bookmarks import register_bookmarks

        account_steps.register_steps()
        register_bookmarks()
        policies.register_entries()
        WAITING_COUNTS["interaction_requests"] = waiting_requests
