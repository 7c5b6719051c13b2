"""Base of the commands of operators."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from social.kernel.errors import KernelError


def add_yes(parser: ArgumentParser) -> None:
    """Declare the option without which a command does nothing of what the pages of staff ask about first."""
    parser.add_argument("--yes", action="store_true", help="do it although it is rather a mistake, or ends follows")


class OperatorCommand(BaseCommand):
    """A command that a service refuses ends with one line, the reason, and the exit status 1."""

    def ask(self, doubt: str, options: Mapping[str, Any]) -> None:
        """Raise CommandError for a doubt, unless --yes was given. A dry run only writes it."""
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
