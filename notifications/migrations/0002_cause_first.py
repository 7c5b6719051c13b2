"""What took an act back looks for its cause alone: the index of the pair begins with it now."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_initial")]
    operations = [
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.UniqueConstraint(fields=("cause", "account"), name="notifications_cause"),
        ),
        migrations.RemoveConstraint(model_name="notification", name="notifications_notification_cause"),
    ]
