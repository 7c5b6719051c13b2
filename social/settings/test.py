"""Settings of the test suite: quicker passwords, no rate limits unless a test asks for them."""

from social.settings.base import *  # noqa: F403  # settings upon settings
from social.settings.base import DATABASES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
RATE_LIMITS = False
RECENT_SECONDS = 0
SERIALIZER_QUERIES_FORBIDDEN = True
# Staff of tests have no second factor; a test of the rule asks for it.
STAFF_SECOND_FACTOR = False
# A pool keeps connections open that would stop the test database from being dropped.
DATABASES["default"]["OPTIONS"].pop("pool", None)
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
