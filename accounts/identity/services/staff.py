"""Actions of staff and operators on users and on roles, and the sign-in links that they create. Each function checks the
permission of `by`, writes the audit row, and takes effect immediately in every process.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.events import EmailChanged, UserApproved
from accounts.identity.policies.sign_up import SignUpDraft, password_errors
from accounts.identity.services.activation import activate_if_ready
from accounts.identity.services.confirmations import checked_email, replace_email
from accounts.identity.services.mails import SECOND_FACTOR_RESET, report_security_change, request_password_reset
from accounts.identity.services.second_factors import remove_all_factors
from accounts.identity.services.sessions import change_password, end_sessions, publish_user_state, sign_out_everywhere
from accounts.identity.services.signing_up import sign_up
from accounts.identity.services.tokens import close_streams, command_line_application, issue_token
from accounts.models import AccessToken, Account, Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.audience import is_present
from accounts.policies.staff import RoleDraft, Staff, require, role_errors
from accounts.services.audit import reason_details, record_about
from accounts.services.changing import change_account
from accounts.services.following import FollowChange, follow_account
from social.kernel import clock, links
from social.kernel.errors import Conflict, Forbidden, Invalid, NotFound, require_valid
from social.kernel.events import publish
from social.kernel.locks import keep_row, lock, lock_row


def create_user(*, by: Staff, draft: SignUpDraft, confirmed: bool | None = None) -> User:
    """Create an approved account; `confirmed` defaults to the setting. Raises Forbidden, Invalid as `sign_up` does."""
    require(by, Permission.MANAGE_USERS)
    with transaction.atomic():
        user = sign_up(draft=draft, confirmed=confirmed, approved=True)
        record_about(by, "create", user)
    return user


def issue_user_token(*, by: Staff, user: User, scopes: Sequence[str]) -> AccessToken:
    """Issue a token of the command line's application for a user, as `issue_token` does. Raises Forbidden."""
    with _acting(by, user, "issue_token", Permission.MANAGE_USER_ACCESS, scopes=list(scopes)):
        return issue_token(application=command_line_application(), user=user, scopes=scopes)


def find_role(name: str) -> Role:
    """Return the role with this name, ignoring case. Raises Invalid, which lists the existing roles."""
    role = Role.objects.filter(name__iexact=name).exclude(name="").first()
    if role is None:
        names = ", ".join(Role.objects.exclude(name="").order_by("-position").values_list("name", flat=True))
        raise Invalid(_("There is no role %(name)s. Roles are: %(names)s") % {"name": name, "names": names})
    return role


def set_role(*, by: Staff, user: User, role: Role | None) -> None:
    """Give a user a role, or the default role for None.

    Raises Forbidden, also if `by` does not outrank the role; NotFound for a deleted user or role; Conflict for the last
    administrator.
    """
    new_role = role if role is not None else Role.objects.get(id=EVERYONE_ROLE_ID)
    with transaction.atomic():
        lock("staff:administrators")
        keep_row(new_role)
        _give_role(by, user, new_role)


def _give_role(by: Staff, user: User, given: Role) -> None:
    with _acting(by, user, "change_role", Permission.MANAGE_ROLES, role=given.name) as locked:
        require(by, Permission.MANAGE_ROLES, over=given)
        if not given.can(Permission.ADMINISTRATOR):
            require_another_administrator(locked)
        _update(user, role_id=given.id)


def approve(*, by: Staff, user: User) -> None:
    """Approve a pending user.

    Publishes UserApproved once; its handler sends the mail that was promised at sign-up. Raises Forbidden.
    """
    with _acting(by, user, "approve") as locked:
        _update(user, approved=True)
        if not locked.approved:
            publish(UserApproved(user_id=user.pk))
        activate_if_ready(user_id=user.pk)


def confirm(*, by: Staff, user: User) -> None:
    """Mark the user's e-mail address as confirmed. Raises Forbidden."""
    with _acting(by, user, "confirm"):
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"primary": True, "verified": True})
        _update(user)
        activate_if_ready(user_id=user.pk)


