import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import social.kernel.clock
import social.kernel.ids
from social.kernel.migration_operations import CreateModels

# Bits as in accounts.models.user.Permission, written out: a migration must not change when the enum does.
ROLES = [
    # id, name, position, permissions, highlighted
    (-99, "", -1, 0x10000, False),
    (1, "Moderator", 10, 0x4 | 0x8 | 0x10 | 0x100 | 0x200 | 0x400, True),
    (
        2,
        "Admin",
        100,
        0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000 | 0x8000
        | 0x10000 | 0x20000 | 0x40000 | 0x80000 | 0x100000 | 0x200000 | 0x400000,
        True,
    ),
    (3, "Owner", 1000, 0x1, True),
]  # fmt: skip


# TRUNCATE, with which tests empty tables, fires no trigger of rows.
APPEND_ONLY = """
CREATE FUNCTION accounts_audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of accounts_auditentry are neither changed nor deleted';
END $$;
CREATE TRIGGER accounts_audit_is_kept BEFORE UPDATE OR DELETE ON accounts_auditentry
  FOR EACH ROW EXECUTE FUNCTION accounts_audit_is_kept();
"""

# A deleted account's name is never free again, whatever deletes the account (security row 18).
RETIRE_USERNAMES = """
CREATE FUNCTION accounts_retire_username() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO accounts_retiredusername (username) VALUES (lower(OLD.username)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_retire_username AFTER DELETE ON accounts_account
  FOR EACH ROW WHEN (OLD.domain IS NULL) EXECUTE FUNCTION accounts_retire_username();
"""

# Whoever writes a follow need not know who reads timelines; a follower who is away is found out within the hour
# (timelines.services.presence).
FOLLOWER_STATES = """
CREATE FUNCTION accounts_follower_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.follower_state := CASE
    WHEN EXISTS (SELECT 1 FROM accounts_user WHERE account_id = NEW.account_id) THEN 'active'
    WHEN EXISTS (SELECT 1 FROM accounts_account WHERE id = NEW.account_id AND domain IS NOT NULL) THEN 'remote'
    ELSE 'absent' END;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_follower_state BEFORE INSERT ON accounts_follow
  FOR EACH ROW EXECUTE FUNCTION accounts_follower_state();
"""


