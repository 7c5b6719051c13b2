"""`manage.py changepassword`: asks for a new password of a local user, and ends what the old one had opened."""

from __future__ import annotations

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.staff import set_password
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Takes the place of Django's, which would leave every access token valid (security row 24)."""

    help = "Change a local user's password, asked for twice; ends every session, token and stream of theirs."
    requires_migrations_checks = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="username or e-mail address")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["username"].removeprefix("@")
        either = Q(account__username__iexact=name) | Q(email__iexact=name)
        user = User.objects.select_related("account").filter(either).first()
        if user is None:
            raise CommandError(_("There is no local account @%(name)s.") % {"name": name})
        password = getpass.getpass(_("New password") + ": ")
        if getpass.getpass(_("New password, once more") + ": ") != password:
            raise CommandError(_("The two passwords differ; nothing was changed."))
        try:
            set_password(by=OPERATOR, user=user, password=password)
        except KernelError as error:
            raise CommandError(error.message) from None
        self.stdout.write(_("The password of @%(name)s was changed.") % {"name": user.account.username})
