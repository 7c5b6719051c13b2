"""Settings for the tests without the federation app."""

from social.settings.test import *  # noqa: F403 (settings are the module's names, all of them)
from social.settings.test import INSTALLED_APPS

INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "federation"]
