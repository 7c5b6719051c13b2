"""Settings of Django. Values that differ between installations are those of `social.settings.env`, under the same names."""

import os
import re
from importlib.resources import files
from typing import Any

from django.utils.translation import gettext_lazy as _

from social import __version__
from social.settings import env
from social.settings.env import *  # noqa: F403  # settings upon settings
from social.settings.secrets import load_secrets
from social.settings.staff import UNFOLD as UNFOLD

# Secrets are read from `env` alone: `manage.py diffsettings` prints all settings.
del EMAIL_URL, SENTRY_DSN, METRICS_TOKEN  # noqa: F821  # from the star import

SECRETS = load_secrets(env.DATA_DIR)
SECRET_KEY = SECRETS.secret_key
SECRET_KEY_FALLBACKS = list(SECRETS.secret_key_fallbacks)
VAPID_PRIVATE_KEY = SECRETS.vapid_private_key
VAPID_PUBLIC_KEY = SECRETS.vapid_public_key
FIELD_ENCRYPTION_KEYS = SECRETS.field_encryption_keys

DEBUG = False
BASE_DIR = env.ROOT
VERSION = __version__
SOURCE_URL = "https://github.com/social/social"
WEB_THREADS = 8
# Uploads have separate threads, so that pictures that are slow to decode delay only other uploads.
UPLOAD_THREADS = 2
# Number of pictures that one process decodes at the same time: all web processes together decode one per core.
IMAGE_WORKERS = max(1, (os.cpu_count() or 1) // env.WEB_WORKERS)
# The maximum age of cached answers that are the same for everybody (the instance documents).
RECENT_SECONDS = 10

# The API answers requests to any host name, and links are always made from BASE_URL. Pages and metrics answer only requests
# to these names; the names of this machine are for probes.
_OWN_HOSTS = [re.sub(r":\d+$", "", domain) for domain in (env.LOCAL_DOMAIN, env.WEB_DOMAIN)]
ALLOWED_HOSTS = [*_OWN_HOSTS, ".localhost", "127.0.0.1", "[::1]"]
ROOT_URLCONF = "social.urls"
WSGI_APPLICATION = "social.wsgi.application"
ASGI_APPLICATION = "social.asgi.application"
APPEND_SLASH = False
# A proxy cannot add a prefix to paths, because links are made from BASE_URL.
FORCE_SCRIPT_NAME = ""
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SITE_ID = None

INSTALLED_APPS = [
    # The theme must be listed before the admin, as its documentation says; the admin site is `StaffSite`.
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "social",
    "accounts",
    "statuses",
    "timelines",
    "moderation",
    "notifications",
    "federation",
    "social.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "corsheaders",
    "oauth2_provider",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "allauth.usersessions",
    "channels",
]

MIDDLEWARE = [
    "social.runtime.metrics.MetricsMiddleware",
    "social.api.middleware.RequestMiddleware",
    "social.api.refused_networks.RefusedNetworksMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "social.api.middleware.LanguageMiddleware",
    # The middleware from here to `api_shortcut_end` is for pages; paths without sessions skip it.
    "social.api.middleware.api_shortcut",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "social.api.middleware.ReaderMiddleware",
    "accounts.identity.pages.visits.VisitsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "social.api.middleware.api_shortcut_end",
]
if env.CHECKED_ANSWERS:
    MIDDLEWARE.insert(1, "social.api.answer_checks.AnswerCheckMiddleware")

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "social" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pages.person.reader",
                "accounts.pages.member.member",
                "accounts.pages.server_picture.server_picture",
            ]
        },
    }
]

# --- data -------------------------------------------------------------------------------------------------------
# The URLs of PostgreSQL and Redis are read here, not earlier, because the runtime sets them for embedded servers.
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **env.database(os.environ.get("DATABASE_URL") or "postgres://social@/social"),
        "ENGINE": "social.kernel.postgresql",
        "CONN_MAX_AGE": 0,
        "TEST": {"NAME": "test_social"},
    }
}
DATABASES["default"]["OPTIONS"] = {
    # By default, connections wait for hours if the other machine or the network has failed without closing them.
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    **DATABASES["default"].get("OPTIONS", {}),
    "pool": {"max_size": WEB_THREADS + UPLOAD_THREADS, "timeout": 10},
    # Prepared statements are parsed and planned once per connection, not once per request. A transaction pooler must support
    # them (PgBouncer since 1.21); for other poolers, prepared statements can be switched off.
    "server_side_binding": env.PREPARED_STATEMENTS,
    "prepare_threshold": 3 if env.PREPARED_STATEMENTS else None,
}
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.REDIS_URLS["cache"] or "redis://127.0.0.1:6379/0",
        "KEY_PREFIX": "cache:django",
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.db"

