"""Settings for a server as an operator runs it, but without the federation app."""

from social.settings.base import *  # noqa: F403 (settings are the module's names, all of them)
from social.settings.base import INSTALLED_APPS

INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "federation"]