def create_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Insert the roles with fixed ids and let the sequence go on after them."""
    role = apps.get_model("accounts", "Role")
    for number, name, position, permissions, highlighted in ROLES:
        role.objects.create(id=number, name=name, position=position, permissions=permissions, highlighted=highlighted)
    schema_editor.execute("SELECT setval(pg_get_serial_sequence('accounts_role', 'id'), 100)", params=None)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0000_people_and_applications"),
        # The packages' own migrations come before most of our tables: 0000 says why.
        ("account", "0009_emailaddress_unique_primary_email"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("oauth2_provider", "0022_refreshtoken_token_family_index"),
        ("sessions", "0001_initial"),
        ("usersessions", "0001_initial"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="SiteSetting",
                    fields=[
                        ("key", models.TextField(primary_key=True, serialize=False)),
                        ("value", models.JSONField()),
                        ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("key__text_length__lte", 255), ("value__text_length__lte", 1000000)
                                ),
                                name="accounts_sitesetting_lengths",
                            )
                        ],
                        "verbose_name": "setting of this server",
                        "verbose_name_plural": "settings of this server",
                    },
                ),
                migrations.CreateModel(
                    name="AccountStat",
                    fields=[
                        (
                            "account",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="stat",
                                serialize=False,
                                to="accounts.account",
                            ),
                        ),
                        ("statuses_count", models.BigIntegerField(default=0)),
                        ("following_count", models.BigIntegerField(default=0)),
                        ("followers_count", models.BigIntegerField(default=0)),
                        ("last_status_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                models.OrderBy(models.F("followers_count"), descending=True),
                                condition=models.Q(("followers_count__gt", 0)),
                                name="accounts_accountstat_popular",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="KeyPair",
                    fields=[
                        (
                            "account",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="key_pair",
                                serialize=False,
                                to="accounts.account",
                            ),
                        ),
                        ("key_id", models.TextField(unique=True)),
                        ("public_key", models.TextField()),
                        ("private_key", models.TextField(default="")),
                        ("previous_private_key", models.TextField(default="")),
                        ("rotated_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("key_id__text_length__lte", 2048),
                                    ("previous_private_key__text_length__lte", 20000),
                                    ("private_key__text_length__lte", 20000),
                                    ("public_key__text_length__lte", 20000),
                                ),
                                name="accounts_keypair_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="AccountDomainBlock",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("domain", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="domain_blocks",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("domain__text_length__lte", 260)),
                                name="accounts_accountdomainblock_lengths",
                            ),
                            models.UniqueConstraint(fields=("account", "domain"), name="accounts_domainblock_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("domain", django.db.models.functions.text.Lower("domain"))),
                                name="accounts_domainblock_lower_case",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Block",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uri", models.TextField(null=True, unique=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="blocks",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="blocked_by",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["target"], name="accounts_block_target"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("uri__text_length__lte", 2048)), name="accounts_block_lengths"
                            ),
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_block_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("account", models.F("target")), _negated=True),
                                name="accounts_block_not_self",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CustomEmoji",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("shortcode", models.TextField()),
                        ("domain", models.TextField(null=True)),
                        ("uri", models.TextField(null=True)),
                        ("image", models.TextField(default="")),
                        ("static_image", models.TextField(default="")),
                        ("remote_url", models.TextField(default="")),
                        ("category", models.TextField(default="")),
                        ("visible_in_picker", models.BooleanField(default=True)),
                        ("disabled", models.BooleanField(default=False)),
                        ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("category__text_length__lte", 255),
                                    ("domain__text_length__lte", 260),
                                    ("image__text_length__lte", 1024),
                                    ("remote_url__text_length__lte", 2048),
                                    ("static_image__text_length__lte", 1024),
                                    ("uri__text_length__lte", 2048),
                                ),
                                name="accounts_customemoji_lengths",
                            ),
                            models.UniqueConstraint(
                                models.F("shortcode"),
                                django.db.models.functions.comparison.Coalesce("domain", models.Value("")),
                                name="accounts_customemoji_name",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("shortcode__length__lte", 2048)), name="accounts_customemoji_length"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Domain",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.TextField(unique=True)),
                        ("first_seen_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("name__text_length__lte", 260)), name="accounts_domain_lengths"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("name", django.db.models.functions.text.Lower("name"))),
                                name="accounts_domain_lower_case",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Follow",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uri", models.TextField(null=True, unique=True)),
                        ("show_reblogs", models.BooleanField(default=True)),
                        ("notify", models.BooleanField(default=False)),
                        (
                            "languages",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="following",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="followers",
                                to="accounts.account",
                            ),
                        ),
                        ("direct_since", models.DateTimeField(null=True)),
                        (
                            "follower_state",
                            models.TextField(
                                choices=[("remote", "Remote"), ("active", "Active"), ("absent", "Absent")],
                                default="active",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["target", "-id"], name="accounts_follow_followers"),
                            models.Index(fields=["account", "-id"], name="accounts_follow_following"),
                            models.Index(
                                condition=models.Q(("notify", True)),
                                fields=["target", "id"],
                                name="accounts_follow_notified",
                            ),
                            models.Index(
                                fields=["target", "follower_state", "account"], name="accounts_follow_reached"
                            ),
                            models.Index(
                                condition=models.Q(("follower_state", "active")),
                                fields=["account"],
                                name="accounts_follow_active",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("follower_state__text_length__lte", 64),
                                    ("languages__text_length__lte", 2000),
                                    ("uri__text_length__lte", 2048),
                                ),
                                name="accounts_follow_lengths",
                            ),
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_follow_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("account", models.F("target")), _negated=True),
                                name="accounts_follow_not_self",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="FollowRequest",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uri", models.TextField(null=True, unique=True)),
                        ("show_reblogs", models.BooleanField(default=True)),
                        ("notify", models.BooleanField(default=False)),
                        (
                            "languages",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="follow_requests_sent",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="follow_requests",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["target", "-id"], name="accounts_followrequest_target"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("languages__text_length__lte", 2000), ("uri__text_length__lte", 2048)
                                ),
                                name="accounts_followrequest_lengths",
                            ),
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_followrequest_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("account", models.F("target")), _negated=True),
                                name="accounts_followrequest_not_self",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RevokedToken",
                    fields=[
                        ("token_checksum", models.CharField(max_length=64, primary_key=True, serialize=False)),
                        ("revoked_at", models.DateTimeField(db_index=True, default=social.kernel.clock.now)),
                    ],
                ),
                migrations.CreateModel(
                    name="Mute",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("hide_notifications", models.BooleanField(default=True)),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="mutes",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="muted_by",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["target"], name="accounts_mute_target"),
                            models.Index(
                                condition=models.Q(("expires_at__isnull", False)),
                                fields=["expires_at"],
                                name="accounts_mute_expiry",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_mute_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("account", models.F("target")), _negated=True),
                                name="accounts_mute_not_self",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Tag",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("name", models.TextField(unique=True)),
                        ("display_name", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("listable", models.BooleanField(default=True)),
                        ("private", models.BooleanField(db_default=False, default=False)),
                        ("requested_review_at", models.DateTimeField(null=True)),
                        ("reviewed_at", models.DateTimeField(null=True)),
                        ("trendable", models.BooleanField(null=True)),
                        ("usable", models.BooleanField(default=True)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("display_name__text_length__lte", 500)), name="accounts_tag_lengths"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("name__length__lte", 500)), name="accounts_tag_name_length"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Device",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("device_id", models.TextField(default="")),
                        ("name", models.TextField()),
                        ("fingerprint_key", models.TextField()),
                        ("identity_key", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "access_token",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="device",
                                to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL,
                            ),
                        ),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="devices",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("fingerprint_key__text_length__lte", 1024),
                                    ("identity_key__text_length__lte", 1024),
                                ),
                                name="accounts_device_lengths",
                            ),
                            models.UniqueConstraint(fields=("account", "device_id"), name="accounts_device_id"),
                            models.CheckConstraint(
                                condition=models.Q(("device_id__length__lte", 255), ("name__length__lte", 255)),
                                name="accounts_device_length",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="EncryptedMessage",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("from_device_id", models.TextField()),
                        ("type", models.IntegerField(default=0)),
                        ("body", models.TextField()),
                        ("digest", models.TextField()),
                        ("message_franking", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "device",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="encrypted_messages",
                                to="accounts.device",
                            ),
                        ),
                        (
                            "from_account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["device", "-id"], name="accounts_message_device"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("from_device_id__text_length__lte", 255),
                                    ("message_franking__text_length__lte", 65536),
                                ),
                                name="accounts_encryptedmessage_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("body__length__lte", 65536), ("digest__length__lte", 1024)),
                                name="accounts_encryptedmessage_length",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OneTimeKey",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("key_id", models.TextField()),
                        ("key", models.TextField()),
                        ("signature", models.TextField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "device",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="one_time_keys",
                                to="accounts.device",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("device", "key_id"), name="accounts_onetimekey_id"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("key__length__lte", 1024),
                                    ("key_id__length__lte", 255),
                                    ("signature__length__lte", 1024),
                                ),
                                name="accounts_onetimekey_length",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Collection",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("uri", models.TextField(null=True, unique=True)),
                        ("name", models.TextField()),
                        ("description", models.TextField(null=True)),
                        ("language", models.TextField(null=True)),
                        ("sensitive", models.BooleanField()),
                        ("discoverable", models.BooleanField()),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="collections",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "tag",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.tag",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="accounts_collection_account"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("language__text_length__lte", 64), ("uri__text_length__lte", 2048)),
                                name="accounts_collection_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("name__length__lte", 40),
                                    models.Q(
                                        ("description", None), ("description__length__lte", 2000), _connector="OR"
                                    ),
                                ),
                                name="accounts_collection_length",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CollectionItem",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        (
                            "state",
                            models.TextField(
                                choices=[
                                    ("pending", "Pending"),
                                    ("accepted", "Accepted"),
                                    ("rejected", "Rejected"),
                                    ("revoked", "Revoked"),
                                ],
                                default="accepted",
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="collection_items",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "collection",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="items",
                                to="accounts.collection",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["account", "state", "-collection"], name="accounts_collectionitem_member"
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("state__text_length__lte", 64)),
                                name="accounts_collectionitem_lengths",
                            ),
                            models.UniqueConstraint(
                                fields=("collection", "account"), name="accounts_collectionitem_pair"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AccountNote",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("comment", models.TextField()),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notes_written",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_note_pair"),
                            models.CheckConstraint(
                                condition=models.Q(("comment__length__lte", 2000)), name="accounts_note_length"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Endorsement",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="endorsements",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_endorsement_pair")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="FeaturedTag",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.TextField()),
                        ("statuses_count", models.BigIntegerField(default=0)),
                        ("last_status_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="featured_tags",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "tag",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.tag"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("name__text_length__lte", 500)), name="accounts_featuredtag_lengths"
                            ),
                            models.UniqueConstraint(fields=("account", "tag"), name="accounts_featuredtag_pair"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="TagUse",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("day", models.DateField()),
                        ("uses", models.IntegerField(default=1)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                        (
                            "tag",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.tag",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["day"], name="accounts_taguse_day")],
                        "constraints": [
                            models.UniqueConstraint(fields=("tag", "day", "account"), name="accounts_taguse_key")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="AuditEntry",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("account_id", models.BigIntegerField(null=True)),
                        ("account_name", models.TextField()),
                        ("action", models.TextField()),
                        ("target_type", models.TextField()),
                        ("target_id", models.BigIntegerField()),
                        ("target_name", models.TextField()),
                        ("details", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("account_name__text_length__lte", 2400),
                                    ("action__text_length__lte", 64),
                                    ("details__text_length__lte", 1000000),
                                    ("target_name__text_length__lte", 2400),
                                    ("target_type__text_length__lte", 64),
                                ),
                                name="accounts_auditentry_lengths",
                            )
                        ],
                        "verbose_name": "entry of the audit log",
                        "verbose_name_plural": "audit log",
                        "indexes": [
                            models.Index(fields=["account_id", "-id"], name="accounts_audit_account"),
                            models.Index(fields=["target_type", "target_id", "-id"], name="accounts_audit_target"),
                            django.contrib.postgres.indexes.HashIndex(
                                django.db.models.functions.text.Upper("account_name"), name="accounts_audit_by_name"
                            ),
                            django.contrib.postgres.indexes.HashIndex(
                                django.db.models.functions.text.Upper("target_name"), name="accounts_audit_of_name"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Severance",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "type",
                            models.TextField(
                                choices=[
                                    ("domain_block", "Domain Block"),
                                    ("user_domain_block", "User Domain Block"),
                                    ("account_suspension", "Account Suspension"),
                                ]
                            ),
                        ),
                        ("target_name", models.TextField()),
                        ("cause", models.TextField(unique=True)),
                        ("purged", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("cause__text_length__lte", 255),
                                    ("target_name__text_length__lte", 2400),
                                    ("type__text_length__lte", 64),
                                ),
                                name="accounts_severance_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="SeveredAccount",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("followers_count", models.IntegerField(default=0)),
                        ("following_count", models.IntegerField(default=0)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="severances",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "severance",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="accounts",
                                to="accounts.severance",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("severance", "account"), name="accounts_severed_account")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="SeveredFollow",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("show_reblogs", models.BooleanField()),
                        ("notify", models.BooleanField()),
                        (
                            "languages",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), null=True, size=None
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                        (
                            "severance",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="follows",
                                to="accounts.severance",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("languages__text_length__lte", 2000)),
                                name="accounts_severedfollow_lengths",
                            ),
                            models.UniqueConstraint(
                                fields=("severance", "account", "target"), name="accounts_severed_follow"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("account", models.F("target")), _negated=True),
                                name="accounts_severed_not_self",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DismissedSuggestion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.account"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("account", "target"), name="accounts_dismissed_pair")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CanonicalEmailBlock",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("digest", models.TextField(unique=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
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
                                condition=models.Q(("digest__text_length__lte", 255)),
                                name="accounts_canonicalemailblock_lengths",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RetiredUsername",
                    fields=[
                        ("username", models.TextField(primary_key=True, serialize=False)),
                        ("retired_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("username__text_length__lte", 255)),
                                name="accounts_retiredusername_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="UsernameBlock",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("username", models.TextField()),
                        ("normalised", models.TextField(unique=True)),
                        ("exact", models.BooleanField(default=True)),
                        ("allow_with_approval", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("normalised__text_length__lte", 255), ("username__text_length__lte", 255)
                                ),
                                name="accounts_usernameblock_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="EmailDomainBlock",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("domain", models.TextField(unique=True)),
                        ("allow_with_approval", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("domain__text_length__lte", 260)),
                                name="accounts_emaildomainblock_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("domain", django.db.models.functions.text.Lower("domain"))),
                                name="accounts_email_domain_block_lower_case",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="IpBlock",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("network", models.TextField(unique=True)),
                        ("first", models.GenericIPAddressField()),
                        ("last", models.GenericIPAddressField()),
                        (
                            "severity",
                            models.TextField(
                                choices=[
                                    ("sign_up_requires_approval", "Sign Up Requires Approval"),
                                    ("sign_up_block", "Sign Up Block"),
                                    ("no_access", "No Access"),
                                ]
                            ),
                        ),
                        ("comment", models.TextField(default="")),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("expires_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("comment__text_length__lte", 10000),
                                    ("network__text_length__lte", 255),
                                    ("severity__text_length__lte", 64),
                                ),
                                name="accounts_ipblock_lengths",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    name="Import",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("kind", models.TextField()),
                        ("overwrite", models.BooleanField(default=False)),
                        ("file_name", models.TextField(default="")),
                        (
                            "state",
                            models.TextField(
                                choices=[("waiting", "Waiting"), ("running", "Running"), ("finished", "Finished")],
                                default="waiting",
                            ),
                        ),
                        ("total", models.IntegerField(default=0)),
                        ("done", models.IntegerField(default=0)),
                        ("failed", models.IntegerField(default=0)),
                        ("removed", models.IntegerField(default=0)),
                        ("removed_up_to", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="imports",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="accounts_import_account"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("file_name__text_length__lte", 255),
                                    ("kind__text_length__lte", 64),
                                    ("state__text_length__lte", 64),
                                ),
                                name="accounts_import_lengths",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("state", "finished"), _negated=True),
                                fields=("account", "kind", "state"),
                                name="accounts_import_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ImportRow",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("line", models.IntegerField()),
                        ("key", models.TextField()),
                        ("cells", models.JSONField(default=list)),
                        (
                            "state",
                            models.TextField(
                                choices=[("pending", "Pending"), ("sought", "Sought"), ("failed", "Failed")],
                                default="pending",
                            ),
                        ),
                        ("error", models.TextField(default="")),
                        (
                            "batch",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rows",
                                to="accounts.import",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                models.F("batch"), models.F("state"), models.F("line"), name="accounts_import_row_state"
                            ),
                            models.Index(fields=["batch", "key"], name="accounts_import_row_key"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("cells__text_length__lte", 1000000),
                                    ("error__text_length__lte", 64),
                                    ("key__text_length__lte", 2400),
                                    ("state__text_length__lte", 64),
                                ),
                                name="accounts_importrow_lengths",
                            ),
                            models.UniqueConstraint(fields=("batch", "line"), name="accounts_import_row_line"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Move",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("target_address", models.TextField()),
                        ("followers_count", models.BigIntegerField(default=0)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="moves",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "target",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-created_at"], name="accounts_move_account"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("target_address__text_length__lte", 2400)),
                                name="accounts_move_lengths",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Archive",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        (
                            "state",
                            models.TextField(
                                choices=[("building", "Building"), ("ready", "Ready")], default="building"
                            ),
                        ),
                        ("part", models.TextField(default="")),
                        ("cursor", models.BigIntegerField(default=0)),
                        ("files", models.JSONField(default=dict)),
                        ("size", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("finished_at", models.DateTimeField(null=True)),
                        ("expires_at", models.DateTimeField(null=True)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="archives",
                                to="accounts.account",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("files__text_length__lte", 1000000),
                                    ("part__text_length__lte", 64),
                                    ("state__text_length__lte", 64),
                                ),
                                name="accounts_archive_lengths",
                            )
                        ],
                        "indexes": [models.Index(fields=["expires_at"], name="accounts_archive_expiry")],
                    },
                ),
                migrations.CreateModel(
                    name="RecoveryCode",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.CharField(max_length=64)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "user",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="recovery_codes",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "digest"), name="accounts_recovery_code")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="EmailDomainRefusal",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("day", models.DateField()),
                        ("address_digest", models.TextField()),
                        ("uses", models.IntegerField(default=1)),
                        (
                            "block",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="refusals",
                                to="accounts.emaildomainblock",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["day"], name="accounts_email_refusal_day")],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("address_digest__text_length__lte", 255)),
                                name="accounts_emaildomainrefusal_lengths",
                            ),
                            models.UniqueConstraint(
                                fields=("block", "day", "address_digest"), name="accounts_email_refusal_key"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="TagFollow",
                    fields=[
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("absent", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "account",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        (
                            "tag",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="accounts.tag",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["account", "-id"], name="accounts_tagfollow_account"),
                            models.Index(
                                condition=models.Q(("absent", False)),
                                fields=["tag", "account"],
                                name="accounts_tagfollow_reached",
                            ),
                            models.Index(
                                condition=models.Q(("absent", False)),
                                fields=["account"],
                                name="accounts_tagfollow_active",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("tag", "account"), name="accounts_tagfollow_pair")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RemoteCopy",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.TextField(unique=True)),
                        (
                            "purpose",
                            models.TextField(
                                choices=[
                                    ("attachment", "Attachment"),
                                    ("cover", "Cover"),
                                    ("avatar", "Avatar"),
                                    ("header", "Header"),
                                ]
                            ),
                        ),
                        ("url", models.TextField()),
                        ("host", models.TextField(default="")),
                        (
                            "state",
                            models.TextField(
                                choices=[("waiting", "Waiting"), ("ready", "Ready"), ("failed", "Failed")],
                                default="waiting",
                            ),
                        ),
                        (
                            "failure",
                            models.TextField(
                                blank=True,
                                choices=[
                                    ("", "None"),
                                    ("missing", "Missing"),
                                    ("refused", "Refused"),
                                    ("unreachable", "Unreachable"),
                                ],
                                default="",
                            ),
                        ),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("retry_at", models.DateTimeField(null=True)),
                        ("file", models.TextField(default="")),
                        ("file_size", models.BigIntegerField(default=0)),
                        ("preview", models.TextField(default="")),
                        ("preview_size", models.BigIntegerField(default=0)),
                        ("requested_at", models.DateTimeField(default=social.kernel.clock.now)),
                        ("served_at", models.DateTimeField(default=social.kernel.clock.now)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("digest__text_length__lte", 255),
                                    ("failure__text_length__lte", 64),
                                    ("file__text_length__lte", 1024),
                                    ("host__text_length__lte", 260),
                                    ("preview__text_length__lte", 1024),
                                    ("purpose__text_length__lte", 64),
                                    ("state__text_length__lte", 64),
                                    ("url__text_length__lte", 2048),
                                ),
                                name="accounts_remotecopy_lengths",
                            )
                        ],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state", "ready")),
                                fields=["served_at"],
                                name="accounts_remotecopy_served",
                            ),
                            models.Index(
                                condition=models.Q(("state", "ready"), _negated=True),
                                fields=["requested_at"],
                                name="accounts_remotecopy_unready",
                            ),
                        ],
                    },
                ),
            ]
        ),
        migrations.RunSQL(APPEND_ONLY, "DROP FUNCTION accounts_audit_is_kept CASCADE"),
        migrations.RunSQL(FOLLOWER_STATES, "DROP FUNCTION accounts_follower_state CASCADE"),
        migrations.RunSQL(RETIRE_USERNAMES, "DROP FUNCTION accounts_retire_username CASCADE"),
        migrations.RunPython(create_roles, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                models.F("created_at"), condition=models.Q(("activated_at", None)), name="accounts_user_not_activated"
            ),
        ),
    ]
