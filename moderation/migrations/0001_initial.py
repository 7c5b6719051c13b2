from django.db import migrations, models

import social.kernel.clock


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="InstanceRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("hint", models.TextField(blank=True, default="")),
                ("translations", models.JSONField(blank=True, default=dict)),
                ("position", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("withdrawn_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ("position", "id"),
            },
        ),
    ]
