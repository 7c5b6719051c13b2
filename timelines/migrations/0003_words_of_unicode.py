"""Has the documents of search written again, in the background: words are taken as Unicode takes them (UAX 29)."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.functions import TransactionNow
from django.db import migrations

from social.kernel.ids import MAX_ID


def renew(apps: Any, schema_editor: Any) -> None:
    """One event for the posts there are; nothing where there are none."""
    if apps.get_model("timelines", "SearchDocument").objects.exists():
        apps.get_model("social", "OutboxRow").objects.create(
            queue="search",
            key="search",
            subscriber="timelines.services.search_index.renew_documents",
            event="DocumentsOutdated",
            payload={"before": MAX_ID},
            due_at=TransactionNow(),
        )


class Migration(migrations.Migration):
    dependencies = [("social", "0001_initial"), ("timelines", "0002_columns_of_older_servers")]
    operations = [migrations.RunPython(renew, migrations.RunPython.noop)]
