"""The index Django makes for every foreign key goes where another one begins with the same column."""

from __future__ import annotations

from django.db import migrations

from social.kernel.indexes import without_index


class Migration(migrations.Migration):
    dependencies = [("federation", "0002_words")]
    operations = [
        without_index(
            "federation",
            "delivery",
            "activity",
            "federation_delivery_activity_id_acf14d06",
            related_name="deliveries",
            to="federation.outboundactivity",
        ),
    ]
