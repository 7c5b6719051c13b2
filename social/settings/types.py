"""Settings for the type checker, which only loads the models and needs no servers or secrets."""

import os

for _name, _value in {
    "SECRET_KEY": "t" * 32,
    "VAPID_PRIVATE_KEY": "A" * 43,
    "VAPID_PUBLIC_KEY": "BA" + "A" * 85,
    "FIELD_ENCRYPTION_KEYS": "A" * 43 + "=",
}.items():
    os.environ.setdefault(_name, _value)

from social.settings.base import *  # noqa: E402, F403  # settings upon settings
from social.settings.base import DATABASES  # noqa: E402  # after the environment

DATABASES["default"]["OPTIONS"].pop("pool", None)
