"""Knows just enough for the type checker to load the models: no servers, no secrets of an installation."""

import os

for _name in ("SECRET_KEY", "VAPID_PRIVATE_KEY", "VAPID_PUBLIC_KEY", "FIELD_ENCRYPTION_KEYS"):
    os.environ.setdefault(_name, "types")

from social.settings.base import *  # noqa: E402, F403
from social.settings.base import DATABASES  # noqa: E402

DATABASES["default"]["OPTIONS"].pop("pool", None)
