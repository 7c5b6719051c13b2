"""What operators do to users: roles, approval, confirmation, disabling. Effective at once, in every process."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.events import UserApproved
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.policies.sign_up import password_errors
from accounts.services.changing import change_account
from accounts.services.sessions import announce_state, change_password, end_sessions
from accounts.services.tokens import close_streams
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.events import publish


def find_role(name: str) -> Role:
    """The role with this name, in any case of letters. Raises Invalid and names the roles there are."""
    role = Role.objects.filter(name__iexact=name).exclude(name="").first()
    if role is None:
        names = ", ".join(Role.objects.exclude(name="").order_by("-position").values_list("name", flat=True))
        raise Invalid(_("There is no role %(name)s; there are: %(names)s") % {"name": name, "names": names})
    return role


def set_role(*, user: User, role: Role | None) -> None:
    """Give a role, or take every role away. The account's cached entity is renewed: roles show there."""
    _update(user, role_id=role.id if role is not None else EVERYONE_ROLE_ID)


def approve(*, user: User) -> None:
    """Let a pending user in. Announces UserApproved, once: the mail that sign-up has promised."""
    with transaction.atomic():
        waiting = User.objects.select_for_update().filter(pk=user.pk, approved=False).exists()
        _update(user, approved=True)
        if waiting:
            publish(UserApproved(user_id=user.pk))


def confirm(*, user: User) -> None:
    """Take the user's e-mail address for confirmed."""
    with transaction.atomic():
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"primary": True, "verified": True})
        _update(user)


def disable(*, user: User) -> None:
    """Refuse sign-in and API calls: sessions and streams end, tokens stay and answer 403 (behaviours section 18)."""
    with transaction.atomic():
        _update(user, disabled_at=clock.now())
        end_sessions(user=user)
        close_streams(user=user)


def enable(*, user: User) -> None:
    """Undo `disable`."""
    _update(user, disabled_at=None)


def set_password(*, user: User, password: str) -> None:
    """A new password: every session, token and stream of the user ends (security row 24). Raises Invalid."""
    errors = password_errors(password)
    if errors:
        raise Invalid.of(errors, details=True)
    change_password(user=user, password=password)


def _update(user: User, **values: Any) -> None:
    with transaction.atomic():
        for name, value in values.items():
            setattr(user, name, value)
        User.objects.filter(id=user.id).update(**values or {"approved": user.approved})
        change_account(user.account_id)
        announce_state(user=user)
