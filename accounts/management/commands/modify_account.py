import json
import secrets
from collections.abc import Callable
from typing import Any

from allauth.mfa.utils import is_mfa_enabled

from accounts.identity.services import staff
from accounts.management.names import LocalUser
from accounts.models import User
from accounts.policies.staff import OPERATOR
from social.management.base import OperatorCommand, undone_if


class Command(OperatorCommand):
    """Change a local account, with immediate effect, and print its state as JSON.

    user: the owner of the account
    role: Owner, Admin or Moderator; "none" removes the role
    approve: approve a user who is waiting for approval
    confirm: treat the e-mail address as confirmed
    disable: refuse sign-in and every API call
    enable: undo --disable
    reset_second_factor: remove second factor and recovery codes; ends sessions and tokens
    reset_password: generate a password; ends sessions and tokens
    sign_in_link: make a link that signs the user in once, within 15 minutes, even if sign-in with passwords is disabled
    dry_run: only print what the state would be
    """

    exclusive = ("disable", "enable")

    def run(
        self, user: LocalUser, *, role: str = "", approve: bool, confirm: bool, disable: bool, enable: bool,
        reset_second_factor: bool, reset_password: bool, sign_in_link: bool, dry_run: bool,
    ) -> None:  # fmt: skip
        answer: dict[str, Any] = {}
        with undone_if(dry_run):
            if role:
                staff.set_role(by=OPERATOR, user=user, role=None if role == "none" else staff.find_role(role))
            acts: list[tuple[bool, Callable[..., object]]] = [
                (approve, staff.approve),
                (confirm, staff.confirm),
                (disable, staff.disable),
                (enable, staff.enable),
                (reset_second_factor, staff.reset_second_factor),
            ]
            for chosen, act in acts:
                if chosen:
                    act(by=OPERATOR, user=user)
            if reset_password and not dry_run:
                answer["password"] = secrets.token_urlsafe(18)
                staff.set_password(by=OPERATOR, user=user, password=answer["password"])
            if sign_in_link and not dry_run:
                answer["sign_in_link"] = staff.make_sign_in_link(by=OPERATOR, user=user)
            user = User.objects.select_related("account", "role").get(id=user.id)
            state = {
                "id": str(user.account_id),
                "acct": user.account.acct,
                "role": user.role.name,
                "approved": user.approved,
                "disabled": user.disabled_at is not None,
                "second_factor": is_mfa_enabled(user),
            }
        self.stdout.write(json.dumps(state | answer, ensure_ascii=False))
