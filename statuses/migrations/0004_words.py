"""What staff call this table; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("statuses", "0003_rows_with_marks")]
    operations = [
        migrations.AlterModelOptions("status", {"verbose_name": "post", "verbose_name_plural": "posts"}),
    ]
