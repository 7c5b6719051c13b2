"""The Django configuration of the app `timelines`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TimelinesConfig(AppConfig):
    """Timelines, search and streaming."""

    name = "timelines"
    verbose_name = _("Timelines")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events of the apps below, use PostgreSQL for search unless another engine is plugged in, and
        register the export and import of lists and the condition for exclusive lists.
        """
        from accounts.queries.relations import register_read_apart
        from timelines import reactions  # noqa: F401  # importing it subscribes
        from timelines.policies.feeds import EXCLUSIVE_LIST_CONDITION
        from timelines.services.lists import register_lists
        from timelines.services.postgres_index import PostgresIndex
        from timelines.services.search_index import status_index

        if status_index.find() is None:
            status_index.plug(PostgresIndex())
        register_lists()
        register_read_apart(EXCLUSIVE_LIST_CONDITION)
