"""Base of the commands of operators."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from social.kernel.errors import KernelError


class OperatorCommand(BaseCommand):
    """A command that a service refuses ends with one line, the reason, and the exit status 1."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run it. Raises CommandError."""
        try:
            return super().execute(*args, **options)
        except KernelError as error:
            raise CommandError(error.message) from None
