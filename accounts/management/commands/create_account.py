"""`manage.py create_account`: creates a local account and prints what is needed to use it."""

from __future__ import annotations

import json
import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.policies.sign_up import SignUpDraft
from accounts.policies.staff import OPERATOR
from accounts.queries.accounts import has_address
from accounts.services.staff import confirm, create_user, find_role, issue_user_token, set_role
from social.api import scopes as tree
from social.management.base import OperatorCommand
from social.settings.env import manage_command


class Command(OperatorCommand):
    """Create an account. Idempotent: for an existing username, only the requested role, confirmation and token are
    added.
    """

    help = "Create a local account and print it as JSON: id, acct, generated password, access token."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="the name in the address")
        parser.add_argument("--email", required=True, help="to confirm it, for mails and to sign in")
        parser.add_argument("--password", help="generated and printed when absent")
        parser.add_argument("--role", help="Owner, Admin or Moderator")
        parser.add_argument("--confirmed", action="store_true", help="take the e-mail address for confirmed")
        parser.add_argument(
            "--token", metavar="SCOPES", help='also print an access token, e.g. "read write follow push"'
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(self._create(options), ensure_ascii=False))

    def _create(self, options: dict[str, Any]) -> dict[str, str]:
        role = find_role(options["role"]) if options["role"] else None
        scopes = (options["token"] or "").split()
        if unknown := tree.unknown(scopes):
            known = " ".join(tree.SCOPES)
            raise CommandError(
                _("There is no scope %(names)s. Scopes are %(known)s.") % {"names": " ".join(unknown), "known": known}
            )
        username = options["username"].removeprefix("@")
        answer: dict[str, str] = {}
        user = User.objects.select_related("account").filter(has_address(username, None, "account__")).first()
        if user is None:
            password = options["password"] or secrets.token_urlsafe(18)
            draft = SignUpDraft(username=username, email=options["email"], password=password, agreement=True)
            user = create_user(by=OPERATOR, draft=draft, confirmed=options["confirmed"] or None)
            if not options["password"]:
                answer["password"] = password
        elif user.email.lower() != options["email"].lower():
            raise CommandError(_("@%(name)s exists with another e-mail address.") % {"name": user.account.username})
        elif options["password"] and not user.check_password(options["password"]):
            command = manage_command(f"changepassword {user.account.username}")
            raise CommandError(
                _("@%(name)s exists with another password; it was not changed. To change it: %(command)s")
                % {"name": user.account.username, "command": command}
            )
        else:
            name = user.account.username
            self.stderr.write(
                _("@%(name)s exists already; only what was asked for beyond that was done.") % {"name": name}
            )
            if options["confirmed"]:
                confirm(by=OPERATOR, user=user)
        if role is not None:
            set_role(by=OPERATOR, user=user, role=role)
        if scopes:
            answer["access_token"] = issue_user_token(by=OPERATOR, user=user, scopes=scopes).token
        return {"id": str(user.account_id), "acct": user.account.acct} | answer