def disable(*, by: Staff, user: User, reason: str = "") -> None:
    """Disable sign-in and API calls; sessions and streams end. Raises Forbidden; Conflict for the last administrator."""
    with _acting(by, user, "disable", Permission.MANAGE_USERS, **reason_details(reason)) as locked:
        require_another_administrator(locked)
        _update(user, disabled_at=clock.now())
        end_sessions(user=user)
        close_streams(user=user)


def enable(*, by: Staff, user: User) -> None:
    """Undo `disable`. Raises Forbidden."""
    with _acting(by, user, "enable"):
        _update(user, disabled_at=None)


def set_password(*, by: Staff, user: User, password: str) -> None:
    """Set a new password: every session, token and stream of the user ends (security row 24). Raises Forbidden, Invalid."""
    require_valid(password_errors(password), details=True)
    with _acting(by, user, "reset_password", Permission.MANAGE_USER_ACCESS):
        change_password(user=user, password=password)


def send_password_reset(*, by: Staff, user: User) -> None:
    """Request a password reset link for the user. Raises Forbidden."""
    with _acting(by, user, "send_password_reset", Permission.MANAGE_USER_ACCESS):
        request_password_reset(user=user)


def make_sign_in_link(*, by: Staff, user: User) -> str:
    """Return a link with which the user can sign in once, even if sign-in with a password is disabled. Raises Forbidden."""
    with _acting(by, user, "make_sign_in_link", Permission.MANAGE_USER_ACCESS) as locked:
        return recovery_url(locked)


def set_email(*, by: Staff, user: User, email: str) -> None:
    """Replace the address of a user who has lost access to it; the new address counts as confirmed.

    Browser sessions end, and the old address gets a mail (security row 24). Publishes EmailChanged. Raises Forbidden;
    Invalid for an address that is malformed, blocked or in use.
    """
    new_email = checked_email(email)
    with _acting(by, user, "change_email", Permission.MANAGE_USER_ACCESS) as locked:
        old = locked.email
        replace_email(locked, new_email)
        end_sessions(user=user)
        publish(EmailChanged(user_id=user.pk, old_email=old, address=""))
        activate_if_ready(user_id=user.pk)


def reset_second_factor(*, by: Staff, user: User) -> bool:
    """Delete a user's second factors and recovery codes; return whether there was a factor.

    Ends every session, token and stream of the user, who gets a mail (security row 24). Raises Forbidden.
    """
    with _acting(by, user, "reset_second_factor", Permission.MANAGE_USER_ACCESS):
        removed = remove_all_factors(user=user)
        sign_out_everywhere(user=user)
        report_security_change(user=user, kind=SECOND_FACTOR_RESET, address="")
    return removed


def follow_on_behalf(*, by: Staff, user: User, target: Account) -> None:
    """Make a user follow an account, or request to; repeating it changes nothing. Raises Forbidden, NotFound, Invalid."""
    with _acting(by, user, "follow", target=f"@{target.acct}"):
        follow_account(account=user.account, target=target, change=FollowChange())


@contextmanager
def _acting(
    by: Staff, user: User, action: str, permission: Permission = Permission.MANAGE_USERS, **details: Any
) -> Iterator[User]:
    """Open a transaction: lock the user's row, check the permission of `by`, and write the audit row. Raises NotFound."""
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).select_related("role").filter(pk=user.pk).first()
        require(by, permission, over=user.role if locked is None else locked.role)
        # The account is read after the lock is granted, because a joined row would show the state before the wait for the lock.
        account = Account.objects.filter(id=user.account_id, deleted_at=None).first()
        if locked is None or account is None:
            raise NotFound
        locked.account = account
        yield locked
        record_about(by, action, locked, **details)


def require_another_administrator(user: User) -> None:
    """Raise Conflict if the user (loaded with its role) is the last administrator. Call it in a transaction."""
    if user.disabled_at is None and user.role.can(Permission.ADMINISTRATOR):
        # Without this lock, two people who remove each other's permission at the same moment could leave no administrator.
        lock("staff:administrators")
        _require_administrator(User.objects.filter(is_present("account")).exclude(pk=user.pk))


