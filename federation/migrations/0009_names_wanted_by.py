"""Who has named the hosts of what is fetched and looked up: together they have the share of one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("federation", "0008_authors_of_threads"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="fetch",
            name="federation_fetch_lengths",
        ),
        migrations.RemoveConstraint(
            model_name="lookup",
            name="federation_lookup_lengths",
        ),
        migrations.AddField(
            model_name="fetch",
            name="wanted_by",
            field=models.TextField(db_default="", default=""),
        ),
        migrations.AddField(
            model_name="lookup",
            name="wanted_by",
            field=models.TextField(db_default="", default=""),
        ),
        migrations.AddIndex(
            model_name="fetch",
            index=models.Index(
                condition=models.Q(("dead_at__isnull", True), models.Q(("wanted_by", ""), _negated=True)),
                fields=["wanted_by"],
                name="federation_fetch_wanted",
            ),
        ),
        migrations.AddIndex(
            model_name="lookup",
            index=models.Index(
                condition=models.Q(("dead_at__isnull", True), models.Q(("wanted_by", ""), _negated=True)),
                fields=["wanted_by"],
                name="federation_lookup_wanted",
            ),
        ),
        migrations.AddConstraint(
            model_name="fetch",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("host__text_length__lte", 260),
                    ("kind__text_length__lte", 64),
                    ("last_error__text_length__lte", 2000),
                    ("uri__text_length__lte", 2400),
                    ("wanted_by__text_length__lte", 260),
                ),
                name="federation_fetch_lengths",
            ),
        ),
        migrations.AddConstraint(
            model_name="lookup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("address__text_length__lte", 2400),
                    ("host__text_length__lte", 260),
                    ("last_error__text_length__lte", 2000),
                    ("wanted_by__text_length__lte", 260),
                ),
                name="federation_lookup_lengths",
            ),
        ),
    ]
