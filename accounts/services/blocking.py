"""Makes and ends blocks and mutes (contract, behaviours section 14)."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from accounts.events import AccountBlocked, AccountMuted, AccountUnblocked, AccountUnmuted
from accounts.models import Account, Block, Mute
from accounts.services.collections import remove_between
from accounts.services.following import end_following, pair_name
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.locks import lock

# A mute longer than this is one without an end; timedelta itself ends at about 2.7 million years.
_LONGEST_MUTE = 100 * 365 * 86400


def block_account(*, account: Account, target: Account, uri: str | None = None) -> None:
    """Block, ending follows and requests both ways and places in collections. Blocking twice, or oneself, changes nothing.

    `uri` is the id of a remote Block. Announces AccountBlocked, and AccountUnfollowed for each follow that ended.
    """
    if account.id == target.id:
        return
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        block, created = Block.objects.get_or_create(account=account, target=target, defaults={"uri": uri})
        end_following(account.id, target.id, ended_by_id=account.id)
        end_following(target.id, account.id, ended_by_id=account.id)
        remove_between(account.id, target.id)
        if created:
            publish(AccountBlocked(account_id=account.id, target_id=target.id, block_id=block.id))


def unblock_account(*, account: Account, target: Account) -> None:
    """End a block; nothing happens when there is none. Announces AccountUnblocked."""
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        block = Block.objects.filter(account=account, target=target).first()
        if block is None:
            return
        publish(AccountUnblocked(account_id=account.id, target_id=target.id, block_id=block.id))
        block.delete()


def mute_account(*, account: Account, target: Account, hide_notifications: bool = True, duration: int = 0) -> None:
    """Mute for `duration` seconds (0: until unmuted); muting again replaces the options. Oneself: no effect.

    Announces AccountMuted.
    """
    if account.id == target.id:
        return
    lasting = not 0 < duration <= _LONGEST_MUTE
    expires_at = None if lasting else clock.now() + timedelta(seconds=duration)
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        Mute.objects.update_or_create(
            account=account,
            target=target,
            defaults={"hide_notifications": hide_notifications, "expires_at": expires_at},
        )
        publish(AccountMuted(account_id=account.id, target_id=target.id))


def unmute_account(*, account: Account, target: Account) -> None:
    """End a mute; nothing happens when there is none. Announces AccountUnmuted."""
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        ended, _rows = Mute.objects.filter(account=account, target=target).delete()
        if ended:
            publish(AccountUnmuted(account_id=account.id, target_id=target.id))
