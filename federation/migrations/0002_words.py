"""What staff call these tables; nothing changes in the database."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("federation", "0001_initial")]
    operations = [
        migrations.AlterModelOptions("delivery", {"verbose_name": "delivery", "verbose_name_plural": "deliveries"}),
        migrations.AlterModelOptions(
            "host", {"verbose_name": "troubled server", "verbose_name_plural": "troubled servers"}
        ),
        migrations.AlterModelOptions(
            "inboundactivity", {"verbose_name": "inbound activity", "verbose_name_plural": "inbound activities"}
        ),
        migrations.AlterModelOptions(
            "outboundactivity", {"verbose_name": "outbound activity", "verbose_name_plural": "outbound activities"}
        ),
    ]
