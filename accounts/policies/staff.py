"""Permissions of staff, who act only on users whom they outrank, and rules of roles (behaviours section 18)."""

import re
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, EVERYONES_PERMISSIONS, Permission
from social.kernel.errors import FieldError, Forbidden


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
    """Return the acting user in the form that services expect; the user's `account` and `role` must be loaded."""
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


NAME_MAXIMUM: Final = 100
RANK_MAXIMUM: Final = 1000
QUOTA_MAXIMUM: Final = 1_000_000
_COLOR: Final = re.compile(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


@dataclass(frozen=True, slots=True)
class RoleDraft:
    """A role as staff write it: permission bits, rank (`position`), quotas (0: no limit), and limits on imports."""

    name: str
    permissions: int
    position: int = 0
    color: str = ""
    highlighted: bool = False
    media_megabytes: int = 0
    posts_per_day: int = 0
    imported_posts_limit: int = 200_000
    imported_mebibytes_limit: int = 20_480


def role_errors(draft: RoleDraft, *, by: Staff, before: Role | None, taken: bool) -> list[FieldError]:
    """List the errors of a role that the staff member `by` writes; `taken`: another role has this name.

    Nobody can grant or revoke a permission that they lack, or create a role that ranks as high as their own.
    """
    everyone = before is not None and before.pk == EVERYONE_ROLE_ID
    errors = []
    if not draft.name.strip() and not everyone:
        errors.append(FieldError.blank("name"))
    if len(draft.name) > NAME_MAXIMUM:
        errors.append(FieldError("name", "ERR_TOO_LONG", _("is too long")))
    if taken:
        errors.append(FieldError.taken("name"))
    if draft.color and not _COLOR.fullmatch(draft.color):
        errors.append(FieldError.invalid("color"))
    if not everyone and not 0 <= draft.position <= RANK_MAXIMUM:
        errors.append(FieldError.invalid("position"))
    elif not everyone and by.position is not None and draft.position >= by.position:
        errors.append(FieldError("position", "ERR_ELEVATED", _("must be lower than your own rank")))
    for name in ("media_megabytes", "posts_per_day"):
        if not 0 <= getattr(draft, name) <= QUOTA_MAXIMUM:
            errors.append(FieldError.invalid(name))
    changed = draft.permissions ^ (before.permissions if before is not None else 0)
    if not by.permissions & Permission.ADMINISTRATOR and changed & ~by.permissions:
        errors.append(FieldError("permissions", "ERR_ELEVATED", _("include one that you do not have yourself")))
    if everyone and draft.permissions & ~EVERYONES_PERMISSIONS:
        errors.append(FieldError("permissions", "ERR_DANGEROUS", _("include one that not everybody may have")))
    return errors
