"""The Django configuration of the app `timelines`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TimelinesConfig(AppConfig):
    """Timelines, search and streaming."""

    name = "timelines"
    verbose_name = _("Timelines")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events of lower apps, set the search engine, and register what this app adds to lower apps."""
        from django.db.models import Exists, OuterRef

        from accounts.queries.relations import register_read_apart
        from statuses.services.remote_retention import register_need
        from timelines import reactions  # noqa: F401  # importing it subscribes
        from timelines.models import ConversationPost, ListMember
        from timelines.policies.feeds import EXCLUSIVE_LIST_CONDITION
        from timelines.services.lists import register_lists
        from timelines.services.postgres_index import PostgresIndex
        from timelines.services.search_index import status_index

        if status_index.find() is None:
            status_index.plug(PostgresIndex())
        register_lists()
        register_read_apart(EXCLUSIVE_LIST_CONDITION)
        register_need(Exists(ListMember.objects.filter(account_id=OuterRef("account_id"))))
        register_need(Exists(ConversationPost.objects.filter(status_id=OuterRef("id"))))
