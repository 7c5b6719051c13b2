"""Creates and ends blocks and mutes (contract, behaviours section 14)."""

from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts import events
from accounts.collections.services.local import remove_between
from accounts.models import Account, AccountDomainBlock, Block, Follow, Mute
from accounts.services.following import end_following, pair_name
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.names import is_host_name, normalise_domain

# A longer mute is stored without an end; the end of a very long mute would exceed the largest date.
_MUTE_SECONDS_LIMIT = 100 * 365 * 86400
_BATCH_SIZE: Final = 1000


def block_account(*, account: Account, target: Account, uri: str | None = None) -> None:
    """Block an account: follows, follow requests and collection items between the two end. Idempotent.

    `uri` is the id of a remote account's Block activity; the id is removed from any other block that has it. A local account's
    block of a remote account gets its id here (contract, federation section 7). Publishes AccountBlocked, and AccountUnfollowed
    for each follow that ended.
    """
    if account.id == target.id:
        return
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        # The id is random, because a number would reveal how many blocks this server has.
        own_uri = f"{account.uri}#blocks/{uuid4()}" if account.local and not target.local else None
        if uri is not None:
            Block.objects.filter(uri=uri, account=account).exclude(target=target).update(uri=None)
        block, created = Block.objects.get_or_create(account=account, target=target, defaults={"uri": uri or own_uri})
        end_following(account.id, target.id, ended_by_id=account.id)
        end_following(target.id, account.id, ended_by_id=account.id)
        remove_between(account.id, target.id)
        if created:
            publish(events.AccountBlocked(account_id=account.id, target_id=target.id, block_id=block.id, uri=block.uri))


def unblock_account(*, account: Account, target: Account) -> None:
    """End a block, if there is one. Publishes AccountUnblocked."""
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        block = Block.objects.filter(account=account, target=target).first()
        if block is None:
            return
        publish(events.AccountUnblocked(account_id=account.id, target_id=target.id, block_id=block.id, uri=block.uri))
        block.delete()


def move_blocks_and_mutes(*, source: Account, target: Account) -> int:
    """Copy blocks by and against `source`, and mutes against it, to `target`; return how many. Publishes the usual events."""
    moved = 0
    for row in Block.objects.filter(target=source).select_related("account").iterator():
        block_account(account=row.account, target=target)
        moved += 1
    for row in Block.objects.filter(account=source).select_related("target").iterator():
        block_account(account=target, target=row.target)
        moved += 1
    for mute in Mute.objects.filter(target=source).select_related("account").iterator():
        seconds = (mute.expires_at - clock.now()).total_seconds() if mute.expires_at is not None else 0.0
        if mute.expires_at is None or seconds >= 1:
            mute_account(
                account=mute.account,
                target=target,
                hide_notifications=mute.hide_notifications,
                duration=int(seconds),
            )
            moved += 1
    return moved


def block_domain(*, account: Account, domain: str) -> None:
    """Block the server with this domain, in any spelling. Publishes DomainBlocked. Raises Invalid, also for this server."""
    if not domain.strip():
        raise Invalid.of([FieldError.blank("domain")])
    name = normalise_domain(domain)
    if name is None or not is_host_name(name):
        # The error is listed twice, as in Mastodon, which validates the form and the labels of a domain separately.
        raise Invalid.of([FieldError.invalid("domain")] * 2)
    if name in (settings.LOCAL_DOMAIN, settings.WEB_DOMAIN):
        raise Invalid.of([FieldError("domain", "ERR_INVALID", _("is this server's own"))])
    with transaction.atomic():
        lock(_domain_lock(account, name))
        block, created = AccountDomainBlock.objects.get_or_create(account=account, domain=name)
        if created:
            publish(events.DomainBlocked(account_id=account.id, domain=name, block_id=block.id))


def unblock_domain(*, account: Account, domain: str) -> None:
    """End the block of a server, if there is one. Publishes DomainUnblocked."""
    name = normalise_domain(domain)
    if name is None:
        return
    with transaction.atomic():
        lock(_domain_lock(account, name))
        ended, _by_model = AccountDomainBlock.objects.filter(account=account, domain=name).delete()
        if ended:
            publish(events.DomainUnblocked(account_id=account.id, domain=name))


def _domain_lock(account: Account, domain: str) -> str:
    return f"domain_block:{account.id}:{domain}"


def mute_account(*, account: Account, target: Account, hide_notifications: bool = True, duration: int = 0) -> None:
    """Mute an account for `duration` seconds (0: until unmuted), or change the options of a mute. Publishes AccountMuted."""
    if account.id == target.id:
        return
    lasting = not 0 < duration <= _MUTE_SECONDS_LIMIT
    expires_at = None if lasting else clock.now() + timedelta(seconds=duration)
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        Mute.objects.update_or_create(
            account=account,
            target=target,
            defaults={"hide_notifications": hide_notifications, "expires_at": expires_at},
        )
        publish(events.AccountMuted(account_id=account.id, target_id=target.id))


def unmute_account(*, account: Account, target: Account) -> None:
    """End a mute, if there is one; older direct posts stay out of the home timeline. Publishes AccountUnmuted."""
    _end_mutes(Mute.objects.filter(account=account, target=target), account.id, target.id, at=clock.now())


def end_timed_mutes() -> int:
    """End expired mutes, each in a transaction, except mutes renewed meanwhile; return how many. Run by the scheduler."""
    ended, now = 0, clock.now()
    over = Mute.objects.filter(expires_at__lte=now).order_by("expires_at", "id")
    while mutes := list(over[:_BATCH_SIZE]):
        for mute in mutes:
            still_over = Mute.objects.filter(id=mute.id, expires_at__lte=now)
            ended += _end_mutes(still_over, mute.account_id, mute.target_id, at=mute.expires_at or now)
    return ended


def _end_mutes(mutes: QuerySet[Mute], account_id: int, target_id: int, *, at: datetime) -> bool:
    """End these mutes of `target_id` by `account_id`, as of the time `at`; return whether there were any."""
    with transaction.atomic():
        lock(pair_name(account_id, target_id))
        ended, _by_model = mutes.delete()
        if ended:
            Follow.objects.filter(account_id=account_id, target_id=target_id).update(direct_since=at)
            publish(events.AccountUnmuted(account_id=account_id, target_id=target_id))
    return bool(ended)
