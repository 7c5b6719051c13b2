"""What operators do to users: roles, approval, confirmation, disabling. Effective at once, in every process."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.events import UserStateChanged
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.policies.sign_up import password_errors
from accounts.services.sessions import close_sessions, forget_user
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
    with transaction.atomic():
        user.role_id = role.id if role is not None else EVERYONE_ROLE_ID
        user.save(update_fields=["role"])
        renew(user)
    forget_user(user)


def approve(*, user: User) -> None:
    """Let a pending user in."""
    with transaction.atomic():
        user.approved = True
        user.save(update_fields=["approved"])
        renew(user)
    forget_user(user)


def confirm(*, user: User) -> None:
    """Take the user's e-mail address for confirmed."""
    with transaction.atomic():
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"primary": True, "verified": True})
        renew(user)
    forget_user(user)


def disable(*, user: User) -> None:
    """Refuse sign-in and every API call; sessions end, tokens stay but answer 403 (contract, behaviours section 18)."""
    with transaction.atomic():
        user.disabled_at = clock.now()
        user.save(update_fields=["disabled_at"])
        renew(user)
    close_sessions(user)
    forget_user(user)


def enable(*, user: User) -> None:
    """Undo `disable`."""
    with transaction.atomic():
        user.disabled_at = None
        user.save(update_fields=["disabled_at"])
        renew(user)
    forget_user(user)


def set_password(*, user: User, password: str) -> None:
    """A new password: every session, token and stream of the user ends (security row 24). Raises Invalid."""
    from accounts.services.tokens import revoke_all_tokens

    errors = password_errors(password)
    if errors:
        raise Invalid.of(errors, details=True)
    hashed = make_password(password)
    with transaction.atomic():
        user.password = hashed
        user.save(update_fields=["password"])
        revoke_all_tokens(user)
        renew(user)
    close_sessions(user)


def renew(user: User) -> None:
    """Raise the account's version and announce the change, in the caller's transaction."""
    from accounts.services.profiles import raise_version

    raise_version([user.account_id])
    publish(UserStateChanged(user_id=user.id))
