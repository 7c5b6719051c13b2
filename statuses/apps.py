"""The Django configuration of the app `statuses`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StatusesConfig(AppConfig):
    """Configuration of the app: posts, media and interactions with posts."""

    name = "statuses"
    verbose_name = _("Posts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events of the apps below; register the steps by which accounts are deleted, merged and archived;
        and add this app's settings page and its portable data.
        """
        from statuses import reactions  # noqa: F401  # importing it subscribes
        from statuses.pages.retention import register_entry
        from statuses.services import account_steps
        from statuses.services.portable_bookmarks import register_bookmarks

        account_steps.register_steps()
        register_bookmarks()
        register_entry()
