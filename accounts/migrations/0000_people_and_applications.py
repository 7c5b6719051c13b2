"""People, applications and tokens: what the tables of the packages refer to.

These tables are few, so that the many migrations of the packages that follow render a small state, and `CreateModels` makes
the classes of a group once: preparing an empty database took 12.4 s of the processor with an operation for each model,
index and constraint, and takes 4.1 s so.
"""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
import oauth2_provider.generators
import oauth2_provider.models
from django.conf import settings
from django.db import migrations, models

import social.kernel.clock
import social.kernel.ids
from social.kernel.migration_operations import CreateModels


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("social", "0001_initial"),
    ]

    operations = [
        CreateModels(
            [
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
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), default=list, size=None
                            ),
                        ),
                        (
                            "attribution_domains",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), default=list, size=None
                            ),
                        ),
                        ("inbox_url", models.TextField(default="")),
                        ("shared_inbox_url", models.TextField(default="")),
                        ("outbox_url", models.TextField(default="")),
                        ("followers_url", models.TextField(default="")),
                        ("following_url", models.TextField(default="")),
                        ("featured_url", models.TextField(default="")),
                        ("suspended_at", models.DateTimeField(null=True)),
                        (
                            "suspension_origin",
                            models.TextField(choices=[("local", "Local"), ("remote", "Remote")], null=True),
                        ),
                        ("limited_at", models.DateTimeField(null=True)),
                        ("sensitized_at", models.DateTimeField(null=True)),
                        ("deleted_at", models.DateTimeField(null=True)),
                        ("fetched_at", models.DateTimeField(null=True)),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("created_at", models.DateTimeField(default=social.kernel.clock.now)),
                        (
                            "moved_to",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="accounts.account",
                            ),
                        ),
                        ("avatar_static", models.TextField(default="")),
                        ("header_static", models.TextField(default="")),
                        ("erased_at", models.DateTimeField(null=True)),
                        ("held_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "verbose_name": "account",
                        "verbose_name_plural": "accounts",
                        "indexes": [
                            models.Index(
                                django.db.models.functions.text.Lower("domain"),
                                models.OrderBy(models.F("id"), descending=True),
                                name="accounts_account_domain",
                            ),
                            models.Index(
                                models.F("suspended_at"),
                                condition=models.Q(("suspended_at__isnull", False)),
                                name="accounts_account_suspended",
                            ),
                            models.Index(
                                django.db.models.functions.comparison.Collate(
                                    django.db.models.functions.text.Lower("username"), "C"
                                ),
                                name="accounts_account_prefix",
                            ),
                            django.contrib.postgres.indexes.GinIndex(
                                django.contrib.postgres.search.SearchVector("display_name", config="simple"),
                                name="accounts_account_words",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                django.db.models.functions.text.Lower("username"),
                                django.db.models.functions.text.Lower(
                                    django.db.models.functions.comparison.Coalesce("domain", models.Value(""))
                                ),
                                name="accounts_account_address",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("domain__isnull", False),
                                    ("username__regex", "^[A-Za-z0-9_.-]{1,255}$"),
                                    _connector="OR",
                                ),
                                name="accounts_account_local_username",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("username__length__lte", 2048)),
                                name="accounts_account_username_length",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("display_name__length__lte", 2048)),
                                name="accounts_account_display_name_length",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("note__length__lte", 20000)), name="accounts_account_note_length"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("avatar_description__length__lte", 2048), ("header_description__length__lte", 2048)
                                ),
                                name="accounts_account_image_descriptions",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("actor_type__text_length__lte", 64),
                                    ("also_known_as__text_length__lte", 1000000),
                                    ("attribution_domains__text_length__lte", 1000000),
                                    ("avatar__text_length__lte", 1024),
                                    ("avatar_remote_url__text_length__lte", 2048),
                                    ("avatar_static__text_length__lte", 1024),
                                    ("domain__text_length__lte", 260),
                                    ("featured_url__text_length__lte", 2048),
                                    ("fields__text_length__lte", 1000000),
                                    ("followers_url__text_length__lte", 2048),
                                    ("following_url__text_length__lte", 2048),
                                    ("header__text_length__lte", 1024),
                                    ("header_remote_url__text_length__lte", 2048),
                                    ("header_static__text_length__lte", 1024),
                                    ("inbox_url__text_length__lte", 2048),
                                    ("note_html__text_length__lte", 200000),
                                    ("outbox_url__text_length__lte", 2048),
                                    ("shared_inbox_url__text_length__lte", 2048),
                                    ("suspension_origin__text_length__lte", 64),
                                    ("uri__text_length__lte", 2048),
                                    ("url__text_length__lte", 2048),
                                ),
                                name="accounts_account_lengths",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="User",
                    fields=[
                        ("password", models.CharField(max_length=128, verbose_name="password")),
                        ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                        ("id", social.kernel.ids.SnowflakeField(primary_key=True, serialize=False)),
                        ("email", models.EmailField(max_length=320)),
                        ("new_email", models.EmailField(max_length=320, null=True)),
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
                        "indexes": [
                            models.Index(
                                models.OrderBy(models.F("active_at"), descending=True, nulls_last=True),
                                name="accounts_user_active",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                django.db.models.functions.text.Lower("email"), name="accounts_user_email"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("default_language__text_length__lte", 64),
                                    ("default_privacy__text_length__lte", 64),
                                    ("default_quote_policy__text_length__lte", 64),
                                    ("locale__text_length__lte", 64),
                                    ("preferences__text_length__lte", 1000000),
                                    ("sign_up_reason__text_length__lte", 2000),
                                    ("time_zone__text_length__lte", 255),
                                ),
                                name="accounts_user_lengths",
                            ),
                        ],
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
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("allowed_origins__text_length__lte", 10000),
                                    ("post_logout_redirect_uris__text_length__lte", 10000),
                                    ("redirect_uris__text_length__lte", 10000),
                                    ("scopes__text_length__lte", 2000),
                                    ("website__text_length__lte", 2048),
                                ),
                                name="accounts_application_lengths",
                            )
                        ],
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="IDToken",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        (
                            "jti",
                            models.UUIDField(
                                default=uuid.uuid4, editable=False, unique=True, verbose_name="JWT Token ID"
                            ),
                        ),
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
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("scope__text_length__lte", 2000)), name="accounts_idtoken_lengths"
                            )
                        ],
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
                        ("last_used_at", models.DateTimeField(default=social.kernel.clock.now, null=True)),
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
                        "indexes": [
                            models.Index(fields=["user", "application"], name="accounts_token_user_app"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("resource__text_length__lte", 1000000),
                                    ("scope__text_length__lte", 2000),
                                    ("token__text_length__lte", 2000),
                                ),
                                name="accounts_accesstoken_lengths",
                            ),
                        ],
                    },
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
                        (
                            "access_token",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to=settings.OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "abstract": False,
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("claims__text_length__lte", 1000000),
                                    ("redirect_uri__text_length__lte", 10000),
                                    ("resource__text_length__lte", 1000000),
                                    ("scope__text_length__lte", 2000),
                                ),
                                name="accounts_grant_lengths",
                            ),
                        ],
                    },
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
                        (
                            "token_family",
                            models.UUIDField(blank=True, editable=False, null=True, verbose_name="token family"),
                        ),
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
                        "unique_together": {("token_checksum", "revoked")},
                        "indexes": [
                            models.Index(fields=["token_family"], name="accounts_re_token_f_fefc6c_idx"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("resource__text_length__lte", 1000000), ("token__text_length__lte", 2000)
                                ),
                                name="accounts_refreshtoken_lengths",
                            ),
                        ],
                    },
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
                            models.CheckConstraint(
                                condition=models.Q(("color__text_length__lte", 64), ("name__text_length__lte", 255)),
                                name="accounts_role_lengths",
                            ),
                            models.UniqueConstraint(
                                django.db.models.functions.text.Lower("name"),
                                condition=models.Q(("name", ""), _negated=True),
                                name="accounts_role_name",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Invite",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("code__text_length__lte", 255), ("comment__text_length__lte", 2000)
                                ),
                                name="accounts_invite_lengths",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("max_uses", None), ("uses__lte", models.F("max_uses")), _connector="OR"
                                ),
                                name="accounts_invite_uses",
                            ),
                        ],
                    },
                ),
            ]
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
        migrations.AddField(
            model_name="user",
            name="role",
            field=models.ForeignKey(
                default=-99, on_delete=django.db.models.deletion.PROTECT, related_name="users", to="accounts.role"
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="activated_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="waiting_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="age_verified_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="invite",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="users", to="accounts.invite"
            ),
        ),
    ]
