"""Creates invitations, and publishes the events that say that an account is active or is waiting for approval."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import F

from accounts.events import UserActivated, UserWaiting
from accounts.identity.queries.sign_up import is_usable
from accounts.models import Invite, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from accounts.services.following import FollowChange, follow_account
from social.kernel import clock
from social.kernel.errors import FieldError, Forbidden, Invalid, NotFound, require_found, require_valid
from social.kernel.events import publish

# Characters of the codes, without those that are easily confused with each other: 0 and O, 1, l and I.
_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_LENGTH: Final = 12
COMMENT_LIMIT: Final = 420


def create_invite(
    *,
    by: Staff,
    inviter: User | None = None,
    max_uses: int | None = None,
    expires_in: timedelta | None = None,
    autofollow: bool = False,
    comment: str = "",
) -> Invite:
    """Create an invitation with a new code; with `autofollow`, people who sign up with it follow the inviter.

    Raises Forbidden without INVITE_USERS; Invalid for a value out of range, and for `autofollow` without an inviter.
    """
    require(by, Permission.INVITE_USERS)
    errors = []
    if max_uses is not None and not 1 <= max_uses < 2**31:
        errors.append(FieldError.invalid("max_uses"))
    if expires_in is not None and expires_in <= timedelta():
        errors.append(FieldError.invalid("expires_in"))
    if len(comment) > COMMENT_LIMIT:
        errors.append(FieldError.too_long("comment", COMMENT_LIMIT))
    if autofollow and inviter is None:
        errors.append(FieldError.invalid("autofollow"))
    require_valid(errors, details=True)
    with transaction.atomic():
        invite = Invite.objects.create(
            code="".join(secrets.choice(_LETTERS) for _place in range(_LENGTH)),
            inviter=inviter,
            max_uses=max_uses,
            expires_at=clock.now() + expires_in if expires_in is not None else None,
            autofollow=autofollow,
            comment=comment,
        )
        record_about(by, "create", invite)
    return invite


def expire_invite(*, by: Staff, inviter: User, invite_id: int) -> None:
    """Expire an invitation of `inviter`, if it has not expired. Raises NotFound, also for another user's invitation."""
    with transaction.atomic():
        invite = require_found(Invite.objects.select_for_update().filter(pk=invite_id, inviter=inviter).first())
        now = clock.now()
        if invite.expires_at is None or invite.expires_at > now:
            Invite.objects.filter(pk=invite.pk).update(expires_at=now)
            record_about(by, "expire", invite)


def end_invite(*, by: Staff, invite: Invite) -> None:
    """Expire an invitation. Raises NotFound; Forbidden without MANAGE_INVITES, or for another person's invitation if `by` does
    not outrank that person.
    """
    with transaction.atomic():
        locked = (
            Invite.objects.select_for_update(of=("self",)).select_related("inviter__role").filter(pk=invite.pk).first()
        )
        current = require_found(locked)
        inviter = current.inviter
        own = inviter is not None and inviter.account_id == by.account_id
        require(by, Permission.MANAGE_INVITES, over=inviter.role if inviter is not None and not own else None)
        now = clock.now()
        if current.expires_at is None or current.expires_at > now:
            Invite.objects.filter(pk=current.pk).update(expires_at=now)
            record_about(by, "expire", current)


def use_invite(*, invite: Invite) -> None:
    """Count one use, in the transaction of the sign-up. Raises Forbidden when the invitation is used up or has expired."""
    # The row is locked first, because an UPDATE that has waited for a lock would not evaluate a condition on other tables
    # again.
    Invite.objects.select_for_update().filter(pk=invite.pk).first()
    if not is_usable(invite):
        raise Forbidden
    Invite.objects.filter(pk=invite.pk).update(uses=F("uses") + 1)


def activate_if_ready(*, user_id: int) -> None:
    """Publish, once, UserActivated for a confirmed and approved user, or UserWaiting if only the approval is missing.

    Call it after the confirmation or the approval was written.
    """
    with transaction.atomic():
        # The row is locked, so that if confirmation and approval happen at the same moment, the later one sees what the earlier
        # one wrote.
        user = User.objects.select_for_update(of=("self",)).get(pk=user_id)
        if user.activated_at is not None:
            return
        if not EmailAddress.objects.filter(user=user, primary=True, verified=True).exists():
            return
        if user.approved:
            User.objects.filter(pk=user_id).update(activated_at=clock.now())
            publish(UserActivated(user_id=user_id, invited=user.invite_id is not None))
        elif user.waiting_since is None:
            User.objects.filter(pk=user_id).update(waiting_since=clock.now())
            publish(UserWaiting(user_id=user_id))


def follow_inviters(events: Sequence[UserActivated]) -> None:
    """Handle UserActivated: users who signed up with an invitation with `autofollow` follow their inviter."""
    invited = User.objects.select_related("account", "invite__inviter__account").filter(
        pk__one_of={event.user_id for event in events}, invite__autofollow=True
    )
    for user in invited.order_by("pk"):
        if user.invite is None or user.invite.inviter is None:
            continue
        try:
            follow_account(account=user.account, target=user.invite.inviter.account, change=FollowChange())
        except (Forbidden, Invalid, NotFound):
            continue  # there is a block now, or the inviter is suspended or deleted
