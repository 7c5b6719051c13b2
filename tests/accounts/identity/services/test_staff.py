"""Tests of services for staff: permissions are checked in one place, and each action writes a row to the audit log."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from accounts.identity.services import staff
from accounts.identity.services.staff import create_role, update_role
from accounts.models import Account, AuditEntry, Role, User
from accounts.models.user import EVERYONE_ROLE_ID, EVERYONES_PERMISSIONS, Permission
from accounts.policies.staff import OPERATOR, RoleDraft, can, outranks, staff_of
from accounts.serializers.account import RoleSerializer
from accounts.services import sanctions
from social.kernel.errors import Forbidden
from statuses.models import Status
from statuses.services.moderating import remove_status
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status

pytestmark = pytest.mark.django_db
ACTS: dict[str, Callable[..., Any]] = {
    "approve": staff.approve,
    "confirm": staff.confirm,
    "disable": staff.disable,
    "enable": staff.enable,
    "reset_password": lambda **who: staff.set_password(password="another horse", **who),
    "change_role": lambda **who: staff.set_role(role=None, **who),
    "reset_second_factor": staff.reset_second_factor,
    "make_sign_in_link": staff.make_sign_in_link,
    "issue_token": lambda **who: staff.issue_user_token(scopes=["read"], **who),
}


@pytest.mark.parametrize("action", ACTS)
def test_each_action_of_staff_writes_an_audit_row(action: str) -> None:
    owner, person = make_user("boss", role="Owner"), make_user("person")
    ACTS[action](by=staff_of(owner), user=person)
    entry = AuditEntry.objects.get()
    assert (entry.account_id, entry.account_name) == (owner.account_id, "@boss")
    assert (entry.action, entry.target_type, entry.target_id, entry.target_name) == (
        action,
        "User",
        person.pk,
        "@person",
    )
    ACTS[action](by=OPERATOR, user=person)
    assert AuditEntry.objects.latest("id").account_id is None


@pytest.mark.parametrize("action", ACTS)
@pytest.mark.parametrize("by", ["", "Moderator", "Admin"])
def test_staff_actions_require_the_permission_and_a_higher_rank(action: str, by: str) -> None:
    actor = make_user("actor", role=by or None)
    equal = make_user("equal", role=by or None)
    before = User.objects.filter(pk=equal.pk).values().get()
    for target in (equal, actor):
        with pytest.raises(Forbidden):
            ACTS[action](by=staff_of(actor), user=target)
    assert User.objects.filter(pk=equal.pk).values().get() == before
    assert not AuditEntry.objects.exists()


def test_staff_actions_check_the_current_rank() -> None:
    admin, person = make_user("admin", role="Admin"), make_user("person")
    User.objects.filter(pk=person.pk).update(role=Role.objects.get(name="Owner"))
    with pytest.raises(Forbidden):
        staff.disable(by=staff_of(admin), user=person)


def test_staff_cannot_give_a_role_of_their_own_rank() -> None:
    admin, person = make_user("admin", role="Admin"), make_user("person")
    Role.objects.filter(name="Admin").update(permissions=Permission.MANAGE_ROLES | Permission.MANAGE_USERS)
    admin = User.objects.select_related("role", "account").get(pk=admin.pk)
    for name in ("Admin", "Owner"):
        with pytest.raises(Forbidden):
            staff.set_role(by=staff_of(admin), user=person, role=Role.objects.get(name=name))
    staff.set_role(by=staff_of(admin), user=person, role=Role.objects.get(name="Moderator"))
    person.refresh_from_db()
    assert person.role.name == "Moderator"
    assert AuditEntry.objects.get().details == {"role": "Moderator"}


def test_managing_users_does_not_include_setting_passwords() -> None:
    Role.objects.filter(name="Moderator").update(permissions=Permission.MANAGE_USERS)
    moderator, person = make_user("mod", role="Moderator"), make_user("person")
    staff.disable(by=staff_of(moderator), user=person)
    with pytest.raises(Forbidden):
        staff.set_password(by=staff_of(moderator), user=person, password="another horse")
    assert User.objects.get(pk=person.pk).password == person.password


def test_a_new_role_is_visible_to_others_immediately() -> None:
    person = make_user("person")
    before = Account.objects.get(pk=person.account_id).version
    staff.set_role(by=OPERATOR, user=person, role=Role.objects.get(name="Moderator"))
    assert Account.objects.get(pk=person.account_id).version > before


def test_removing_a_post_requires_the_permission_and_is_audited() -> None:
    post = make_status(make_user("ada").account, "hello")
    with pytest.raises(Forbidden):
        remove_status(by=staff_of(make_user("nobody")), status=post)
    assert Status.objects.filter(id=post.id, deleted_at=None).exists()
    moderator = make_user("mod", role="Moderator")
    remove_status(by=staff_of(moderator), status=post)
    assert not Status.objects.filter(id=post.id, deleted_at=None).exists()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_type, entry.target_id, entry.account_id) == (
        "destroy",
        "Status",
        post.id,
        moderator.account_id,
    )


def test_audit_rows_can_be_neither_changed_nor_deleted() -> None:
    staff.enable(by=OPERATOR, user=make_user())
    for attempt in (lambda: AuditEntry.objects.update(action="nothing"), lambda: AuditEntry.objects.all().delete()):
        with pytest.raises(DatabaseError, match="neither changed nor deleted"), transaction.atomic():
            attempt()
    assert AuditEntry.objects.get().action == "enable"


def test_rank_is_a_strict_order_and_administrators_may_do_everything() -> None:
    roles = list(Role.objects.all())
    people = [staff_of(make_user(role=role.name or None)) for role in roles]
    for (one, role), (other, other_role) in itertools.product(zip(people, roles, strict=True), repeat=2):
        assert not (outranks(one, other_role) and outranks(other, role))
    assert all(outranks(OPERATOR, role) for role in roles)
    assert all(can(OPERATOR, permission) for permission in Permission)


def test_a_role_includes_the_permissions_of_everyone() -> None:
    """Contract, entities "Role". The default roles may create invitations only because the role of all users may."""
    make_user(role="Owner")
    everybody = Role.objects.get(id=EVERYONE_ROLE_ID)
    moderator = make_user("moderator", role="Moderator")
    assert not moderator.role.permissions & Permission.INVITE_USERS
    for number, (given, allowed) in enumerate(
        ((everybody.permissions, True), (0, False), (everybody.permissions, True))
    ):
        update_role(by=OPERATOR, role=everybody, draft=RoleDraft("", given))
        made = create_role(by=OPERATOR, draft=RoleDraft(f"Helper {number}", Permission.MANAGE_TAXONOMIES, 5))
        for role in (User.objects.get(pk=moderator.pk).role, Role.objects.get(pk=made.pk)):
            assert role.can(Permission.INVITE_USERS) is allowed
            assert bool(int(RoleSerializer(role).data["permissions"]) & Permission.INVITE_USERS) is allowed
            assert role.can(Permission.MANAGE_TAXONOMIES)
            assert not role.can(Permission.MANAGE_ROLES)
    # The stored permissions of the role do not change.
    assert not Role.objects.get(name="Moderator").permissions & Permission.INVITE_USERS


def test_permissions_of_the_role_of_everyone_make_nobody_staff() -> None:
    make_user(role="Owner")
    update_role(
        by=OPERATOR, role=Role.objects.get(id=EVERYONE_ROLE_ID), draft=RoleDraft("", int(EVERYONES_PERMISSIONS))
    )
    person, moderator = make_user("person"), make_user("moderator", role="Moderator")
    assert person.role.can(Permission.VIEW_FEEDS)
    assert not person.is_staff
    assert moderator.is_staff


def test_the_audit_row_of_a_sanction_has_the_values_before_and_after() -> None:
    person = make_user("person", display_name="Before")
    with sanctions._acting(OPERATOR, person.account, "rename", Permission.MANAGE_USERS) as subject:
        subject.write(display_name="After")
    details = AuditEntry.objects.get().details
    assert (details["before"], details["after"]) == ({"display_name": "Before"}, {"display_name": "After"})
