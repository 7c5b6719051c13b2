import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
import oauth2_provider.generators
import oauth2_provider.models
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import social.kernel.clock
import social.kernel.ids

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


def create_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Insert the roles with fixed ids and let the sequence go on after them."""
    role = apps.get_model("accounts", "Role")
    for number, name, position, permissions, highlighted in ROLES:
        role.objects.create(id=number, name=name, position=position, permissions=permissions, highlighted=highlighted)
    schema_editor.execute("SELECT setval(pg_get_serial_sequence('accounts_role', 'id'), 100)", params=None)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("username", models.TextField()),
                ("domain", models.TextField(null=True)),
                ("uri", models.TextField(unique=True)),
                ("url", models.TextField(default="")),
                (
                    "actor_type",
                    models.TextField(
                        choices=[
                            ("Person", "Person"),
                            ("Service", "Service"),
                            ("Group", "Group"),
                            ("Application", "Application"),
                            ("Organization", "Organization"),
                        ],
                        default="Person",
                    ),
                ),
                ("display_name", models.TextField(default="")),
                ("note", models.TextField(default="")),
                ("note_html", models.TextField(default="")),
                ("fields", models.JSONField(default=list)),
                ("locked", models.BooleanField(default=False)),
                ("discoverable", models.BooleanField(null=True)),
                ("indexable", models.BooleanField(default=False)),
                ("hide_collections", models.BooleanField(null=True)),
                ("show_media", models.BooleanField(default=True)),
                ("show_media_replies", models.BooleanField(default=True)),
                ("show_featured", models.BooleanField(default=True)),
                ("memorial", models.BooleanField(default=False)),
                ("avatar", models.TextField(default="")),
                ("avatar_remote_url", models.TextField(default="")),
                ("avatar_description", models.TextField(default="")),
                ("header", models.TextField(default="")),
                ("header_remote_url", models.TextField(default="")),
                ("header_description", models.TextField(default="")),
                (
                    "also_known_as",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "attribution_domains",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("inbox_url", models.TextField(default="")),
                ("shared_inbox_url", models.TextField(default="")),
                ("outbox_url", models.TextField(default="")),
                ("followers_url", models.TextField(default="")),
                ("following_url", models.TextField(default="")),
                ("featured_url", models.TextField(default="")),
                ("suspended_at", models.DateTimeField(null=True)),
                ("suspension_origin", models.TextField(choices=[("local", "Local"), ("remote", "Remote")], null=True)),
                ("limited_at", models.DateTimeField(null=True)),
                ("sensitized_at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "moved_to",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="accounts.account"
                    ),
                ),
            ],
            options={
                "verbose_name": "account",
                "verbose_name_plural": "accounts",
            },
        ),
        migrations.CreateModel(
            name="SiteSetting",
            fields=[
                ("key", models.TextField(primary_key=True, serialize=False)),
                ("value", models.JSONField()),
                ("updated_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
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
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("email", models.EmailField(max_length=320)),
                ("locale", models.TextField(null=True)),
                ("time_zone", models.TextField(null=True)),
                ("approved", models.BooleanField(default=True)),
                ("disabled_at", models.DateTimeField(null=True)),
                ("sign_up_reason", models.TextField(default="")),
                ("sign_up_ip", models.GenericIPAddressField(null=True)),
                ("default_privacy", models.TextField(null=True)),
                ("default_sensitive", models.BooleanField(default=False)),
                ("default_language", models.TextField(null=True)),
                ("default_quote_policy", models.TextField(default="public")),
                ("preferences", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                ("active_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="user", to="accounts.account"
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
            },
        ),
        migrations.CreateModel(
            name="Application",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "client_id",
                    models.CharField(
                        db_index=True,
                        default=oauth2_provider.generators.generate_client_id,
                        max_length=255,
                        unique=True,
                        verbose_name="client ID",
                    ),
                ),
                (
                    "redirect_uris",
                    models.TextField(
                        blank=True, help_text="Allowed URIs list, space separated", verbose_name="redirect URIs"
                    ),
                ),
                (
                    "post_logout_redirect_uris",
                    models.TextField(
                        blank=True,
                        default="",
                        help_text="Allowed Post Logout URIs list, space separated",
                        verbose_name="post logout redirect URIs",
                    ),
                ),
                (
                    "client_type",
                    models.CharField(
                        choices=[("confidential", "Confidential"), ("public", "Public")],
                        max_length=32,
                        verbose_name="client type",
                    ),
                ),
                (
                    "authorization_grant_type",
                    models.CharField(
                        choices=[
                            ("authorization-code", "Authorization code"),
                            ("urn:ietf:params:oauth:grant-type:device_code", "Device Code"),
                            ("implicit", "Implicit"),
                            ("password", "Resource owner password-based"),
                            ("client-credentials", "Client credentials"),
                            ("openid-hybrid", "OpenID connect hybrid"),
                        ],
                        max_length=44,
                        verbose_name="authorization grant type",
                    ),
                ),
                (
                    "client_secret",
                    oauth2_provider.models.ClientSecretField(
                        blank=True,
                        db_index=True,
                        default=oauth2_provider.generators.generate_client_secret,
                        help_text="Client secret for authentication",
                        max_length=255,
                        verbose_name="client secret",
                    ),
                ),
                ("hash_client_secret", models.BooleanField(default=True, verbose_name="hash client secret")),
                ("name", models.CharField(blank=True, max_length=255, verbose_name="name")),
                ("skip_authorization", models.BooleanField(default=False, verbose_name="skip authorization")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                (
                    "algorithm",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "No OIDC support"),
                            ("RS256", "RSA with SHA-2 256"),
                            ("HS256", "HMAC with SHA-2 256"),
                        ],
                        default="",
                        max_length=5,
                        verbose_name="algorithm",
                    ),
                ),
                (
                    "allowed_origins",
                    models.TextField(
                        blank=True,
                        default="",
                        help_text="Allowed origins list to enable CORS, space separated",
                        verbose_name="allowed origins",
                    ),
                ),
                (
                    "registration_source",
                    models.CharField(
                        choices=[
                            ("manual", "Manual"),
                            ("dcr", "Dynamic Client Registration"),
                            ("cimd", "Client ID Metadata Document"),
                        ],
                        default="manual",
                        help_text="How this application was registered (manual, DCR per RFC 7591, or CIMD)",
                        max_length=32,
                        verbose_name="registration source",
                    ),
                ),
                (
                    "cimd_expires_at",
                    models.DateTimeField(
                        blank=True,
                        default=None,
                        help_text="When the cached Client ID Metadata Document should be re-fetched",
                        null=True,
                        verbose_name="CIMD expires at",
                    ),
                ),
                ("website", models.TextField(null=True)),
                ("scopes", models.TextField(default="read")),
                ("registered_redirect_uris", models.JSONField(default=list)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="user",
            name="created_by_application",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="AccountDomainBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.TextField(unique=True)),
                ("first_seen_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", django.db.models.functions.text.Lower("name"))),
                        name="accounts_domain_lower_case",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Follow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uri", models.TextField(null=True, unique=True)),
                ("show_reblogs", models.BooleanField(default=True)),
                ("notify", models.BooleanField(default=False)),
                (
                    "languages",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None),
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
            ],
        ),
        migrations.CreateModel(
            name="FollowRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uri", models.TextField(null=True, unique=True)),
                ("show_reblogs", models.BooleanField(default=True)),
                ("notify", models.BooleanField(default=False)),
                (
                    "languages",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None),
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
        ),
        migrations.CreateModel(
            name="RevokedToken",
            fields=[
                ("token_checksum", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("revoked_at", models.DateTimeField(db_index=True, default=social.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=255, unique=True, verbose_name="code")),
                ("expires", models.DateTimeField(verbose_name="expires")),
                ("redirect_uri", models.TextField(verbose_name="redirect URI")),
                ("scope", models.TextField(blank=True, verbose_name="scope")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                (
                    "code_challenge",
                    models.CharField(blank=True, default="", max_length=128, verbose_name="code challenge"),
                ),
                (
                    "code_challenge_method",
                    models.CharField(
                        blank=True,
                        choices=[("plain", "plain"), ("S256", "S256")],
                        default="",
                        max_length=10,
                        verbose_name="code challenge method",
                    ),
                ),
                ("nonce", models.CharField(blank=True, default="", max_length=255, verbose_name="nonce")),
                ("claims", models.TextField(blank=True, verbose_name="claims")),
                (
                    "resource",
                    oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name="resource"),
                ),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                        verbose_name="application",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="IDToken",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("jti", models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name="JWT Token ID")),
                ("expires", models.DateTimeField(verbose_name="expires")),
                ("scope", models.TextField(blank=True, verbose_name="scope")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                (
                    "application",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                        verbose_name="application",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AccessToken",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("token", models.TextField(verbose_name="token")),
                (
                    "token_checksum",
                    oauth2_provider.models.TokenChecksumField(
                        db_index=True, max_length=64, unique=True, verbose_name="token checksum"
                    ),
                ),
                ("expires", models.DateTimeField(verbose_name="expires")),
                ("scope", models.TextField(blank=True, verbose_name="scope")),
                (
                    "resource",
                    oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name="resource"),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
                (
                    "application",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                        verbose_name="application",
                    ),
                ),
                (
                    "id_token",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="access_token",
                        to=settings.OAUTH2_PROVIDER_ID_TOKEN_MODEL,
                        verbose_name="ID token",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="grant",
            name="access_token",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="Mute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
        ),
        migrations.CreateModel(
            name="RefreshToken",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("token", models.TextField(verbose_name="token")),
                (
                    "token_checksum",
                    oauth2_provider.models.TokenChecksumField(max_length=64, verbose_name="token checksum"),
                ),
                ("token_family", models.UUIDField(blank=True, editable=False, null=True, verbose_name="token family")),
                (
                    "resource",
                    oauth2_provider.models.ResourceJSONField(blank=True, default=list, verbose_name="resource"),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                ("revoked", models.DateTimeField(null=True, verbose_name="revoked")),
                (
                    "access_token",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="refresh_token",
                        to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL,
                        verbose_name="access token",
                    ),
                ),
                (
                    "application",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                        verbose_name="application",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="accesstoken",
            name="source_refresh_token",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="refreshed_access_token",
                to=settings.OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL,
                verbose_name="source refresh token",
            ),
        ),
        migrations.CreateModel(
            name="Role",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.TextField(default="")),
                ("color", models.TextField(default="")),
                ("permissions", models.BigIntegerField(default=0)),
                ("position", models.IntegerField(default=0)),
                ("highlighted", models.BooleanField(default=False)),
                ("collection_limit", models.IntegerField(default=10)),
            ],
            options={
                "verbose_name": "role",
                "verbose_name_plural": "roles",
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"),
                        condition=models.Q(("name", ""), _negated=True),
                        name="accounts_role_name",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="user",
            name="role",
            field=models.ForeignKey(
                default=-99, on_delete=django.db.models.deletion.PROTECT, related_name="users", to="accounts.role"
            ),
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                ("name", models.TextField(unique=True)),
                ("display_name", models.TextField()),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name__length__lte", 500)), name="accounts_tag_name_length"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="account",
            index=models.Index(
                django.db.models.functions.text.Lower("domain"),
                models.OrderBy(models.F("id"), descending=True),
                name="accounts_account_domain",
            ),
        ),
        migrations.AddIndex(
            model_name="account",
            index=models.Index(
                models.F("suspended_at"),
                condition=models.Q(("suspended_at__isnull", False)),
                name="accounts_account_suspended",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("username"),
                django.db.models.functions.text.Lower(
                    django.db.models.functions.comparison.Coalesce("domain", models.Value(""))
                ),
                name="accounts_account_address",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("domain__isnull", False), ("username__regex", "^[A-Za-z0-9_.-]{1,255}$"), _connector="OR"
                ),
                name="accounts_account_local_username",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("username__length__lte", 2048)), name="accounts_account_username_length"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("display_name__length__lte", 2048)), name="accounts_account_display_name_length"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("note__length__lte", 20000)), name="accounts_account_note_length"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("avatar_description__length__lte", 2048), ("header_description__length__lte", 2048)
                ),
                name="accounts_account_image_descriptions",
            ),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(fields=["target"], name="accounts_block_target"),
        ),
        migrations.AddConstraint(
            model_name="block",
            constraint=models.UniqueConstraint(fields=("account", "target"), name="accounts_block_pair"),
        ),
        migrations.AddConstraint(
            model_name="block",
            constraint=models.CheckConstraint(
                condition=models.Q(("account", models.F("target")), _negated=True), name="accounts_block_not_self"
            ),
        ),
        migrations.AddIndex(
            model_name="follow",
            index=models.Index(fields=["target", "-id"], name="accounts_follow_followers"),
        ),
        migrations.AddIndex(
            model_name="follow",
            index=models.Index(fields=["account", "-id"], name="accounts_follow_following"),
        ),
        migrations.AddIndex(
            model_name="follow",
            index=models.Index(
                condition=models.Q(("notify", True)), fields=["target", "id"], name="accounts_follow_notified"
            ),
        ),
        migrations.AddConstraint(
            model_name="follow",
            constraint=models.UniqueConstraint(fields=("account", "target"), name="accounts_follow_pair"),
        ),
        migrations.AddConstraint(
            model_name="follow",
            constraint=models.CheckConstraint(
                condition=models.Q(("account", models.F("target")), _negated=True), name="accounts_follow_not_self"
            ),
        ),
        migrations.AddIndex(
            model_name="followrequest",
            index=models.Index(fields=["target", "-id"], name="accounts_followrequest_target"),
        ),
        migrations.AddConstraint(
            model_name="followrequest",
            constraint=models.UniqueConstraint(fields=("account", "target"), name="accounts_followrequest_pair"),
        ),
        migrations.AddConstraint(
            model_name="followrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("account", models.F("target")), _negated=True),
                name="accounts_followrequest_not_self",
            ),
        ),
        migrations.AddIndex(
            model_name="mute",
            index=models.Index(fields=["target"], name="accounts_mute_target"),
        ),
        migrations.AddIndex(
            model_name="mute",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="accounts_mute_expiry"
            ),
        ),
        migrations.AddConstraint(
            model_name="mute",
            constraint=models.UniqueConstraint(fields=("account", "target"), name="accounts_mute_pair"),
        ),
        migrations.AddConstraint(
            model_name="mute",
            constraint=models.CheckConstraint(
                condition=models.Q(("account", models.F("target")), _negated=True), name="accounts_mute_not_self"
            ),
        ),
        migrations.AddIndex(
            model_name="refreshtoken",
            index=models.Index(fields=["token_family"], name="accounts_re_token_f_fefc6c_idx"),
        ),
        migrations.AlterUniqueTogether(
            name="refreshtoken",
            unique_together={("token_checksum", "revoked")},
        ),
        migrations.AddIndex(
            model_name="accesstoken",
            index=models.Index(fields=["user", "application"], name="accounts_token_user_app"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                models.OrderBy(models.F("active_at"), descending=True, nulls_last=True), name="accounts_user_active"
            ),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"), name="accounts_user_email"
            ),
        ),
        migrations.CreateModel(
            name="Device",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
        ),
        migrations.CreateModel(
            name="OneTimeKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
        ),
        migrations.AddConstraint(
            model_name="device",
            constraint=models.UniqueConstraint(fields=("account", "device_id"), name="accounts_device_id"),
        ),
        migrations.AddConstraint(
            model_name="device",
            constraint=models.CheckConstraint(
                condition=models.Q(("device_id__length__lte", 255), ("name__length__lte", 255)),
                name="accounts_device_length",
            ),
        ),
        migrations.AddIndex(
            model_name="encryptedmessage",
            index=models.Index(fields=["device", "-id"], name="accounts_message_device"),
        ),
        migrations.AddConstraint(
            model_name="encryptedmessage",
            constraint=models.CheckConstraint(
                condition=models.Q(("body__length__lte", 65536), ("digest__length__lte", 1024)),
                name="accounts_encryptedmessage_length",
            ),
        ),
        migrations.AddConstraint(
            model_name="onetimekey",
            constraint=models.UniqueConstraint(fields=("device", "key_id"), name="accounts_onetimekey_id"),
        ),
        migrations.AddConstraint(
            model_name="onetimekey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("key__length__lte", 1024), ("key_id__length__lte", 255), ("signature__length__lte", 1024)
                ),
                name="accounts_onetimekey_length",
            ),
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
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="accounts.tag"
                    ),
                ),
            ],
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
        ),
        migrations.AddIndex(
            model_name="collection",
            index=models.Index(fields=["account", "-id"], name="accounts_collection_account"),
        ),
        migrations.AddConstraint(
            model_name="collection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("name__length__lte", 40),
                    models.Q(("description", None), ("description__length__lte", 2000), _connector="OR"),
                ),
                name="accounts_collection_length",
            ),
        ),
        migrations.AddIndex(
            model_name="collectionitem",
            index=models.Index(fields=["account", "state", "-collection"], name="accounts_collectionitem_member"),
        ),
        migrations.AddConstraint(
            model_name="collectionitem",
            constraint=models.UniqueConstraint(fields=("collection", "account"), name="accounts_collectionitem_pair"),
        ),
        migrations.CreateModel(
            name="AccountNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.tag"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("account", "tag"), name="accounts_featuredtag_pair")],
            },
        ),
        migrations.CreateModel(
            name="TagUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.tag"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["day"], name="accounts_taguse_day")],
                "constraints": [models.UniqueConstraint(fields=("tag", "day", "account"), name="accounts_taguse_key")],
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
                "indexes": [
                    models.Index(fields=["account_id", "-id"], name="accounts_audit_account"),
                    models.Index(fields=["target_type", "target_id", "-id"], name="accounts_audit_target"),
                ],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, "DROP FUNCTION accounts_audit_is_kept CASCADE"),
        migrations.CreateModel(
            name="Severance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
        ),
        migrations.CreateModel(
            name="SeveredAccount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("followers_count", models.IntegerField(default=0)),
                ("following_count", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="severances", to="accounts.account"
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("show_reblogs", models.BooleanField()),
                ("notify", models.BooleanField()),
                (
                    "languages",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None),
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
                    models.UniqueConstraint(fields=("severance", "account", "target"), name="accounts_severed_follow"),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                "constraints": [models.UniqueConstraint(fields=("account", "target"), name="accounts_dismissed_pair")],
            },
        ),
        migrations.AddField(
            model_name="account",
            name="avatar_static",
            field=models.TextField(default=""),
        ),
        migrations.AddField(
            model_name="account",
            name="header_static",
            field=models.TextField(default=""),
        ),
        migrations.CreateModel(
            name="CanonicalEmailBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.TextField(unique=True)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="RetiredUsername",
            fields=[
                ("username", models.TextField(primary_key=True, serialize=False)),
                ("retired_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="UsernameBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("username", models.TextField()),
                ("normalised", models.TextField(unique=True)),
                ("exact", models.BooleanField(default=True)),
                ("allow_with_approval", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
        ),
        migrations.AddField(
            model_name="user",
            name="activated_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="age_verified_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name="EmailDomainBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.TextField(unique=True)),
                ("allow_with_approval", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("domain", django.db.models.functions.text.Lower("domain"))),
                        name="accounts_email_domain_block_lower_case",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.TextField(unique=True)),
                ("uses", models.IntegerField(default=0)),
                ("max_uses", models.IntegerField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("autofollow", models.BooleanField(default=False)),
                ("comment", models.TextField(default="")),
                ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                (
                    "inviter",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invites",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="user",
            name="invite",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="users", to="accounts.invite"
            ),
        ),
        migrations.CreateModel(
            name="IpBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_uses", None), ("uses__lte", models.F("max_uses")), _connector="OR"),
                name="accounts_invite_uses",
            ),
        ),
        migrations.RunSQL(RETIRE_USERNAMES, "DROP FUNCTION accounts_retire_username CASCADE"),
        migrations.RunPython(create_roles, migrations.RunPython.noop),
    ]
