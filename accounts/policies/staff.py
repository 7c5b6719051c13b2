"""Permissions of staff, who act only on users whom they outrank (contract, entities "Role"; behaviours section 18)."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.models.user import Permission
from social.kernel.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Staff:
    """The acting user with the rights of their role, or the operator (`account_id` None), who outranks everybody."""

    account_id: int | None
    name: str
    permissions: int
    position: int | None


class NotPermitted(Forbidden):
    """Refusal of an action that the role does not allow; only the admin shows the reason (behaviours section 3)."""


OPERATOR = Staff(account_id=None, name="operator", permissions=Permission.ADMINISTRATOR, position=None)
"""The person who runs commands on the server."""


def staff_of(user: User) -> Staff:
    """Return the acting user in the form that services expect; needs `account` and `role` loaded."""
    return Staff(user.account_id, f"@{user.account.username}", user.role.granted, user.role.position)


def can(by: Staff, permission: Permission) -> bool:
    """Tell whether the role of `by` grants the permission (or one of several, combined as bits)."""
    return bool(by.permissions & (Permission.ADMINISTRATOR | permission))


def outranks(by: Staff, role: Role) -> bool:
    """Tell whether `by` ranks above this role; an equal rank is not enough, so that nobody can act on themselves."""
    return by.position is None or by.position > role.position


def outranks_user(by: Staff, user: User | None) -> bool:
    """Tell whether `by` outranks the user; None is a remote account, which has no user and which everybody outranks."""
    return user is None or outranks(by, user.role)


def require(by: Staff, permission: Permission, *, over: Role | None = None) -> None:
    """Raise NotPermitted unless the role of `by` has the permission and, if `over` is given, outranks that role."""
    if not can(by, permission):
        raise NotPermitted(_("Your role does not allow this."))
    if over is not None and not outranks(by, over):
        raise NotPermitted(_("They have a role that you do not outrank."))
