from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statuses", "0018_who_may_answer"),
    ]

    operations = [
        migrations.AddField(
            model_name="heldpost",
            name="request_uri",
            field=models.TextField(null=True),
        ),
        migrations.AddConstraint(
            model_name="heldpost",
            constraint=models.CheckConstraint(
                condition=models.Q(("request_uri__text_length__lte", 2048)), name="statuses_heldpost_request"
            ),
        ),
    ]