def _require_administrator(users: QuerySet[User]) -> None:
    able = users.filter(disabled_at=None).exclude(role_id=EVERYONE_ROLE_ID).select_related("role")
    if not any(user.role.can(Permission.ADMINISTRATOR) for user in able):
        raise Conflict(
            _("This is the last person with all permissions on this server: give somebody else that role first.")
        )


def _update(user: User, **values: Any) -> None:
    with transaction.atomic():
        for name, value in values.items():
            setattr(user, name, value)
        User.objects.filter(id=user.id).update(**values or {"approved": user.approved})
        change_account(user.account_id)
        publish_user_state(user=user)


VALID_SECONDS: Final = 900
_SALT: Final = "accounts.identity.recovery"


def recovery_url(user: User) -> str:
    """Return a sign-in link for the user. The link expires after VALID_SECONDS, or earlier when the user signs in."""
    return links.web_url(reverse("recover", args=[signing.dumps([user.pk, _last_login(user)], salt=_SALT)]))


def find_recovering(token: str) -> User | None:
    """Return the user who can sign in with the link that ends with `token`; None if the link is forged, too old or used."""
    try:
        number, last_login = signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
    except signing.BadSignature:
        return None
    user = User.objects.select_related("account", "role").filter(pk=number).first()
    return user if user is not None and _last_login(user) == last_login else None


def _last_login(user: User) -> str:
    return user.last_login.isoformat() if user.last_login is not None else ""


def create_role(*, by: Staff, draft: RoleDraft) -> Role:
    """Create a role. Raises Forbidden, and Invalid with `details` for the errors of `role_errors`."""
    require(by, Permission.MANAGE_ROLES)
    with transaction.atomic():
        _check(by, draft, None)
        role = Role.objects.create(**asdict(draft))
        record_about(by, "create", role, after=asdict(draft))
    return role


def update_role(*, by: Staff, role: Role, draft: RoleDraft) -> None:
    """Change a role, with immediate effect for all its users. The name and rank of the default role cannot be changed.

    Raises NotFound; Forbidden if `by` does not outrank the role; Invalid as `create_role` does; Conflict if no
    administrator would be left.
    """
    with transaction.atomic():
        locked = _lock_role(by, role)
        if locked.pk == EVERYONE_ROLE_ID:
            draft = replace(draft, name="", position=locked.position, color="", highlighted=False)
        _check(by, draft, locked)
        before = {name: getattr(locked, name) for name in asdict(draft)}
        changed = {name: value for name, value in asdict(draft).items() if before[name] != value}
        if not changed:
            return
        Role.objects.filter(pk=locked.pk).update(**changed)
        if locked.pk != EVERYONE_ROLE_ID:  # no cached data show the default role
            _renew(User.objects.filter(role=locked).select_related("account"))
        _require_administrator(User.objects.all())
        record_about(by, "update", locked, before={name: before[name] for name in changed}, after=changed)


def delete_role(*, by: Staff, role: Role) -> None:
    """Delete a role; its users get the default role. Raises Forbidden, also for the default role; NotFound; Conflict."""
    with transaction.atomic():
        locked = _lock_role(by, role)
        if locked.pk == EVERYONE_ROLE_ID:
            raise Forbidden
        people = list(User.objects.filter(role=locked).select_related("account"))
        User.objects.filter(role=locked).update(role_id=EVERYONE_ROLE_ID)
        _renew(people)
        _require_administrator(User.objects.all())
        record_about(by, "destroy", locked, people=[f"@{user.account.username}" for user in people])
        locked.delete()


def _lock_role(by: Staff, role: Role) -> Role:
    # Without this lock, two people who edit each other's roles at the same moment could leave no administrator.
    lock("staff:administrators")
    locked = lock_row(role)
    require(by, Permission.MANAGE_ROLES, over=locked)
    return locked


def _check(by: Staff, draft: RoleDraft, before: Role | None) -> None:
    same_name = Role.objects.filter(name__iexact=draft.name).exclude(name="")
    taken = (same_name.exclude(pk=before.pk) if before is not None else same_name).exists()
    require_valid(role_errors(draft, by=by, before=before, taken=taken), details=True)


def _renew(users: Iterable[User]) -> None:
    for user in users:
        change_account(user.account_id)
        publish_user_state(user=user)
