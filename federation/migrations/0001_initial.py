import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import social.kernel.clock
from social.kernel.migration_operations import CreateModels


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
        ("accounts", "0001_initial"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="Host",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("failures", models.PositiveIntegerField(default=0)),
                        ("failing_since", models.DateTimeField(default=social.kernel.clock.now)),
                        ("retry_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("last_error", models.TextField(default="")),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("last_error__text_length__lte", 2000), ("name__text_length__lte", 260)
                                ),
                                name="federation_host_lengths",
                            )
                        ],
                        "verbose_name": "troubled server",
                        "verbose_name_plural": "troubled servers",
                        "indexes": [models.Index(fields=["retry_at"], name="federation_host_retry")],
                    },
                ),
                migrations.CreateModel(
                    name="OutboundActivity",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("type", models.TextField()),
                        ("uri", models.TextField()),
                        ("body", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("body__text_length__lte", 1048576),
                                    ("type__text_length__lte", 64),
                                    ("uri__text_length__lte", 2048),
                                ),
                                name="federation_outboundactivity_lengths",
                            )
                        ],
                        "verbose_name": "outbound activity",
                        "verbose_name_plural": "outbound activities",
                    },
                ),
                migrations.CreateModel(
                    name="Tombstone",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uri", models.TextField()),
                        ("actor_uri", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("expires_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("expires_at__isnull", False)),
                                fields=["expires_at"],
                                name="federation_tombstone_expiry",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("actor_uri__text_length__lte", 2048), ("uri__text_length__lte", 2048)
                                ),
                                name="federation_tombstone_lengths",
                            ),
                            models.UniqueConstraint(fields=("actor_uri", "uri"), name="federation_tombstone_once"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="InboundActivity",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("fingerprint", models.TextField(unique=True)),
                        ("type", models.TextField()),
                        ("uri", models.TextField(default="")),
                        ("body", models.TextField()),
                        ("host", models.TextField(default="")),
                        ("size", models.PositiveIntegerField(default=0)),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("outcome", models.TextField(default="")),
                        ("received_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("processed_at", models.DateTimeField(null=True)),
                        (
                            "actor",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "recipient",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("body__text_length__lte", 1048576),
                                    ("fingerprint__text_length__lte", 255),
                                    ("host__text_length__lte", 260),
                                    ("outcome__text_length__lte", 2000),
                                    ("type__text_length__lte", 255),
                                    ("uri__text_length__lte", 2048),
                                ),
                                name="federation_inboundactivity_lengths",
                            )
                        ],
                        "verbose_name": "inbound activity",
                        "verbose_name_plural": "inbound activities",
                        "indexes": [
                            models.Index(fields=["actor", "id"], name="federation_inbound_actor"),
                            models.Index(
                                condition=models.Q(("processed_at__isnull", True)),
                                fields=["host", "actor"],
                                name="federation_inbound_waiting",
                            ),
                            models.Index(
                                condition=models.Q(("recipient__isnull", False)),
                                fields=["recipient"],
                                name="federation_inbound_recipient",
                            ),
                            models.Index(
                                condition=models.Q(("processed_at__isnull", False)),
                                fields=["processed_at"],
                                name="federation_inbound_processed",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Fetch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("claimed_until", models.DateTimeField(null=True)),
                        ("claim", models.BigIntegerField(null=True)),
                        ("attempts", models.SmallIntegerField(db_default=0)),
                        ("last_error", models.TextField(db_default="")),
                        ("dead_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("kind", models.TextField()),
                        ("uri", models.TextField()),
                        ("host", models.TextField()),
                        ("remaining", models.PositiveSmallIntegerField(default=0)),
                        (
                            "activity",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="federation.inboundactivity",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                models.F("host"),
                                models.F("due_at"),
                                models.F("id"),
                                condition=models.Q(("dead_at__isnull", True)),
                                name="federation_fetch_due",
                            ),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", False)),
                                fields=["dead_at"],
                                name="federation_fetch_dead",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("host__text_length__lte", 260),
                                    ("kind__text_length__lte", 64),
                                    ("last_error__text_length__lte", 2000),
                                    ("uri__text_length__lte", 2400),
                                ),
                                name="federation_fetch_lengths",
                            ),
                            models.UniqueConstraint(fields=("kind", "uri"), name="federation_fetch_once"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Delivery",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("inbox_url", models.TextField()),
                        ("host", models.TextField()),
                        ("key", models.TextField()),
                        ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("claimed_until", models.DateTimeField(null=True)),
                        ("claim", models.BigIntegerField(null=True)),
                        ("attempts", models.SmallIntegerField(db_default=0)),
                        ("last_error", models.TextField(db_default="")),
                        ("dead_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        (
                            "activity",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="federation.outboundactivity",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "delivery",
                        "verbose_name_plural": "deliveries",
                        "indexes": [
                            models.Index(
                                models.F("host"),
                                models.F("due_at"),
                                models.F("id"),
                                condition=models.Q(("dead_at__isnull", True)),
                                name="federation_delivery_due",
                            ),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", True)),
                                fields=["key", "inbox_url", "id"],
                                name="federation_delivery_lane",
                            ),
                            models.Index(
                                condition=models.Q(("dead_at__isnull", False)),
                                fields=["dead_at"],
                                name="federation_delivery_given_up",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("host__text_length__lte", 260),
                                    ("inbox_url__text_length__lte", 2048),
                                    ("key__text_length__lte", 255),
                                    ("last_error__text_length__lte", 2000),
                                ),
                                name="federation_delivery_lengths",
                            ),
                            models.UniqueConstraint(fields=("activity", "inbox_url"), name="federation_delivery_once"),
                        ],
                    },
                ),
            ]
        ),
    ]
