"""Base of the operators' commands."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from social.kernel.errors import KernelError


def add_yes(parser: ArgumentParser) -> None:
    """Declare the option --yes, which confirms changes for which the pages of staff ask for a confirmation."""
    parser.add_argument("--yes", action="store_true", help="do it although it is rather a mistake, or ends follows")


class OperatorCommand(BaseCommand):
    """Base of commands that call services: if a service refuses, one line shows the reason and the exit status is 1."""

    def ask(self, doubt: str, options: Mapping[str, Any]) -> None:
        """Raise CommandError with the question `doubt`, unless it is empty or --yes was given. A dry run only prints
        the question.
        """
        if not doubt or options["yes"]:
            return
        text = _("%(doubt)s Say --yes to go on.") % {"doubt": doubt}
        if not options["dry_run"]:
            raise CommandError(text)
        self.stderr.write(text)

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command. Raises CommandError for an error of a service."""
        try:
            return super().execute(*args, **options)
        except KernelError as error:
            raise CommandError(error.message) from None
