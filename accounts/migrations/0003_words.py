"""What staff call these tables; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_roles")]
    operations = [
        migrations.AlterModelOptions("account", {"verbose_name": "account", "verbose_name_plural": "accounts"}),
        migrations.AlterModelOptions("role", {"verbose_name": "role", "verbose_name_plural": "roles"}),
        migrations.AlterModelOptions("user", {"verbose_name": "user", "verbose_name_plural": "users"}),
    ]
