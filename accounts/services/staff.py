"""Acts of staff and operators on users: roles, approval, confirmation, disabling, lost second factors, follows.

Effective at once, in every process.

Each asks whether `by` may do it and writes the audit row itself, whichever page or command it was called from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.events import EmailChanged, UserApproved
from accounts.models import AccessToken, Account, Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.audience import is_present
from accounts.policies.sign_up import SignUpDraft, email_errors, password_errors, taken
from accounts.policies.staff import Staff, require
from accounts.queries.sign_up import load_email_findings
from accounts.services.activation import activate_if_ready
from accounts.services.audit import because, record
from accounts.services.changing import change_account
from accounts.services.email_changes import replace_email
from accounts.services.following import FollowChange, follow_account
from accounts.services.mails import SECOND_FACTOR_RESET, report_security_change, request_password_reset
from accounts.services.second_factors import remove_all_factors
from accounts.services.sessions import change_password, end_sessions, publish_user_state, sign_out_everywhere
from accounts.services.signing_up import look_up_mail_hosts, sign_up
from accounts.services.tokens import close_streams, command_line_application, issue_token
from social.kernel import clock
from social.kernel.errors import Conflict, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import keep_row, lock


def create_user(*, by: Staff, draft: SignUpDraft, confirmed: bool | None = None) -> User:
    """Make an account for somebody, approved; `confirmed` None asks for the address as CONFIRM_EMAIL says.

    Raises Forbidden, and Invalid with `details` as `sign_up`.
    """
    require(by, Permission.MANAGE_USERS)
    with transaction.atomic():
        user = sign_up(draft=draft, confirmed=confirmed, approved=True)
        _record(by, "create", user)
    return user


def issue_user_token(*, by: Staff, user: User, scopes: Sequence[str]) -> AccessToken:
    """A token of the command line's own application for a user, as `issue_token`. Raises Forbidden."""
    with _acting(by, user, "issue_token", Permission.MANAGE_USER_ACCESS, scopes=list(scopes)):
        return issue_token(application=command_line_application(), user=user, scopes=scopes)


def find_role(name: str) -> Role:
    """The role with this name, in any case of letters. Raises Invalid and names the roles there are."""
    role = Role.objects.filter(name__iexact=name).exclude(name="").first()
    if role is None:
        names = ", ".join(Role.objects.exclude(name="").order_by("-position").values_list("name", flat=True))
        raise Invalid(_("There is no role %(name)s; there are: %(names)s") % {"name": name, "names": names})
    return role


def set_role(*, by: Staff, user: User, role: Role | None) -> None:
    """Give a role, or take every role away. The account's cached entity is renewed: roles show there.

    Who gives a role stands above it. Raises Forbidden, NotFound when the role is gone, and Conflict for the last one who may
    do everything.
    """
    given = role if role is not None else Role.objects.get(id=EVERYONE_ROLE_ID)
    with transaction.atomic():
        lock("staff:administrators")
        keep_row(given)
        _give_role(by, user, given)


def _give_role(by: Staff, user: User, given: Role) -> None:
    with _acting(by, user, "change_role", Permission.MANAGE_ROLES, role=given.name) as locked:
        require(by, Permission.MANAGE_ROLES, over=given)
        if not given.can(Permission.ADMINISTRATOR):
            keep_one_administrator(locked)
        _update(user, role_id=given.id)


def approve(*, by: Staff, user: User) -> None:
    """Let a pending user in. Announces UserApproved, once: the mail that sign-up has promised. Raises Forbidden."""
    with _acting(by, user, "approve") as locked:
        _update(user, approved=True)
        if not locked.approved:
            publish(UserApproved(user_id=user.pk))
        activate_if_ready(user_id=user.pk)


def confirm(*, by: Staff, user: User) -> None:
    """Take the user's e-mail address for confirmed. Raises Forbidden."""
    with _acting(by, user, "confirm"):
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"primary": True, "verified": True})
        _update(user)
        activate_if_ready(user_id=user.pk)


def disable(*, by: Staff, user: User, reason: str = "") -> None:
    """Refuse sign-in and API calls: sessions and streams end, tokens stay and answer 403 (behaviours section 18).

    `reason` stands in the audit log. Raises Forbidden, and Conflict for the last one who may do everything.
    """
    with _acting(by, user, "disable", Permission.MANAGE_USERS, **because(reason)) as locked:
        keep_one_administrator(locked)
        _update(user, disabled_at=clock.now())
        end_sessions(user=user)
        close_streams(user=user)