# --- people -----------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
]
# The second hasher is for hashes from other software, which are replaced when their user signs in.
PASSWORD_HASHERS = ["social.kernel.crypto.PasswordHasher", "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
]
LOGIN_URL = "/auth/sign_in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/auth/sign_in"
ACCOUNT_ADAPTER = "accounts.identity.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    "login": "accounts.identity.pages.forms.SignInForm",
    "signup": "accounts.identity.pages.forms.SignUpForm",
    "reset_password": "accounts.identity.pages.forms.ForgottenPasswordForm",
    "reset_password_from_key": "accounts.identity.pages.forms.NewPasswordForm",
    "change_password": "accounts.identity.pages.forms.PasswordForm",
    "set_password": "accounts.identity.pages.forms.FirstPasswordForm",
    "reauthenticate": "accounts.identity.pages.forms.IsItYouForm",
}
# If addresses need no confirmation, they count as confirmed at sign-up.
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_MAX_LENGTH = 320
ACCOUNT_EMAIL_NOTIFICATIONS = True
# If mails were sent to addresses without an account, anybody could make this server send mails to strangers.
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_CONFIRM_EMAIL_ON_GET = True
# Confirming an address signs in only the browser in which the user has just signed up.
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_SESSION_REMEMBER = True
# The server's own counters (social.api.limits), which obey RATE_LIMITS, replace these limits. allauth's limit for wrong codes
# of a second factor (security row 26) still applies, and cannot be switched off.
ACCOUNT_RATE_LIMITS: dict[str, str | None] = {
    "login": None,
    "login_failed": "10/10m/key",
    "signup": None,
    "reset_password": None,
    "reset_password_from_key": None,
    "reauthenticate": None,
    "confirm_email": None,
}
ISSUERS, ISSUERS_ONLY, ISSUERS_LOOPBACK = env.SIGN_IN_ISSUERS, env.SIGN_IN_ISSUERS_ONLY, env.SIGN_IN_ISSUERS_LOOPBACK
CAPTCHA, CAPTCHA_LOOPBACK = env.CAPTCHA_SERVICE, env.CAPTCHA_SERVICE_LOOPBACK
SOCIALACCOUNT_ADAPTER = "accounts.issuers.adapter.IssuerAdapter"
MFA_ADAPTER = "accounts.identity.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "accounts.identity.pages.factor_forms.SecondFactorForm",
    "reauthenticate": "accounts.identity.pages.factor_forms.SecondFactorAgainForm",
    "activate_totp": "accounts.identity.pages.factor_forms.AuthenticatorAppForm",
    "add_webauthn": "accounts.identity.pages.factor_forms.NewPasskeyForm",
    "edit_webauthn": "accounts.identity.pages.factor_forms.PasskeyNameForm",
    "authenticate_webauthn": "accounts.identity.pages.factor_forms.PasskeyForm",
    "login_webauthn": "accounts.identity.pages.factor_forms.PasskeyAloneForm",
    "reauthenticate_webauthn": "accounts.identity.pages.factor_forms.PasskeyAgainForm",
}
# This server has its own recovery codes, since allauth's can be decrypted by anyone who has the database and its keys.
MFA_SUPPORTED_TYPES = ["totp", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
# The server's own counters (social.api.limits) replace this limit.
MFA_RATE_LIMITS: dict[str, str | None] = {"webauthn_login": None}
MFA_TOTP_ISSUER = env.LOCAL_DOMAIN
MFA_TOTP_TOLERANCE = 1
# allauth would write to the database on every request; accounts.identity.pages.visits writes once a day.
USERSESSIONS_TRACK_ACTIVITY = False
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.SCHEME == "https"
# Some names contain the port, because browsers keep cookies per host, not per port, and two trial servers on one machine must
# not sign each other out.
SESSION_COOKIE_NAME = "__Host-session" if SESSION_COOKIE_SECURE else f"session_{env.PORT}"
CSRF_COOKIE_NAME = "__Host-csrf" if CSRF_COOKIE_SECURE else f"csrf_{env.PORT}"
READER_COOKIE_NAME = "__Host-reader" if SESSION_COOKIE_SECURE else f"reader_{env.PORT}"
KNOWN_BROWSER_COOKIE_NAME = "__Secure-known" if SESSION_COOKIE_SECURE else f"known_{env.PORT}"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
# Subdomains are not included, because the owner's other hosts below the domain are unknown here.
STRICT_TRANSPORT_SECURITY = "max-age=63072000" if env.SCHEME == "https" else ""
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS = [env.BASE_URL]
CSRF_FAILURE_VIEW = "social.pages.errors.csrf_failure"

OAUTH2_PROVIDER_APPLICATION_MODEL = "accounts.Application"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "accounts.AccessToken"  # noqa: S105  # the name of a model
OAUTH2_PROVIDER_GRANT_MODEL = "accounts.Grant"
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "accounts.RefreshToken"  # noqa: S105  # the name of a model
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "accounts.IDToken"  # noqa: S105  # the name of a model
OAUTH2_PROVIDER = {
    "OAUTH2_SERVER_CLASS": "accounts.identity.services.authorization_server.Server",
    "OAUTH2_VALIDATOR_CLASS": "accounts.identity.services.authorization_server.Validator",
    "OAUTH2_BACKEND_CLASS": "accounts.identity.services.authorization_server.Core",
    "DEFAULT_SCOPES": ["read"],
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 600,
    "PKCE_REQUIRED": False,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
}
# E-mail addresses are unique regardless of case, because of an index that the check does not recognise.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]

# --- API --------------------------------------------------------------------------------------------------
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["social.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["social.api.responses.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "social.api.parsers.JsonParser",
        "social.api.parsers.UrlencodedParser",
        "social.api.parsers.MultipartParser",
    ],
    "DEFAULT_THROTTLE_CLASSES": [],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "social.api.responses.JsonOnly",
    "EXCEPTION_HANDLER": "social.api.exceptions.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
# True in tests: serializers must not query the database; their data is loaded beforehand in a fixed number of queries.
SERIALIZER_QUERIES_FORBIDDEN = False
CORS_URLS_REGEX = (
    r"/(?:api/|oauth/(?:token|revoke|userinfo)/?$|\.well-known/|nodeinfo/|@|users/|actor(?:/|$)|inbox/?$"
    r"|contexts/|emojis/|media_proxy/|media/|system/)"
)
# Scripts from other sites may read these answers, without cookies (contract, behaviours section 1; clients.md, trap 8).
CORS_ALLOW_ALL_ORIGINS = True
CORS_PREFLIGHT_MAX_AGE = 86400
CORS_ALLOW_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
# The wildcard does not include Authorization (Fetch standard, section 3.3.2), and old browsers do not support it.
CORS_ALLOW_HEADERS = ["Authorization", "Content-Type", "Idempotency-Key", "Accept-Language", "X-Requested-With", "*"]
CORS_EXPOSE_HEADERS = [
    "Link",
    "Mastodon-Async-Refresh",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
]
# Parsers limit bodies per endpoint. This setting limits the texts in a form: the largest is a picture in escaped base64.
DATA_UPLOAD_MAX_MEMORY_SIZE = 33 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

# --- words ------------------------------------------------------------------------------------------------------
# Staff may choose another language for people who have not chosen one (`social.kernel.identity.default_language`).
LANGUAGE_CODE = env.DEFAULT_LANGUAGE
LANGUAGES = [("en", _("English")), ("de", _("German")), ("ar", _("Arabic"))]
LOCALE_PATHS = [BASE_DIR / "social" / "locale"]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# --- mail, files ------------------------------------------------------------------------------------------------
DEFAULT_FROM_EMAIL = env.MAIL_FROM
if env.EMAIL_URL:
    globals().update(env.mail_settings(env.EMAIL_URL))
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = str(env.DATA_DIR / "mail")
EMAIL_TIMEOUT = 10
STATIC_URL = "/static/"
STATIC_ROOT = env.DATA_DIR / "static"
# Only the package's Swagger UI is served, for `/api/docs`; its other files are not needed.
_API_DOCS = files("drf_spectacular_sidecar") / "static" / "drf_spectacular_sidecar" / "swagger-ui-dist"
STATICFILES_DIRS = [BASE_DIR / "social" / "static", ("swagger-ui", str(_API_DOCS))]
MEDIA_ROOT = env.DATA_DIR / "media"
# Maximum total size, in bytes, of cached copies of remote files.
REMOTE_MEDIA_BUDGET = env.REMOTE_MEDIA_MEGABYTES * 1_000_000
# Folder of files without public URLs, which a page serves to their owner only.
PRIVATE_ROOT = env.DATA_DIR / "private"
STORAGES = {
    "default": env.MEDIA_STORAGE or {"BACKEND": "social.kernel.media.storage.DurableStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True

LOGGING_CONFIG = "social.kernel.logs.configure"
LOGGING = {"format": env.LOG_FORMAT, "level": env.LOG_LEVEL}
