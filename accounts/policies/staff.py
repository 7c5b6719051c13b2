"""Permissions of staff: what a role allows, and that one acts only on those one outranks.

Source: contract, entities "Role"; behaviours section 18.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.models.user import Permission
from social.kernel.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Staff:
    """A person with a role who acts, or the operator (`account_id` None), who outranks everybody."""

    account_id: int | None
    name: str
    permissions: int
    position: int | None


class NotPermitted(Forbidden):
    """An act that is not theirs to do, with the reason: the admin says it, the API does not (behaviours section 3)."""


OPERATOR = Staff(account_id=None, name="operator", permissions=Permission.ADMINISTRATOR, position=None)
"""The person who runs commands on the server."""


def staff_of(user: User) -> Staff:
    """A user, whose account and role are loaded, as one who acts."""
    return Staff(user.account_id, f"@{user.account.username}", user.role.granted, user.role.position)


def can(by: Staff, permission: Permission) -> bool:
    """Tell whether their role grants a permission, or one of several; administrators may do everything."""
    return bool(by.permissions & (Permission.ADMINISTRATOR | permission))


def outranks(by: Staff, role: Role) -> bool:
    """Tell whether they stand above everybody who has this role: as high is not enough, so nobody acts on themselves."""
    return by.position is None or by.position > role.position


def outranks_user(by: Staff, user: User | None) -> bool:
    """Tell whether they stand above somebody; everybody does above people of other servers, who are no users."""
    return user is None or outranks(by, user.role)


def require(by: Staff, permission: Permission, *, over: Role | None = None) -> None:
    """Refuse what they may not do, at all or to somebody with the role `over`. Raises NotPermitted."""
    if not can(by, permission):
        raise NotPermitted(_("Your role does not allow this."))
    if over is not None and not outranks(by, over):
        raise NotPermitted(_("They have a role that you do not outrank."))
