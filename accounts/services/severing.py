"""Ends the follows between a person and a server they have blocked, in steps, and keeps which they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import F, Q

from accounts.events import DomainBlocked
from accounts.models import Follow, FollowRequest
from accounts.models.severance import Severance, SeveranceType, SeveredAccount, SeveredFollow
from accounts.queries.relations import blocks_domain
from accounts.services.following import end_following, pair_name
from social.kernel.events import publish
from social.kernel.locks import lock

STEP: Final = 200


def sever_blocked_domains(events: Sequence[DomainBlocked]) -> None:
    """End the follows and requests both ways between who blocked a server and its people: at most STEP for each event.

    When more are left, the event is announced once more. What ended is kept (`SeveredFollow`). Each pair is a
    transaction of its own, so a process that dies in between loses nothing. A block that was taken back ends nothing more.
    Announces AccountUnfollowed for each.
    """
    for event in events:
        if not blocks_domain(event.account_id, event.domain):
            continue
        between = Q(account_id=event.account_id, target__domain=event.domain) | Q(
            target_id=event.account_id, account__domain=event.domain
        )
        pairs = [
            *Follow.objects.filter(between).values_list("account_id", "target_id")[:STEP],
            *FollowRequest.objects.filter(between).values_list("account_id", "target_id")[:STEP],
        ]
        for account_id, target_id in dict.fromkeys(pairs):
            _sever(event, account_id, target_id)
        if len(pairs) >= STEP:
            with transaction.atomic():
                publish(event)


def _sever(event: DomainBlocked, account_id: int, target_id: int) -> None:
    with transaction.atomic():
        lock(pair_name(account_id, target_id))
        follow = Follow.objects.filter(account_id=account_id, target_id=target_id).first()
        if follow is not None:
            severance, _made = Severance.objects.get_or_create(
                cause=f"{SeveranceType.USER_DOMAIN_BLOCK}:{event.block_id}",
                defaults={"type": SeveranceType.USER_DOMAIN_BLOCK, "target_name": event.domain},
            )
            SeveredFollow.objects.create(
                severance=severance,
                account_id=account_id,
                target_id=target_id,
                show_reblogs=follow.show_reblogs,
                notify=follow.notify,
                languages=follow.languages,
            )
            counter = "following_count" if account_id == event.account_id else "followers_count"
            SeveredAccount.objects.get_or_create(severance=severance, account_id=event.account_id)
            SeveredAccount.objects.filter(severance=severance, account_id=event.account_id).update(
                **{counter: F(counter) + 1}
            )
        end_following(account_id, target_id, ended_by_id=event.account_id)
