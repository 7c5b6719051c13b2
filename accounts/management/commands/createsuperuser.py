"""`manage.py createsuperuser`: names the command that creates an owner."""

from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from social.settings.env import manage_command


class Command(BaseCommand):
    """Replaces Django's command, which creates users without accounts; on this server every administrator has an account."""

    help = "Not used here: create_account --role Owner makes an account that may do everything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        # The options of Django's command are accepted, so that its users see the sentence below instead of a parser's error.
        for name in ("--username", "--email", "--database"):
            parser.add_argument(name, help=SUPPRESS)
        parser.add_argument("--noinput", "--no-input", action="store_true", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        raise CommandError(
            _("Use this instead: %(command)s")
            % {"command": manage_command("create_account NAME --email ADDRESS --role Owner --confirmed")}
        )
