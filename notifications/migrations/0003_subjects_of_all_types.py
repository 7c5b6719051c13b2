import django.db.models.deletion
from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_end_follows_of_blocked_servers"),
        ("moderation", "0001_initial"),
        ("notifications", "0002_push_subscription"),
        ("statuses", "0002_columns_of_older_servers"),
    ]

    operations = [
        migrations.AddField(
            model_name="notification",
            name="collection",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.collection",
            ),
        ),
        migrations.AddField(
            model_name="notification",
            name="severed",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.severedaccount",
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="type",
            field=models.TextField(
                choices=[
                    ("mention", "Mention"),
                    ("status", "Status"),
                    ("reblog", "Reblog"),
                    ("favourite", "Favourite"),
                    ("follow", "Follow"),
                    ("follow_request", "Follow Request"),
                    ("poll", "Poll"),
                    ("quote", "Quote"),
                    ("update", "Update"),
                    ("quoted_update", "Quoted Update"),
                    ("admin.sign_up", "Admin Sign Up"),
                    ("admin.report", "Admin Report"),
                    ("moderation_warning", "Moderation Warning"),
                    ("severed_relationships", "Severed Relationships"),
                    ("added_to_collection", "Added To Collection"),
                    ("collection_update", "Collection Update"),
                    ("annual_report", "Annual Report"),
                ]
            ),
        ),
        migrations.CreateModel(
            name="AnnualReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("year", models.SmallIntegerField()),
                ("schema_version", models.SmallIntegerField()),
                ("data", models.JSONField(null=True)),
                ("requested_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("read_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="notification",
            name="annual_report",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="notifications.annualreport",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("severed__isnull", False)), fields=["severed"], name="notifications_severed"
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("collection__isnull", False)),
                fields=["collection"],
                name="notifications_collection",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("annual_report__isnull", False)),
                fields=["annual_report"],
                name="notifications_annual",
            ),
        ),
        migrations.AddConstraint(
            model_name="annualreport",
            constraint=models.CheckConstraint(
                condition=models.Q(("data__text_length__lte", 1000000)), name="notifications_annualreport_lengths"
            ),
        ),
        migrations.AddConstraint(
            model_name="annualreport",
            constraint=models.UniqueConstraint(fields=("account", "year"), name="notifications_annualreport_year"),
        ),
    ]
