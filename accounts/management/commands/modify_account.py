"""`manage.py modify_account`: changes a user's role, approval, confirmation, password or second factor, or disables
them.
"""

from __future__ import annotations

import json
import secrets
from argparse import ArgumentParser
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction

from accounts.management.names import find_user_named
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services import staff
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Change accounts, with effect at once in every running process."""

    help = "Change a local account; prints its state as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="whose account")
        parser.add_argument("--role", help='Owner, Admin, Moderator; "none" takes the role away')
        parser.add_argument("--approve", action="store_true", help="let a pending user in")
        parser.add_argument("--confirm", action="store_true", help="take the e-mail address for confirmed")
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--disable", action="store_true", help="refuse sign-in and every API call")
        state.add_argument("--enable", action="store_true", help="undo --disable")
        parser.add_argument(
            "--reset-second-factor",
            action="store_true",
            help="take second factor and recovery codes away; ends sessions and tokens",
        )
        parser.add_argument(
            "--reset-password", action="store_true", help="generate a password; ends sessions and tokens"
        )
        parser.add_argument("--dry-run", action="store_true", help="only print what the state would be")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"]:
            # Events are published on commit, so that a change that is rolled back has no consequences.
            with transaction.atomic():
                answer = self._modify(options)
                transaction.set_rollback(True)
        else:
            answer = self._modify(options)
        self.stdout.write(json.dumps(answer, ensure_ascii=False))

    def _modify(self, options: dict[str, Any]) -> dict[str, Any]:
        user = find_user_named(options["username"])
        if options["role"]:
            role = None if options["role"] == "none" else staff.find_role(options["role"])
            staff.set_role(by=OPERATOR, user=user, role=role)
        if options["approve"]:
            staff.approve(by=OPERATOR, user=user)
        if options["confirm"]:
            staff.confirm(by=OPERATOR, user=user)
        if options["disable"]:
            staff.disable(by=OPERATOR, user=user)
        if options["enable"]:
            staff.enable(by=OPERATOR, user=user)
        if options["reset_second_factor"]:
            staff.reset_second_factor(by=OPERATOR, user=user)
        answer: dict[str, Any] = {}
        if options["reset_password"] and not options["dry_run"]:
            answer["password"] = secrets.token_urlsafe(18)
            staff.set_password(by=OPERATOR, user=user, password=answer["password"])
        user = User.objects.select_related("account", "role").get(id=user.id)
        return {
            "id": str(user.account_id),
            "acct": user.account.acct,
            "role": user.role.name,
            "approved": user.approved,
            "disabled": user.disabled_at is not None,
            "second_factor": is_mfa_enabled(user),
        } | answer
