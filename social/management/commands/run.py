"""`manage.py run`: runs all processes under one supervisor."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from social.runtime.options import add_options


class Command(BaseCommand):
    """Command that exists for `--help`: `manage.py` itself starts the supervisor, without loading Django."""

    help = (
        "Run everything: PostgreSQL and Valkey (unless DATABASE_URL and REDIS_URL are set), the web server, streaming, "
        "the worker and the scheduler. Ctrl-C or SIGTERM stops all of them."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options that `social.runtime.options` has already read and removed."""
        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        from social.runtime.launch import run

        sys.exit(run())
