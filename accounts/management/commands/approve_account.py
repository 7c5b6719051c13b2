"""`manage.py approve_account`: approves users who wait for approval."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from accounts.management.names import find_users_named
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services.staff import approve
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Approve accounts; without names, list the users who wait for approval, with their reasons for joining."""

    help = "Let people in who have signed up and wait for approval; without names, list them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("usernames", nargs="*", help="who is let in")
        parser.add_argument("--all", action="store_true", help="everybody who waits")
        parser.add_argument("--dry-run", action="store_true", help="only say who would be let in")

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = User.objects.filter(approved=False).select_related("account").order_by("pk")
        if not options["usernames"] and not options["all"]:
            for user in waiting.iterator():
                self.stdout.write(f"@{user.account.username} <{user.email}> {user.sign_up_reason!r}")
            return
        chosen = list(waiting if options["all"] else find_users_named(options["usernames"]))
        for number, user in enumerate(chosen, start=1):
            if not options["dry_run"]:
                approve(by=OPERATOR, user=user)
            self.stdout.write(f"{number}/{len(chosen)} @{user.account.username}")
