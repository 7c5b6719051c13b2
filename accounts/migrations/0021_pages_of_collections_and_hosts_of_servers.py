from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0020_names_of_servers"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="collection",
            index=models.Index(
                condition=models.Q(("url", ""), _negated=True), fields=["url"], name="accounts_collection_page"
            ),
        ),
        migrations.AddField(
            model_name="domain",
            name="host",
            field=models.TextField(db_default="", default=""),
        ),
        migrations.AddConstraint(
            model_name="domain",
            constraint=models.CheckConstraint(
                condition=models.Q(("host__text_length__lte", 260)), name="accounts_domain_host_lengths"
            ),
        ),
        migrations.AddIndex(
            model_name="domain",
            index=models.Index(
                condition=models.Q(("host", ""), _negated=True), fields=["host"], name="accounts_domain_host"
            ),
        ),
    ]
