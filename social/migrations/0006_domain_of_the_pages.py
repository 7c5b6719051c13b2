"""Where the pages are: commands make ids of it, whatever their environment says."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("social", "0005_counts_of_refusals"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="installation",
            name="social_installation_lengths",
        ),
        migrations.AddField(
            model_name="installation",
            name="web_domain",
            field=models.TextField(null=True),
        ),
        migrations.AddConstraint(
            model_name="installation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("fingerprints__text_length__lte", 1000000),
                    ("local_domain__text_length__lte", 260),
                    ("web_domain__text_length__lte", 260),
                ),
                name="social_installation_lengths",
            ),
        ),
    ]
