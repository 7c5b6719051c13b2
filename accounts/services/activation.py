"""Publishes the events that an account can be used from now on, or waits for staff; does what sign-up promised for then."""

from __future__ import annotations

from collections.abc import Sequence

from allauth.account.models import EmailAddress
from django.db import transaction

from accounts.events import UserActivated, UserWaiting
from accounts.models import User
from accounts.services.following import FollowChange, follow_account
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.events import publish


def activate_if_ready(*, user_id: int) -> None:
    """Announce UserActivated, once, when the user's address is confirmed and staff have let them in; UserWaiting, once, when
    it is confirmed and staff are still to decide.

    Call it after either has been written, in the same transaction or a later one.
    """
    with transaction.atomic():
        # Confirmed and approved at the same moment: whoever gets the row second sees what the first has written.
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
    """The reaction to UserActivated: who came by an invitation that says so follows whoever invited them."""
    invited = User.objects.select_related("account", "invite__inviter__account").filter(
        pk__one_of={event.user_id for event in events}, invite__autofollow=True
    )
    for user in invited.order_by("pk"):
        if user.invite is None or user.invite.inviter is None:
            continue
        try:
            follow_account(account=user.account, target=user.invite.inviter.account, change=FollowChange())
        except (Forbidden, Invalid, NotFound):
            continue  # blocked, suspended or gone since then
