"""Base of the commands of operators."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from social.kernel.errors import KernelError


def add_yes(parser: ArgumentParser) -> None:
    """Declare what a command waits for before it does what the pages of staff ask about, too."""
    parser.add_argument(
        "--yes", action="store_true", help="do what is hardly meant, or what ends follows, nevertheless"
    )


class OperatorCommand(BaseCommand):
    """A command that a service refuses ends with one line, the reason, and the exit status 1."""

    def ask(self, doubt: str, options: Mapping[str, Any]) -> None:
        """Raise CommandError with a doubt, if there is one, until somebody says --yes. A dry run only says it."""
        if not doubt or options["yes"]:
            return
        text = _("%(doubt)s Say --yes to go on.") % {"doubt": doubt}
        if not options["dry_run"]:
            raise CommandError(text)
        self.stderr.write(text)

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run it. Raises CommandError."""
        try:
            return super().execute(*args, **options)
        except KernelError as error:
            raise CommandError(error.message) from None
