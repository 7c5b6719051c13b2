"""Ends the follows between people here and a server or account that was blocked or suspended, in steps, and keeps which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import F, Q

from accounts.events import AccountSuspended, DomainBlocked
from accounts.models import Account, Follow, FollowRequest
from accounts.models.account import SuspensionOrigin
from accounts.models.severance import Severance, SeveranceType, SeveredAccount, SeveredFollow
from accounts.queries.relations import blocks_domain
from accounts.services.following import end_following, pair_name
from social.kernel.events import publish
from social.kernel.locks import lock

STEP: Final = 200


@dataclass(frozen=True)
class _Act:
    """What ends follows: one row, however many steps it takes."""

    type: SeveranceType
    cause: str
    target_name: str


def sever_blocked_domains(events: Sequence[DomainBlocked]) -> None:
    """End the follows and requests both ways between who blocked a server and its people: at most STEP for each event.

    When more are left, the event is published once more. What ended is kept (`SeveredFollow`). Each pair is a
    transaction of its own, so a process that dies in between loses nothing. A block that was taken back ends nothing more.
    Announces AccountUnfollowed for each.
    """
    for event in events:
        if not blocks_domain(event.account_id, event.domain):
            continue
        act = _Act(SeveranceType.USER_DOMAIN_BLOCK, f"{SeveranceType.USER_DOMAIN_BLOCK}:{event.block_id}", event.domain)
        pairs = _pairs(
            Q(account_id=event.account_id, target__domain=event.domain)
            | Q(target_id=event.account_id, account__domain=event.domain)
        )
        for account_id, target_id in dict.fromkeys(pairs):
            _sever(act, account_id, target_id, local_id=event.account_id)
        if len(pairs) >= STEP:
            with transaction.atomic():
                publish(event)


def sever_suspended(events: Sequence[AccountSuspended]) -> None:
    """End follows between people here and an account of another server that staff have suspended, as
    `sever_blocked_domains` does for blocks.

    Of an account alone its own follows end: people here go on following it, in case it comes back (contract, behaviours
    section 18). Of a suspended server's people the follows both ways end.
    """
    for event in events:
        account = Account.objects.filter(
            id=event.account_id, suspended_at__isnull=False, suspension_origin=SuspensionOrigin.LOCAL
        ).first()
        if account is None or account.domain is None:
            continue
        of_server = event.severance_type == SeveranceType.DOMAIN_BLOCK
        act = _Act(SeveranceType(event.severance_type), event.cause, account.domain if of_server else account.acct)
        between = Q(account_id=account.id, target__domain=None)
        if of_server:
            between |= Q(target_id=account.id, account__domain=None)
        pairs = _pairs(between)
        for account_id, target_id in dict.fromkeys(pairs):
            _sever(act, account_id, target_id, local_id=target_id if account_id == account.id else account_id)
        if len(pairs) >= STEP:
            with transaction.atomic():
                publish(event)


def _pairs(between: Q) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    rows: Iterable[tuple[int, int]]
    for model in (Follow, FollowRequest):
        rows = model._default_manager.filter(between).values_list("account_id", "target_id")[:STEP]
        found += rows
    return found


def _sever(act: _Act, account_id: int, target_id: int, *, local_id: int) -> None:
    with transaction.atomic():
        lock(pair_name(account_id, target_id))
        follow = Follow.objects.filter(account_id=account_id, target_id=target_id).first()
        if follow is not None:
            severance, _made = Severance.objects.get_or_create(
                cause=act.cause, defaults={"type": act.type, "target_name": act.target_name}
            )
            SeveredFollow.objects.get_or_create(
                severance=severance,
                account_id=account_id,
                target_id=target_id,
                defaults={
                    "show_reblogs": follow.show_reblogs,
                    "notify": follow.notify,
                    "languages": follow.languages,
                },
            )
            counter = "following_count" if account_id == local_id else "followers_count"
            SeveredAccount.objects.get_or_create(severance=severance, account_id=local_id)
            SeveredAccount.objects.filter(severance=severance, account_id=local_id).update(**{counter: F(counter) + 1})
        end_following(account_id, target_id, ended_by_id=local_id)
