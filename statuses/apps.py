"""The Django configuration of the app `statuses`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StatusesConfig(AppConfig):
    """Posts, media and interactions with posts."""

    name = "statuses"
    verbose_name = _("Posts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps below, say what is removed of deleted accounts, moved of merged ones and put
        into archives, and add the pages of this app to the settings
        and its table to those that people take along.
        """
        from statuses import reactions  # noqa: F401  # importing it subscribes
        from statuses.pages.retention import register_entry
        from statuses.services import account_steps
        from statuses.services.portable_bookmarks import register_bookmarks

        account_steps.register_steps()
        register_bookmarks()
        register_entry()
