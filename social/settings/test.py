"""Settings of the test suite: quick hashes of passwords, no rate limits unless a test needs them."""

from social.settings.base import *  # noqa: F403  # settings upon settings
from social.settings.base import DATABASES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
RATE_LIMITS = False
RECENT_SECONDS = 0
SERIALIZER_QUERIES_FORBIDDEN = True
# Staff in tests have no second factor; only tests of this rule require one.
STAFF_SECOND_FACTOR = False
# The open connections of a pool would prevent the test database from being dropped.
DATABASES["default"]["OPTIONS"].pop("pool", None)
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
