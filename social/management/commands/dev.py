"""`manage.py dev`: starts everything that `run` starts, with debug pages, and restarts it after every change of the code."""

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

#: Files that developers edit in the folders of the apps: code, pages, styles and translations.
_SUFFIXES = (".py", ".html", ".txt", ".css", ".mo", ".toml")


class Command(BaseCommand):
    """Command for developers. The embedded servers keep running while the processes restart."""

    help = "For developers: run everything with debug pages and start it again when a file changes (make dev)."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            from watchfiles import run_process
        except ModuleNotFoundError:
            raise CommandError("This needs what developers install: make dev") from None
        os.environ["DJANGO_SETTINGS_MODULE"] = "social.settings.dev"
        folders = [settings.BASE_DIR / app for app in settings.INSTALLED_APPS if (settings.BASE_DIR / app).is_dir()]
        command = f"{sys.executable} {settings.BASE_DIR / 'manage.py'} run"
        run_process(
            *folders,
            target=command,
            target_type="command",
            watch_filter=lambda _change, path: path.endswith(_SUFFIXES),
            sigint_timeout=15,
            callback=lambda changes: self.stdout.write(f"Changed: {', '.join(sorted(path for _, path in changes))}"),
        )
