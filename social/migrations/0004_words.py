"""What staff call this table; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("social", "0003_installation")]
    operations = [
        migrations.AlterModelOptions("outboxrow", {"verbose_name": "outbox row", "verbose_name_plural": "outbox rows"}),
    ]
