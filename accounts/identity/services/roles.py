"""Creates, changes and deletes roles, for staff who outrank them. Each act requires MANAGE_ROLES and writes an audit row."""

from __future__ import annotations

from dataclasses import asdict, replace

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.identity.services.sessions import publish_user_state
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.roles import RoleDraft, role_errors
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from accounts.services.changing import change_account
from social.kernel.errors import Conflict, Forbidden, Invalid
from social.kernel.locks import lock, lock_row


def create_role(*, by: Staff, draft: RoleDraft) -> Role:
    """Create a role. Raises Forbidden, and Invalid with `details` for the errors of `role_errors`."""
    require(by, Permission.MANAGE_ROLES)
    with transaction.atomic():
        _check(by, draft, None)
        role = Role.objects.create(**asdict(draft))
        record_about(by, "create", role, after=asdict(draft))
    return role


def update_role(*, by: Staff, role: Role, draft: RoleDraft) -> None:
    """Change a role, for all its users at once; the name and rank of the default role stay.

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
        _renew(locked)
        _keep_one_administrator()
        record_about(by, "update", locked, before={name: before[name] for name in changed}, after=changed)


def delete_role(*, by: Staff, role: Role) -> None:
    """Delete a role; its users get the default role. Raises Forbidden, also for the default role; NotFound; Conflict."""
    with transaction.atomic():
        locked = _lock_role(by, role)
        if locked.pk == EVERYONE_ROLE_ID:
            raise Forbidden
        people = list(User.objects.filter(role=locked).select_related("account"))
        User.objects.filter(role=locked).update(role_id=EVERYONE_ROLE_ID)
        for user in people:
            change_account(user.account_id)
            publish_user_state(user=user)
        _keep_one_administrator()
        record_about(by, "destroy", locked, people=[f"@{user.account.username}" for user in people])
        locked.delete()


def _lock_role(by: Staff, role: Role) -> Role:
    # Without this lock two people who take rights from each other's roles at once could leave no administrator.
    lock("staff:administrators")
    locked = lock_row(role)
    require(by, Permission.MANAGE_ROLES, over=locked)
    return locked


def _check(by: Staff, draft: RoleDraft, before: Role | None) -> None:
    same_name = Role.objects.filter(name__iexact=draft.name).exclude(name="")
    taken = (same_name.exclude(pk=before.pk) if before is not None else same_name).exists()
    errors = role_errors(draft, by=by, before=before, taken=taken)
    if errors:
        raise Invalid.of(errors, details=True)


def _renew(role: Role) -> None:
    """Make cached data of the users with a role stale. The default role is not part of any cached data."""
    if role.pk == EVERYONE_ROLE_ID:
        return
    for user in User.objects.filter(role=role).select_related("account"):
        change_account(user.account_id)
        publish_user_state(user=user)


def _keep_one_administrator() -> None:
    able = User.objects.filter(disabled_at=None).exclude(role_id=EVERYONE_ROLE_ID).select_related("role")
    if not any(user.role.can(Permission.ADMINISTRATOR) for user in able):
        raise Conflict(
            _("This is the last person with all permissions on this server: give somebody else that role first.")
        )
