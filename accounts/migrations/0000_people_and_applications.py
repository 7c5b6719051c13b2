"""People, applications and tokens: what the tables of the packages refer to.

These tables are few, so that the many migrations of the packages that follow render a small state: preparing an empty
database took 18.7 s of the processor with everything in one migration, 13.7 s so.
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
                ("deleted_at", models.DateTimeField(null=True)),
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
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("key__text_length__lte", 255), ("value__text_length__lte", 1000000)),
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
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("uri__text_length__lte", 2048)), name="accounts_block_lengths"
                    )
                ]
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("direct_since", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("languages__text_length__lte", 2000), ("uri__text_length__lte", 2048)),
                        name="accounts_follow_lengths",
                    )
                ]
            },
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
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("languages__text_length__lte", 2000), ("uri__text_length__lte", 2048)),
                        name="accounts_followrequest_lengths",
                    )
                ]
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("claims__text_length__lte", 1000000),
                            ("redirect_uri__text_length__lte", 10000),
                            ("resource__text_length__lte", 1000000),
                            ("scope__text_length__lte", 2000),
                        ),
                        name="accounts_grant_lengths",
                    )
                ],
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("resource__text_length__lte", 1000000),
                            ("scope__text_length__lte", 2000),
                            ("token__text_length__lte", 2000),
                        ),
                        name="accounts_accesstoken_lengths",
                    )
                ],
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("resource__text_length__lte", 1000000), ("token__text_length__lte", 2000)),
                        name="accounts_refreshtoken_lengths",
                    )
                ],
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
    ]
