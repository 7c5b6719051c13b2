import json
import secrets
from typing import Annotated

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services import staff
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.queries.accounts import has_address
from social.api import scopes as tree
from social.management.base import OperatorCommand
from social.settings.env import manage_command


class Command(OperatorCommand):
    """Create a local account and print it as JSON: id, acct, generated password, access token. If the username exists, only
    the role, the confirmation and the token are added.

    username: the name in the address
    email: for mails and to sign in
    password: generated and printed if it is not given
    role: Owner, Admin or Moderator
    confirmed: treat the e-mail address as confirmed
    token: also print an access token with these scopes, e.g. "read write follow push"
    """

    def run(
        self, username: str, *, email: str, password: str | None = None, role: str | None = None, confirmed: bool,
        token: Annotated[str, ("metavar", "SCOPES")] = "",
    ) -> None:  # fmt: skip
        new_role = staff.find_role(role) if role else None
        if unknown := tree.unknown(scopes := token.split()):
            values = {"names": " ".join(unknown), "known": " ".join(tree.SCOPES)}
            raise CommandError(_("There is no scope %(names)s. Scopes are %(known)s.") % values)
        username = username.removeprefix("@")
        answer: dict[str, str] = {}
        user = User.objects.select_related("account").filter(has_address(username, None, "account__")).first()
        if user is None:
            if not password:
                password = answer["password"] = secrets.token_urlsafe(18)
            draft = SignUpDraft(username=username, email=email, password=password, agreement=True)
            user = staff.create_user(by=OPERATOR, draft=draft, confirmed=confirmed or None)
        elif user.email.lower() != email.lower():
            raise CommandError(_("@%(name)s exists with another e-mail address.") % {"name": user.account.username})
        elif password and not user.check_password(password):
            name = user.account.username
            raise CommandError(
                _("@%(name)s exists with another password; it was not changed. To change it: %(command)s")
                % {"name": name, "command": manage_command(f"changepassword {name}")}
            )
        else:
            name = user.account.username
            self.stderr.write(
                _("@%(name)s exists already; only role, confirmation and token were applied.") % {"name": name}
            )
            if confirmed:
                staff.confirm(by=OPERATOR, user=user)
        if new_role is not None:
            staff.set_role(by=OPERATOR, user=user, role=new_role)
        if scopes:
            answer["access_token"] = staff.issue_user_token(by=OPERATOR, user=user, scopes=scopes).token
        self.stdout.write(
            json.dumps({"id": str(user.account_id), "acct": user.account.acct} | answer, ensure_ascii=False)
        )
