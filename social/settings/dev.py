"""Settings of `make dev`: debug pages, Django's debug toolbar, a log line for each request, no rate limits."""

from social.settings.base import *  # noqa: F403  # settings upon settings
from social.settings.base import INSTALLED_APPS, MIDDLEWARE

DEBUG = True
ACCESS_LOG = True
RATE_LIMITS = False
INSTALLED_APPS = [*INSTALLED_APPS, "debug_toolbar"]
MIDDLEWARE = [*MIDDLEWARE]
MIDDLEWARE.insert(
    MIDDLEWARE.index("django.middleware.security.SecurityMiddleware"), "debug_toolbar.middleware.DebugToolbarMiddleware"
)
ROOT_URLCONF = "social.settings.dev_urls"
INTERNAL_IPS = ["127.0.0.1", "::1"]