def enable(*, by: Staff, user: User) -> None:
    """Undo `disable`. Raises Forbidden."""
    with _acting(by, user, "enable"):
        _update(user, disabled_at=None)


def set_password(*, by: Staff, user: User, password: str) -> None:
    """A new password: every session, token and stream of the user ends (security row 24). Raises Forbidden, Invalid."""
    errors = password_errors(password)
    if errors:
        raise Invalid.of(errors, details=True)
    with _acting(by, user, "reset_password", Permission.MANAGE_USER_ACCESS):
        change_password(user=user, password=password)


def send_password_reset(*, by: Staff, user: User) -> None:
    """Have a link sent to the user with which they can choose a new password. Raises Forbidden."""
    with _acting(by, user, "send_password_reset", Permission.MANAGE_USER_ACCESS):
        request_password_reset(user=user)


def set_email(*, by: Staff, user: User, email: str) -> None:
    """Give a user another e-mail address, taken for confirmed, for somebody who has lost theirs.

    Sessions in browsers end, and the old address gets a mail (security row 24). Publishes EmailChanged. Raises Forbidden;
    Invalid for an address that is malformed, blocked, in use or the one they have.
    """
    wanted = email.strip().lower()
    errors = email_errors(wanted) or load_email_findings(wanted, look_up_mail_hosts(wanted)).errors()
    if errors:
        raise Invalid.of(errors, details=True)
    with _acting(by, user, "change_email", Permission.MANAGE_USER_ACCESS) as locked:
        old = locked.email
        try:
            with transaction.atomic():
                replace_email(locked, wanted)
        except IntegrityError:
            raise Invalid.of([taken("email")], details=True) from None
        end_sessions(user=user)
        publish(EmailChanged(user_id=user.pk, old_email=old, address=""))
        activate_if_ready(user_id=user.pk)


def reset_second_factor(*, by: Staff, user: User) -> bool:
    """Take away every second factor and recovery code, for somebody who has lost theirs; whether there was one.

    Ends every session, token and stream of the user, who gets a mail about it (security row 24). Raises Forbidden.
    """
    with _acting(by, user, "reset_second_factor", Permission.MANAGE_USER_ACCESS):
        removed = remove_all_factors(user=user)
        sign_out_everywhere(user=user)
        report_security_change(user=user, kind=SECOND_FACTOR_RESET, address="")
    return removed


def follow_on_behalf(*, by: Staff, user: User, target: Account) -> None:
    """Have a user follow an account, or ask to, as if they had done so themselves; twice changes nothing.

    Raises Forbidden, also for a user who may not follow the account; NotFound, Invalid as `follow_account`.
    """
    with _acting(by, user, "follow", target=f"@{target.acct}"):
        follow_account(account=user.account, target=target, change=FollowChange())


@contextmanager
def _acting(
    by: Staff, user: User, action: str, permission: Permission = Permission.MANAGE_USERS, **details: Any
) -> Iterator[User]:
    """Open a transaction: lock the user's row, check what `by` may do to it as it is now, and write the audit row.

    Raises NotFound for somebody whose account has been deleted: nothing brings that person back.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        require(by, permission, over=user.role if locked is None else locked.role)
        # The account is read after the lock: joined to it, its row would be as it was before the wait for the lock.
        account = Account.objects.filter(id=user.account_id, deleted_at=None).first()
        if locked is None or account is None:
            raise NotFound
        locked.account = account
        yield locked
        _record(by, action, locked, **details)


def _record(by: Staff, action: str, user: User, **details: Any) -> None:
    name = f"@{user.account.username}"
    record(by=by, action=action, target_type="User", target_id=user.pk, target_name=name, **details)


def keep_one_administrator(user: User) -> None:
    """Refuse what would take the rights from the last one who may do everything. Raises Conflict.

    The caller holds a transaction; `user` comes with role.
    """
    if user.disabled_at is not None or not user.role.can(Permission.ADMINISTRATOR):
        return
    # Two who take the right from each other at the same moment would leave nobody.
    lock("staff:administrators")
    others = User.objects.filter(is_present("account"), disabled_at=None).exclude(pk=user.pk).select_related("role")
    if not any(other.role.can(Permission.ADMINISTRATOR) for other in others.exclude(role_id=EVERYONE_ROLE_ID)):
        raise Conflict(_("This is the last person who may do everything here: give somebody else that role first."))


def _update(user: User, **values: Any) -> None:
    with transaction.atomic():
        for name, value in values.items():
            setattr(user, name, value)
        User.objects.filter(id=user.id).update(**values or {"approved": user.approved})
        change_account(user.account_id)
        publish_user_state(user=user)
