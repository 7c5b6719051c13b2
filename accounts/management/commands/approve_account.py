"""`manage.py approve_account`: lets people in who wait for it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.staff import approve
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Without names it lists who waits, and why they want to join."""

    help = "Let people in who have signed up and wait for approval; without names, list them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("usernames", nargs="*")
        parser.add_argument("--all", action="store_true", help="everybody who waits")
        parser.add_argument("--dry-run", action="store_true", help="only say who would be let in")

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = User.objects.filter(approved=False).select_related("account").order_by("pk")
        if not options["usernames"] and not options["all"]:
            for user in waiting.iterator():
                self.stdout.write(f"@{user.account.username} <{user.email}> {user.sign_up_reason!r}")
            return
        named = (self._find(name.removeprefix("@")) for name in options["usernames"])
        chosen = list(waiting if options["all"] else named)
        for number, user in enumerate(chosen, start=1):
            if not options["dry_run"]:
                try:
                    approve(by=OPERATOR, user=user)
                except KernelError as error:
                    raise CommandError(error.message) from None
            self.stdout.write(f"{number}/{len(chosen)} @{user.account.username}")

    def _find(self, username: str) -> User:
        user = User.objects.select_related("account").filter(account__username__iexact=username).first()
        if user is None:
            raise CommandError(_("There is no local account @%(name)s.") % {"name": username})
        return user
