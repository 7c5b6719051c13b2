"""`manage.py modify_account`: changes a user's role, approval, confirmation, password or whether they may sign in."""

from __future__ import annotations

import json
import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.services import staff
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Every change takes effect at once, in every running process."""

    help = "Change a local account; prints its state as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", help='Owner, Admin, Moderator; "none" takes the role away')
        parser.add_argument("--approve", action="store_true", help="let a pending user in")
        parser.add_argument("--confirm", action="store_true", help="take the e-mail address for confirmed")
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--disable", action="store_true", help="refuse sign-in and every API call")
        state.add_argument("--enable", action="store_true", help="undo --disable")
        parser.add_argument("--reset-password", action="store_true", help="mint a password; ends sessions and tokens")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(json.dumps(self._modify(options), ensure_ascii=False))
        except KernelError as error:
            raise CommandError(error.message) from None

    def _modify(self, options: dict[str, Any]) -> dict[str, Any]:
        username = options["username"].removeprefix("@")
        user = User.objects.select_related("account", "role").filter(account__username__iexact=username).first()
        if user is None:
            raise CommandError(_("There is no local account @%(name)s.") % {"name": username})
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
        answer: dict[str, Any] = {}
        if options["reset_password"]:
            answer["password"] = secrets.token_urlsafe(18)
            staff.set_password(by=OPERATOR, user=user, password=answer["password"])
        user = User.objects.select_related("account", "role").get(id=user.id)
        return {
            "id": str(user.account_id),
            "acct": user.account.acct,
            "role": user.role.name,
            "approved": user.approved,
            "disabled": user.disabled_at is not None,
        } | answer
